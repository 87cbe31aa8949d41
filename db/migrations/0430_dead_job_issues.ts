import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * Jobs of tenants that wait for an operator, as far as no issue tells of them: of a tenant and kind, with their number. One that was closed by people tells no
 * more of jobs that were made before. The oldest house of the tenant has the issue, and may have switched it off.
 */
export const up = async (knex: Knex) => {
  await sweepFunction(
    knex,
    'dead_jobs_untold(most int)',
    'tenant_id uuid, kind text, count int',
    `select d.tenant_id, d.kind, d.count from (select j.tenant_id, j.kind, count(*)::int as count, max(j.created_at) as newest from jobs j
       where j.status = 'dead' and j.tenant_id is not null group by 1, 2) d
     cross join lateral (select p.settings from property p where p.tenant_id = d.tenant_id and p.status <> 'archived' order by p.created_at, p.id limit 1) h
     where not coalesce(h.settings #> '{issues,automaticOff}' @> '["job.died"]'::jsonb, false)
       and not exists (select from issue i where i.tenant_id = d.tenant_id and i.source_key = 'dead_jobs:' || d.kind
         and case i.status when 'closed' then i.closed_at >= d.newest else i.occurrences >= d.count end)
     limit most`,
  )
  await sweepFunction(
    knex,
    'issues_of_gone_jobs(most int)',
    'tenant_id uuid, id uuid',
    `select i.tenant_id, i.id from issue i where i.source_key like 'dead_jobs:%' and i.status = 'open' and i.assignee_id is null
       and not exists (select from jobs j where j.status = 'dead' and j.tenant_id = i.tenant_id and j.kind = substr(i.source_key, 11)) limit most`,
  )
  await knex.raw(`create index issue_of_jobs on issue (tenant_id, source_key) where source_key like 'dead_jobs:%'`)
  // The list of all issues of a house by their due time, which is the usual one.
  await knex.raw(`create index issue_by_time on issue (tenant_id, property_id, next_due_at, id)`)
}
