import type { Knex } from 'knex'

/**
 * Adds up the changes of a key, as before. The key is every column of the table but the number itself, read when it runs: a list that is counted by a further
 * column needs no other function.
 */
export const foldByAllColumns = (knex: Knex) =>
  knex.raw(`
    create or replace function fold_list_counts(at_least int) returns bigint
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      columns text;
      held text;
      gone bigint;
    begin
      select string_agg(quote_ident(attname), ', ' order by attnum), string_agg('c.' || quote_ident(attname), ', ' order by attnum) into columns, held
      from pg_attribute where attrelid = 'list_count'::regclass and attnum > 0 and not attisdropped
        and attname not in ('tenant_id', 'list', 'seq', 'n', 'folded');
      execute format($fold$
        with busy as (select tenant_id, list from list_count where not folded group by 1, 2 having count(*) >= $1),
        keys as (
          select distinct c.tenant_id, c.list, hash_record_extended(row(%2$s), 0) as key
          from list_count c join busy using (tenant_id, list) where not c.folded),
        held as (
          select c.tenant_id, c.list, c.seq from busy b join list_count c on c.tenant_id = b.tenant_id and c.list = b.list
          where (c.tenant_id, c.list, hash_record_extended(row(%2$s), 0)) in (select k.tenant_id, k.list, k.key from keys k)
          for update of c skip locked),
        taken as (
          delete from list_count c using held h where c.tenant_id = h.tenant_id and c.list = h.list and c.seq = h.seq returning c.*),
        made as (
          insert into list_count (tenant_id, list, %1$s, n, folded)
          select tenant_id, list, %1$s, sum(n), true from taken group by tenant_id, list, %1$s having sum(n) <> 0)
        select count(*) from taken $fold$, columns, held) into gone using at_least;
      return gone;
    end $$`)

/** So many others of its unit and category within 90 days make an issue recurring. */
const recurringFrom = 3

/** That an issue `i` is recurring. */
export const isRecurring = `(i.unit_id is not null and (select count(*) from (select from issue s where s.tenant_id = i.tenant_id and s.unit_id = i.unit_id
  and s.category_id = i.category_id and s.id <> i.id and s.created_at > i.created_at - interval '90 days' and s.created_at < i.created_at + interval '90 days'
  limit ${recurringFrom}) n) >= ${recurringFrom})`

/**
 * Keeps whether issues are recurring, as issues of their unit and category come, move and go. Of two that come at once the second waits for the first: their
 * place is locked, and read after that. An issue that is marked by another one is not changed in the sense of its version and its time.
 */
export const keepRecurring = async (knex: Knex) => {
  await knex.raw(`alter table issue add column recurring boolean not null default false`)
  await knex.raw(`
    create function issue_place_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      place record;
    begin
      if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;
      for place in
        select distinct p.* from (
          select (old).tenant_id, (old).unit_id, (old).category_id, (old).created_at where tg_op <> 'INSERT'
          union all select (new).tenant_id, (new).unit_id, (new).category_id, (new).created_at where tg_op <> 'DELETE') p
        where p.unit_id is not null order by p.unit_id, p.category_id
      loop
        perform lock_issue_place(place.tenant_id, place.unit_id, place.category_id);
        update issue i set recurring = not i.recurring
        where i.tenant_id = place.tenant_id and i.unit_id = place.unit_id and i.category_id = place.category_id
          and i.created_at > place.created_at - interval '90 days' and i.created_at < place.created_at + interval '90 days'
          and i.recurring <> ${isRecurring};
      end loop;
      if tg_op = 'UPDATE' then
        update issue i set recurring = false where i.tenant_id = new.tenant_id and i.id = new.id and i.unit_id is null and i.recurring;
      end if;
      return null;
    end $$`)
  await knex.raw(`
    create function lock_issue_place(of_tenant uuid, of_unit uuid, of_category uuid) returns void language sql as $$
      select pg_advisory_xact_lock(hashtextextended('issue-place:' || of_tenant || of_unit || of_category, 0)) $$`)
  await knex.raw(`revoke all on function issue_place_changed() from public`)
  const trigger = (name: string, when: string, condition: string) =>
    knex.raw(
      `create trigger issue_recurring_${name} after ${when} on issue for each row when (${condition}) execute function issue_place_changed()`,
    )
  await trigger('added', 'insert', 'new.unit_id is not null')
  await trigger('removed', 'delete', 'old.unit_id is not null')
  await trigger(
    'moved',
    'update',
    '(old.unit_id, old.category_id, old.created_at) is distinct from (new.unit_id, new.category_id, new.created_at)',
  )
  await knex.raw(`drop trigger touch on issue`)
  await knex.raw(
    `create trigger touch before update on issue for each row when (old.recurring = new.recurring) execute function touch_updated_at()`,
  )
  await knex.raw(`alter table issue disable trigger user`)
  await knex.raw(`update issue i set recurring = true where ${isRecurring}`)
  await knex.raw(`alter table issue enable trigger user`)
}
