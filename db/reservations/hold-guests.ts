import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** SQL of the ids of guests of stays whose ids are `?`: those that it names, and the booker. */
export const guestsOfStays = `select x.guest_id from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  cross join lateral (select b.booker_guest_id as guest_id
    union all select n.guest_id from reservation_guest n where n.tenant_id = r.tenant_id and n.reservation_id = r.id) x
  where r.id = any(?::uuid[]) and x.guest_id is not null`

/** Holds the guests of a stay that comes back against an erasure, which either finds it or is found by it. The stay is locked. */
export const holdGuests = (trx: Trx, reservationId: string) =>
  sql(trx, `select id from guest where id in (${guestsOfStays}) order by id for share`, [[reservationId]])
