import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * Schedules whose time has come are found by id, page after page: those of a tenant that has as many runs as it may have stay due, and must not
 * keep those of others from being found. The function of before stays for workers of before.
 */
export const up = async (knex: Knex) => {
  await sweepFunction(
    knex,
    'report_schedules_due(after uuid, most int)',
    'tenant_id uuid, id uuid',
    `select d.tenant_id, d.id from (
       select s.tenant_id, s.id from report_schedule s where s.next_run_at <= now()
       union all
       select s.tenant_id, s.id from report_schedule s where s.active and s.property_id is not null
         and exists (select from business_day d where d.tenant_id = s.tenant_id and d.property_id = s.property_id and d.status = 'closed'
           and d.date > coalesce(s.closed_on, '-infinity'))) d
     where d.id > after order by d.id limit most`,
  )
}
