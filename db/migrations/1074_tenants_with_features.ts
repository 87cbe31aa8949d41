import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * Operators look for the tenants that have a feature. Those of each feature are counted by their state and plan; where they are few, a function names them.
 * Tenants of which a grant has expired are looked at one by one, until their features are written anew.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table platform_count add column feature text`)
  await folding(knex)
  await knex.raw(`lock table tenant in share row exclusive mode`)
  const each = (row: string, n: string) =>
    `select 'tenant_feature', ${row}.status, ${row}.plan, f, ${n} from unnest(${row}.features) f`
  await knex.raw(`
    create function tenant_feature_counted() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      if tg_op <> 'INSERT' then insert into platform_count (list, status, plan, feature, n) ${each('old', '-1')}; end if;
      if tg_op <> 'DELETE' then insert into platform_count (list, status, plan, feature, n) ${each('new', '1')}; end if;
      return null;
    end $$`)
  await knex.raw(`revoke all on function tenant_feature_counted() from public`)
  const key = (row: string) => `${row}.status, ${row}.plan, ${row}.features`
  for (const [name, when, condition] of [
    ['added', 'insert', ''],
    ['removed', 'delete', ''],
    ['moved', 'update', `when ((${key('old')}) is distinct from (${key('new')}))`],
  ])
    await knex.raw(
      `create trigger tenant_feature_${name} after ${when} on tenant for each row ${condition} execute function tenant_feature_counted()`,
    )
  await knex.raw(
    `insert into platform_count (list, status, plan, feature, n, folded)
     select 'tenant_feature', t.status, t.plan, f, count(*), true from tenant t cross join unnest(t.features) f group by t.status, t.plan, f`,
  )
  await knex.raw(`create index tenant_features on tenant using gin (features)`)
  await knex.raw(
    `create index tenant_features_until on tenant (features_valid_until) where features_valid_until is not null`,
  )
  await sweepFunction(
    knex,
    'tenants_with(feature text, most int)',
    'found uuid',
    `select t.id from tenant t where current_setting('app.scope', true) = 'platform' and (t.features @> array[feature] or t.features_valid_until <= now()) limit most`,
  )
}

/** Adds up the changes of a key, with the feature among its columns. */
const folding = async (knex: Knex) => {
  const key = ['list', 'status', 'plan', 'day', 'feature']
  const columns = key.join(', ')
  const same = key.slice(1).map((column) => `c.${column} is not distinct from k.${column}`)
  await knex.raw(`
    create or replace function fold_platform_counts(at_least int) returns bigint
    language sql security definer set search_path = public, pg_temp as $$
      with busy as (select list from platform_count where not folded group by 1 having count(*) >= at_least),
      keys as (select distinct ${columns} from platform_count join busy using (list) where not folded),
      held as (
        select c.list, c.seq from keys k join platform_count c on c.list = k.list and ${same.join(' and ')} for update of c skip locked),
      taken as (delete from platform_count c using held h where c.list = h.list and c.seq = h.seq returning c.*),
      made as (
        insert into platform_count (${columns}, n, folded) select ${columns}, sum(n), true from taken group by ${columns} having sum(n) <> 0)
      select count(*) from taken
    $$`)
}
