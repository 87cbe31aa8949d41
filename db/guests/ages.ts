import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unsealGuests } from '../lib/sealing/index.ts'
import { profilePlace } from './profile.ts'
import type { GuestProfile } from './profile.ts'
import { ageOn } from './rules/masks.ts'

type Unaged = { id: string; guestId: string; sealed: Buffer; arrival: string }

const ageAt = (birthDate: string, day: string) => Math.max(0, ageOn(birthDate, day))

/** Ages on the day of arrival, by the id within the stay, of guests for whom none was said, from the birth dates of their profiles. */
export const agesFor = async (trx: Trx, reservationIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  const rows = await prepared<Unaged>(
    trx,
    `select n.id, n.guest_id, g.sealed, r.arrival from reservation_guest n
     join guest g on g.tenant_id = n.tenant_id and g.id = n.guest_id and g.birth_index is not null and g.sealed is not null
     join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
     where n.reservation_id = any(?::uuid[]) and n.age is null order by n.id`,
    [reservationIds],
  )
  if (rows.length === 0) return new Map()
  const profiles = await unsealGuests<GuestProfile>(
    trx,
    'profile',
    rows.map(({ guestId, sealed }) => ({ guestId, place: profilePlace(guestId), sealed })),
  )
  return new Map(
    rows.flatMap(({ id, arrival }, index) => {
      const birthDate = profiles[index]?.birthDate
      return birthDate ? [[id, ageAt(birthDate, arrival)] as const] : []
    }),
  )
}

/** Writes the ages of guests for whom none was said. Where no profile has a birth date it is one query. */
export const fillAges = async (trx: Trx, reservationIds: readonly string[]): Promise<void> => {
  const ages = [...(await agesFor(trx, reservationIds))]
  await writeAges(trx, ages)
}

const writeAges = async (trx: Trx, ages: readonly (readonly [id: string, age: number])[]): Promise<void> => {
  if (ages.length === 0) return
  await sql(
    trx,
    `update reservation_guest n set age = v.age from unnest(?::uuid[], ?::int[]) as v(id, age) where n.id = v.id`,
    [ages.map(([id]) => id), ages.map(([, age]) => age)],
  )
}

/** Brings ages to another day of arrival, over a birthday. An age that was said, and is not that of the birth date on the day before, stays. */
export const moveAges = async (
  trx: Trx,
  reservationId: string,
  { before, after }: { before: string; after: string },
): Promise<void> => {
  const rows = await sql<Omit<Unaged, 'arrival'> & { age: number }>(
    trx,
    `select n.id, n.guest_id, n.age, g.sealed from reservation_guest n
     join guest g on g.tenant_id = n.tenant_id and g.id = n.guest_id and g.birth_index is not null and g.sealed is not null
     where n.reservation_id = ? and n.age is not null order by n.id`,
    [reservationId],
  )
  if (rows.length === 0) return
  const profiles = await unsealGuests<GuestProfile>(
    trx,
    'profile',
    rows.map(({ guestId, sealed }) => ({ guestId, place: profilePlace(guestId), sealed })),
  )
  await writeAges(
    trx,
    rows.flatMap(({ id, age }, index) => {
      const birthDate = profiles[index]?.birthDate
      if (!birthDate || ageAt(birthDate, before) !== age) return []
      const then = ageAt(birthDate, after)
      return then === age ? [] : [[id, then] as const]
    }),
  )
}
