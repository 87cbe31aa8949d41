import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * The ids in payloads of jobs that belong to a detail given on the telephone. The detail is the number of a booking, the gateway's reference of a
 * payment, or blind indexes of an e-mail address, one of each tenant. Ids alone leave the tenants.
 */
export const up = async (knex: Knex) => {
  await sweepFunction(
    knex,
    'operators_subjects(said_number text, said_reference text, of_tenants uuid[], email_indexes bytea[], most int)',
    'tenant_id uuid, id uuid',
    `with person as (
       select g.tenant_id, g.id from unnest(of_tenants, email_indexes) as e (tenant_id, email_index)
       join guest g on g.tenant_id = e.tenant_id and g.email_index = e.email_index),
     booked as (
       select b.tenant_id, b.id from tenant t
       cross join lateral (select b.tenant_id, b.id from booking b where b.tenant_id = t.id and b.number = said_number) b
       union
       select b.tenant_id, b.id from person p join booking b on b.tenant_id = p.tenant_id and b.booker_guest_id = p.id
       union
       select b.tenant_id, b.id from unnest(of_tenants, email_indexes) as e (tenant_id, email_index)
       join booking b on b.tenant_id = e.tenant_id and b.email_index = e.email_index),
     paid as (
       select p.tenant_id, p.id from gateway_account a
       join payment p on p.tenant_id = a.tenant_id and p.gateway_account_id = a.id and p.external_id = said_reference
       union
       select p.tenant_id, p.id from booked b
       join payment p on p.tenant_id = b.tenant_id and p.target_type = 'booking' and p.target_id = b.id)
     select * from person union select * from booked union select * from paid
     union select r.tenant_id, r.id from booked b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id
     union select f.tenant_id, f.id from paid p join refund f on f.tenant_id = p.tenant_id and f.payment_id = p.id
     limit most`,
  )
}
