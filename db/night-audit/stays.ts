import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ReservationRow } from '../rows.ts'

/** Reservations of one transaction. */
export const staysAtOnce = 200

type Of = { propertyId: string; businessDate: string }

/** Reservations that each step goes through, as a condition on `r`. */
export const concerned = {
  inHouse: `r.status = 'checked_in'`,
  notCome: `r.status = 'confirmed' and r.arrival <= cast(:businessDate as date)`,
  uncharged: `r.status = 'checked_in' and (exists (select from reservation_night n where n.tenant_id = r.tenant_id and n.reservation_id = r.id
      and n.status = 'open' and n.date <= cast(:businessDate as date))
    or exists (select from reservation_extra e where e.tenant_id = r.tenant_id and e.reservation_id = r.id and e.status = 'active'
      and e."from" <= cast(:businessDate as date) and coalesce(e.charged_until < least(e."until", cast(:businessDate as date)), true)))`,
} as const
export type Concerned = keyof typeof concerned

export const countStays = async (trx: Trx, { propertyId, businessDate }: Of, which: Concerned): Promise<number> =>
  (
    await sql<{ count: number }>(
      trx,
      `select count(*)::int as count from reservation r where r.property_id = :propertyId and ${concerned[which]}`,
      { propertyId, businessDate },
    )
  )[0]?.count ?? 0

/** The next ids after one, in their order: as many as one transaction takes. */
export const nextStays = async (
  trx: Trx,
  { propertyId, businessDate }: Of,
  which: Concerned,
  after: string,
  most = staysAtOnce,
): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select r.id from reservation r where r.property_id = :propertyId and ${concerned[which]} and r.id > cast(:after as uuid)
       order by r.id limit :most`,
      { propertyId, businessDate, after, most },
    )
  ).map((row) => row.id)

/** Locks stays by id, and answers those in the house now. Guests who left meanwhile were charged at check-out (R39). */
export const lockInHouse = async (trx: Trx, ids: readonly string[]): Promise<ReservationRow[]> =>
  (
    await sql<ReservationRow>(
      trx,
      `select * from reservation where id = any(?::uuid[]) order by id for no key update`,
      [ids],
    )
  ).filter((one) => one.status === 'checked_in')
