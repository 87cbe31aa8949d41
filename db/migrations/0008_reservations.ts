import type { Knex } from 'knex'
import { bookings } from './reservations/bookings.ts'
import { folios } from './reservations/folios.ts'
import { reservations } from './reservations/reservations.ts'
import { sweepFunction } from './support.ts'

/** Bookings, reservations and folios, and the limits on what a stranger may do with them. */
export const up = async (knex: Knex) => {
  await bookings(knex)
  await reservations(knex)
  await folios(knex)
  await sweepFunction(
    knex,
    'holds_due(most int)',
    'tenant_id uuid, id uuid',
    `select b.tenant_id, b.id from booking b where b.hold_expires_at <= now() order by b.hold_expires_at limit most`,
  )
  await sweepFunction(
    knex,
    'ended_holds_unerased(most int)',
    'tenant_id uuid, id uuid',
    `select b.tenant_id, b.id from booking b
     where b.sealed is not null and b.ended_at < now() - interval '30 days' order by b.ended_at limit most`,
  )
  await sweepFunction(
    knex,
    'access_purgeable()',
    'tenant_id uuid',
    `select c.tenant_id from guest_access_code c where c.created_at < now() - interval '1 day'
     union select s.tenant_id from hold_strike s where s.expired_at < now() - interval '7 days'`,
  )
}
