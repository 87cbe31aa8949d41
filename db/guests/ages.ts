import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unsealGuests } from '../lib/sealing/index.ts'
import { profilePlace } from './profile.ts'
import type { GuestProfile } from './profile.ts'
import { ageOn } from './rules/masks.ts'

type Unaged = { id: string; guestId: string; sealed: Buffer; arrival: string }

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
      return birthDate ? [[id, Math.max(0, ageOn(birthDate, arrival))] as const] : []
    }),
  )
}

/** Writes the ages of guests for whom none was said. Where no profile has a birth date it is one query. */
export const fillAges = async (trx: Trx, reservationIds: readonly string[]): Promise<void> => {
  const ages = [...(await agesFor(trx, reservationIds))]
  if (ages.length === 0) return
  await sql(
    trx,
    `update reservation_guest n set age = v.age from unnest(?::uuid[], ?::int[]) as v(id, age) where n.id = v.id`,
    [ages.map(([id]) => id), ages.map(([, age]) => age)],
  )
}
