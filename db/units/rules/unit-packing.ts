/** One unit as packing sees it: free for stays within its active days. */
export type FitUnit = {
  id: string
  unitTypeId: string
  position: number
  name: string
  activeFrom: string
  activeUntil: string | null
}
/** Days of a unit on which no stay may have it, `[from, to)`. */
export type Taken = { unitId: string; from: string; to: string }
/** A stay or block that needs one unit on `[from, to)`. `unitId` is its present unit; null = none. */
export type Piece = {
  key: string
  unitTypeId: string
  from: string
  to: string
  unitId: string | null
}
export type Packing = {
  /** The final unit of each piece, by its key. */
  places: Map<string, string>
  /** Keys of those that no unit was found for. */
  stranded: string[]
}

/** A gap of this many days or more is as good as none at all. */
export const widestGap = 60
const mostExchanges = 1_000
const deepestChain = 8

const dayNumber = (day: string) => Date.parse(`${day}T00:00:00Z`) / 86_400_000

type Slot = { from: number; to: number; piece: Ready | null }
type Ready = { piece: Piece; from: number; to: number }
type Lane = { unit: FitUnit; from: number; until: number; slots: Slot[] }

const gap = (days: number) => Math.min(days, widestGap)

/** Free days before and after a stay in a lane; null where it is not free. */
const room = (lane: Lane, { from, to }: Pick<Ready, 'from' | 'to'>): { before: number; after: number } | null => {
  if (from < lane.from || to > lane.until) return null
  let [before, after] = [widestGap, widestGap]
  for (const slot of lane.slots) {
    if (slot.from < to && from < slot.to) return null
    if (slot.to <= from) before = Math.min(before, gap(from - slot.to))
    else after = Math.min(after, gap(slot.from - to))
  }
  return { before, after }
}

/** Finds units for pieces, each in turn the best fit. */
const packOnce = (
  units: readonly FitUnit[],
  taken: readonly Taken[],
  movable: readonly Piece[],
  pieces: readonly Piece[],
): Packing => {
  const lanes = units.map<Lane>((unit) => ({
    unit,
    from: dayNumber(unit.activeFrom),
    until: unit.activeUntil === null ? Number.MAX_SAFE_INTEGER : dayNumber(unit.activeUntil),
    slots: [],
  }))
  lanes.sort(
    ({ unit: a }, { unit: b }) =>
      a.position - b.position || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1),
  )
  const laneOf = new Map(lanes.map((lane) => [lane.unit.id, lane]))
  const ready = (piece: Piece): Ready => ({ piece, from: dayNumber(piece.from), to: dayNumber(piece.to) })
  for (const { unitId, from, to } of taken)
    laneOf.get(unitId)?.slots.push({ from: dayNumber(from), to: dayNumber(to), piece: null })

  const places = new Map<string, string>()
  const put = (one: Ready, lane: Lane) => {
    lane.slots.push({ from: one.from, to: one.to, piece: one })
    places.set(one.piece.key, lane.unit.id)
  }
  const lift = (one: Ready) => {
    const lane = laneOf.get(places.get(one.piece.key) ?? '')
    if (lane) lane.slots = lane.slots.filter((slot) => slot.piece?.piece.key !== one.piece.key)
    places.delete(one.piece.key)
  }
  for (const piece of movable) {
    const lane = laneOf.get(piece.unitId ?? '')
    if (lane) put(ready(piece), lane)
  }

  const bestLane = (one: Ready): Lane | null => {
    let best: { lane: Lane; rank: readonly [number, number, number] } | null = null
    for (const lane of lanes) {
      const gaps = room(lane, one)
      if (!gaps) continue
      const rank = [
        lane.unit.unitTypeId === one.piece.unitTypeId ? 0 : 1,
        gaps.before + gaps.after,
        lane.unit.id === one.piece.unitId ? 0 : 1,
      ] as const
      const better =
        best === null ||
        rank[0] < best.rank[0] ||
        (rank[0] === best.rank[0] && (rank[1] < best.rank[1] || (rank[1] === best.rank[1] && rank[2] < best.rank[2])))
      if (better) best = { lane, rank }
    }
    return best?.lane ?? null
  }

  let exchanges = 0
  /** Stays that would have to give way in a lane; null if one of them may not move. */
  const inTheWay = (lane: Lane, one: Ready, pinned: ReadonlySet<string>): Ready[] | null => {
    if (one.from < lane.from || one.to > lane.until) return null
    const others: Ready[] = []
    for (const slot of lane.slots) {
      if (slot.from >= one.to || one.from >= slot.to) continue
      if (slot.piece === null || pinned.has(slot.piece.piece.key)) return null
      others.push(slot.piece)
    }
    return others
  }
  const place = (one: Ready, pinned: ReadonlySet<string>, depth: number): boolean => {
    const lane = bestLane(one)
    if (lane) {
      put(one, lane)
      return true
    }
    return depth < deepestChain && exchange(one, new Set([...pinned, one.piece.key]), depth)
  }
  /** Tries one lane after the other, those with the fewest stays in the way first, and looks for other places for these. */
  const exchange = (one: Ready, pinned: ReadonlySet<string>, depth: number): boolean => {
    const ways = lanes
      .flatMap((lane) => {
        const others = inTheWay(lane, one, pinned)
        return others ? [{ lane, others }] : []
      })
      .sort((a, b) => a.others.length - b.others.length)
    for (const { lane, others } of ways) {
      if (exchanges >= mostExchanges) return false
      exchanges += 1
      const before = new Map(places)
      for (const other of others) lift(other)
      put(one, lane)
      const longerFirst = others.toSorted((a, b) => b.to - b.from - (a.to - a.from))
      if (longerFirst.every((other) => place(other, pinned, depth + 1))) return true
      restore(before)
    }
    return false
  }
  const known = new Map([...movable, ...pieces].map((piece) => [piece.key, ready(piece)]))
  const restore = (before: ReadonlyMap<string, string>) => {
    for (const [key, one] of known) if (places.get(key) !== before.get(key)) lift(one)
    for (const [key, unitId] of before) {
      const [one, lane] = [known.get(key), laneOf.get(unitId)]
      if (one && lane && !places.has(key)) put(one, lane)
    }
  }

  const stranded: string[] = []
  const inTurn = pieces
    .map(ready)
    .sort((a, b) => a.from - b.from || b.to - a.to || (a.piece.key < b.piece.key ? -1 : 1))
  for (const one of inTurn) if (!place(one, new Set(), 0)) stranded.push(one.piece.key)
  return { places, stranded }
}

const mostRounds = 16

/**
 * Finds units for pieces, each in turn the best fit: units of the own type first, then the smallest gap before and after, then where it is
 * already, then the units in their order. Pieces of `movable` stand where they are, unless an exchange makes room: on a dead end others give way,
 * in chains, and go elsewhere; a thousand exchanges are tried at most. The same input gives the same answer; where all are placed anew and none is
 * left over, the answer packed anew is itself. An exchange may lead in a circle: then the first of it, by the alphabet, is the answer.
 */
export const pack = (
  units: readonly FitUnit[],
  taken: readonly Taken[],
  movable: readonly Piece[],
  pieces: readonly Piece[],
): Packing => {
  const rounds: { name: string; packing: Packing }[] = []
  const nameOf = ({ places }: Packing) => pieces.map(({ key }) => places.get(key) ?? '').join(' ')
  let packing = packOnce(units, taken, movable, pieces)
  while (movable.length === 0 && packing.stranded.length === 0 && rounds.length < mostRounds) {
    const name = nameOf(packing)
    const from = rounds.findIndex((round) => round.name === name)
    if (from >= 0) return rounds.slice(from).reduce((first, round) => (round.name < first.name ? round : first)).packing
    rounds.push({ name, packing })
    const { places } = packing
    const next = packOnce(
      units,
      taken,
      movable,
      pieces.map((piece) => ({ ...piece, unitId: places.get(piece.key) ?? null })),
    )
    // Stays that have a unit keep it.
    if (next.stranded.length > 0) break
    packing = next
  }
  return packing
}
