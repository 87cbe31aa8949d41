import type { Knex } from 'knex'

/**
 * Jobs of tenants that wait for an operator, as far as no issue tells of them: of a tenant and kind, with their number. An issue that is resolved or closed tells
 * no more than of jobs that had died by then.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create or replace function dead_jobs_untold(most int) returns table (tenant_id uuid, kind text, count int)
     language sql stable security definer set search_path = public, pg_temp as $sweep$
     select d.tenant_id, d.kind, d.count from (
       select j.tenant_id, j.kind, count(*)::int as count, max(greatest(j.created_at, (j.last_error ->> 'at')::timestamptz)) as newest from jobs j
       where j.status = 'dead' and j.tenant_id is not null group by 1, 2) d
     cross join lateral (select p.settings from property p where p.tenant_id = d.tenant_id and p.status <> 'archived' order by p.created_at, p.id limit 1) h
     where not coalesce(h.settings #> '{issues,automaticOff}' @> '["job.died"]'::jsonb, false)
       and not exists (select from issue i where i.tenant_id = d.tenant_id and i.source_key = 'dead_jobs:' || d.kind
         and case when i.status in ('resolved', 'closed') then greatest(i.resolved_at, i.closed_at) >= d.newest else i.occurrences >= d.count end)
     limit most $sweep$`,
  )
}
