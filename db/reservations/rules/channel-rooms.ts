/** A room as a channel says it, or a stay as it was booked. `names`: of its guests, as plain text. */
export type SaidRoom = { unitTypeId: string; arrival: string; departure: string; names: readonly string[] }

const sameDays = (a: SaidRoom, b: SaidRoom) => a.arrival === b.arrival && a.departure === b.departure
const sameType = (a: SaidRoom, b: SaidRoom) => a.unitTypeId === b.unitTypeId
const sameGuest = (a: SaidRoom, b: SaidRoom) => a.names.some((name) => b.names.includes(name))

/** Ways to tell a room again, the surest first. */
const likenesses: readonly ((a: SaidRoom, b: SaidRoom) => boolean)[] = [
  (a, b) => sameGuest(a, b) && sameType(a, b) && sameDays(a, b),
  (a, b) => sameGuest(a, b) && sameType(a, b),
  sameGuest,
  (a, b) => sameType(a, b) && sameDays(a, b),
  sameType,
  () => true,
]

/**
 * The stay that each room of a revision means, as an index; null for a room that is new. A channel gives its rooms no names: one that it leaves out
 * is another one than the last, so rooms are told again by guests, type and days, and only then by their order.
 */
export const staysMeant = (rooms: readonly SaidRoom[], stays: readonly SaidRoom[]): (number | null)[] => {
  const meant: (number | null)[] = rooms.map(() => null)
  for (const isLike of likenesses)
    for (const [index, room] of rooms.entries()) {
      if (meant[index] !== null) continue
      const found = stays.findIndex((stay, place) => !meant.includes(place) && isLike(room, stay))
      if (found >= 0) meant[index] = found
    }
  return meant
}
