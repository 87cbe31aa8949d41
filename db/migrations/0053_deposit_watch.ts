import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/** Installments that fall due are told once, and a stay whose terms say so is cancelled when its grace is over. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table deposit add column announced_at timestamptz`)
  await knex.raw(`create index deposit_unannounced on deposit (due_at) where announced_at is null`)
  await knex.raw(
    `create index reservation_unpaid_cancelled on reservation (tenant_id, id)
     where status = 'confirmed' and policies #>> '{deposit,rules,ifUnpaid}' = 'cancel'`,
  )
  await sweepFunction(
    knex,
    'deposits_to_watch(after uuid, most int)',
    'tenant_id uuid, id uuid',
    `select s.tenant_id, s.id from (
       select r.tenant_id, r.id from deposit d join reservation r on r.tenant_id = d.tenant_id and r.id = d.reservation_id
       where d.announced_at is null and d.due_at <= now() and r.status in ('confirmed', 'checked_in')
       union
       select r.tenant_id, r.id from reservation r
       where r.status = 'confirmed' and r.policies #>> '{deposit,rules,ifUnpaid}' = 'cancel' and (
         select sum(d.amount - d.waived_amount) from deposit d where d.tenant_id = r.tenant_id and d.reservation_id = r.id
           and d.due_at + make_interval(hours => (r.policies #>> '{deposit,rules,graceHours}')::int) <= now())
         > (select coalesce(sum(f.credits), 0) from folio f where f.tenant_id = r.tenant_id and f.reservation_id = r.id)) s
     where s.id > after order by s.id limit most`,
  )
}
