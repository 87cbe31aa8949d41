import type { Knex } from 'knex'
import { platformTable } from './support.ts'

/**
 * Numbers of entries of a chain, by the day in UTC. Entries are counted as they are linked, by the job that holds their chain, so that the requests which write
 * them pay nothing; those that are not linked yet are few, and counted by their index.
 */
export const up = async (knex: Knex) => {
  await platformTable(
    knex,
    'audit_day',
    `chain text not null,
     day date not null,
     tenant_id uuid,
     n bigint not null,
     primary key (chain, day)`,
    { grant: 'select' },
  )
  await knex.raw(`create index audit_day_day on audit_day (day)`)
  const day = `(e.at at time zone 'UTC')::date`
  await knex.raw(`
    create function audit_entries_linked() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      insert into audit_day as d (chain, day, tenant_id, n)
      select e.chain, ${day}, e.tenant_id, count(*) from linked e where e.hash is not null group by e.chain, ${day}, e.tenant_id
      on conflict (chain, day) do update set n = d.n + excluded.n;
      return null;
    end $$`)
  await knex.raw(`revoke all on function audit_entries_linked() from public`)
  await knex.raw(
    `create trigger audit_entries_linked after update on audit_entry referencing new table as linked for each statement execute function audit_entries_linked()`,
  )
  await knex.raw(
    `insert into audit_day (chain, day, tenant_id, n) select e.chain, ${day}, e.tenant_id, count(*) from audit_entry e where e.hash is not null group by 1, 2, 3`,
  )
}
