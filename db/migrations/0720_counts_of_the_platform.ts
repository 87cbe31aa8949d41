import type { Knex } from 'knex'
import { countRows } from './list-counts-support.ts'
import { countForPlatform } from './platform-counts-support.ts'
import { openTable, sweepFunction } from './support.ts'

/** Tables whose rows operators list over all tenants, and by what they are counted. */
const counted = {
  tenant: ['status', 'plan'],
  app_user: ['status'],
  subscription_invoice: ['status'],
  billing_run: [],
  support_session: [],
} as const

/** Totals of lists over all tenants: the counts of tenants are their own, and would be as many as there are tenants. */
export const up = async (knex: Knex) => {
  await openTable(
    knex,
    'platform_count',
    `list text not null,
     seq bigint generated always as identity,
     status text,
     plan text,
     day date,
     n bigint not null,
     folded boolean not null default false,
     primary key (list, seq)`,
    { grant: 'select' },
  )
  await knex.raw(`create index platform_count_waiting on platform_count (list) where not folded`)
  await knex.raw(`create index platform_count_day on platform_count (list, day) where day is not null`)
  await knex.raw(
    `alter table platform_count set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  )
  await folding(knex)
  for (const [table, columns] of Object.entries(counted)) await countForPlatform(knex, table, columns)
  // A tenant reads its own invoices too.
  await countRows(knex, 'subscription_invoice', ['status'])
  await knex.raw(
    `create index subscription_invoice_period on subscription_invoice (tenant_id, period_start desc, issued_at desc, id)`,
  )
  await knex.raw(`create index subscription_invoice_issued on subscription_invoice (issued_at desc, id)`)
  await knex.raw(`create index support_session_started on support_session (started_at desc, id)`)
  await knex.raw(`create index support_session_of_superuser on support_session (superuser_id, started_at desc, id)`)
  await knex.raw(`create index tenant_created on tenant (created_at desc, id)`)
  await knex.raw(`create index tenant_status_created on tenant (status, created_at desc, id)`)
  await knex.raw(`create index tenant_plan_created on tenant (plan, created_at desc, id)`)
  await knex.raw(`create index app_user_status on app_user (status, email_key, id)`)
  await sweepFunction(
    knex,
    'users_of_tenant(of_tenant uuid)',
    'user_id uuid',
    `select m.user_id from membership m join tenant t on t.id = m.tenant_id where m.tenant_id = of_tenant and t.status <> 'deleted'`,
  )
  await trailByDay(knex)
}

/** Adds up the changes of a key, as `fold_list_counts` does. */
const folding = async (knex: Knex) => {
  const key = 'list, status, plan, day'
  await knex.raw(`
    create function fold_platform_counts(at_least int) returns bigint
    language sql security definer set search_path = public, pg_temp as $$
      with busy as (select list from platform_count where not folded group by 1 having count(*) >= at_least),
      keys as (select distinct ${key} from platform_count join busy using (list) where not folded),
      held as (
        select c.list, c.seq from keys k
        join platform_count c on c.list = k.list and c.status is not distinct from k.status and c.plan is not distinct from k.plan
          and c.day is not distinct from k.day
        for update of c skip locked),
      taken as (delete from platform_count c using held h where c.list = h.list and c.seq = h.seq returning c.*),
      made as (
        insert into platform_count (${key}, n, folded) select ${key}, sum(n), true from taken group by ${key} having sum(n) <> 0)
      select count(*) from taken
    $$`)
  await knex.raw(`revoke all on function fold_platform_counts(int) from public`)
  await knex.raw(`grant execute on function fold_platform_counts(int) to pousada_service`)
}

/** Counts linked entries of all chains by day as well: the days of each chain are as many as tenants times days. */
const trailByDay = async (knex: Knex) => {
  const day = `(e.at at time zone 'UTC')::date`
  await knex.raw(`
    create or replace function audit_entries_linked() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      insert into audit_day as d (chain, day, tenant_id, n)
      select e.chain, ${day}, e.tenant_id, count(*) from linked e where e.hash is not null group by e.chain, ${day}, e.tenant_id
      on conflict (chain, day) do update set n = d.n + excluded.n;
      insert into platform_count (list, day, n)
      select 'audit_entry', ${day}, count(*) from linked e where e.hash is not null group by ${day};
      return null;
    end $$`)
  await knex.raw(
    `insert into platform_count (list, day, n, folded) select 'audit_entry', day, sum(n), true from audit_day group by day`,
  )
}
