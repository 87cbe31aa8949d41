import type { Knex } from 'knex'

/**
 * The one way to delete what cannot be deleted: all rows of a tenant whose grace time is over. Walls that refuse a deletion stand aside for the
 * function that does it, and for nobody else.
 */
export const up = async (knex: Knex) => {
  const [{ owner } = { owner: '' }] = (await knex.raw<{ rows: { owner: string }[] }>(`select current_user as owner`))
    .rows
  // The setting alone says nothing: anybody may set it. The owner does not work with rows but in the function below.
  await knex.raw(
    `create function purging() returns boolean language sql stable as $$ select coalesce(current_setting('app.purging', true), '') = 'on' and current_user = '${owner}' $$`,
  )
  await knex.raw(`
    create function let_purge_pass() returns int language plpgsql set search_path = public, pg_temp as $$
    declare
      wall record;
      body text;
      made int := 0;
    begin
      for wall in
        select t.oid, t.tgname, t.tgrelid::regclass as of_table, pg_get_triggerdef(t.oid) as body
        from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where not t.tgisinternal and t.tgparentid = 0 and (t.tgtype & 8) > 0 and c.relnamespace = 'public'::regnamespace
          and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
          and pg_get_triggerdef(t.oid) not like '%purging()%'
      loop
        body := case when wall.body ~ ' WHEN \\(' then regexp_replace(wall.body, ' WHEN \\((.*)\\) EXECUTE FUNCTION', ' WHEN (NOT purging() AND (\\1)) EXECUTE FUNCTION')
          else replace(wall.body, ' EXECUTE FUNCTION', ' WHEN (NOT purging()) EXECUTE FUNCTION') end;
        execute format('drop trigger %I on %s', wall.tgname, wall.of_table);
        execute body;
        made := made + 1;
      end loop;
      return made;
    end $$`)
  await knex.raw(`revoke all on function let_purge_pass() from public`)
  await knex.raw(`select let_purge_pass()`)

  await knex.raw(`
    create function purge_tenant(of_tenant uuid, of_table text, most int) returns bigint
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      part regclass;
      link record;
      busy boolean;
      free text := '';
      gone bigint := 0;
      n bigint;
    begin
      if not exists (select from tenant where id = of_tenant and status = 'deleting' and delete_after <= (now() at time zone 'UTC')::date) then
        raise exception 'the tenant is not to be deleted now' using errcode = 'PL011';
      end if;
      if not exists (select from tenant_purge where tenant_id = of_tenant and table_name = of_table) then
        raise exception 'this table is not purged' using errcode = 'PL011';
      end if;
      perform set_config('app.purging', 'on', true);
      -- Rows to which others of the tenant refer wait until those are gone.
      for link in
        select c.conrelid::regclass as child,
          (select string_agg(format('o.%I = t.%I', o.attname, p.attname), ' and ') from unnest(c.conkey, c.confkey) as k (child, parent)
             join pg_attribute o on o.attrelid = c.conrelid and o.attnum = k.child join pg_attribute p on p.attrelid = c.confrelid and p.attnum = k.parent) as joined
        from pg_constraint c where c.contype = 'f' and c.conparentid = 0 and c.confrelid = format('%I', of_table)::regclass
          and exists (select from pg_attribute a where a.attrelid = c.conrelid and a.attname = 'tenant_id')
      loop
        execute format('select exists (select from %s where tenant_id = $1)', link.child) into busy using of_tenant;
        if busy then
          free := free || format(' and not exists (select from %s o where %s)', link.child, link.joined);
        end if;
      end loop;
      for part in
        select c.oid::regclass from pg_class c where c.oid = format('%I', of_table)::regclass and c.relkind = 'r'
        union all select i.inhrelid::regclass from pg_inherits i where i.inhparent = format('%I', of_table)::regclass
      loop
        exit when gone >= most;
        execute format('delete from %s where ctid = any(array(select t.ctid from %s t where t.tenant_id = $1%s limit $2))', part, part,
          free || case when of_table = 'jobs' then ' and t.kind <> ''privacy.purge-tenant''' else '' end)
          using of_tenant, most - gone;
        get diagnostics n = row_count;
        gone := gone + n;
      end loop;
      perform set_config('app.purging', '', true);
      return gone;
    end $$`)
  // Two tables whose rows refer to each other: the one that can do without lets go.
  await knex.raw(`
    create function purge_unlink(of_tenant uuid, of_table text) returns bigint
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      link record;
      cut bigint := 0;
      n bigint;
    begin
      if not exists (select from tenant where id = of_tenant and status = 'deleting' and delete_after <= (now() at time zone 'UTC')::date) then
        raise exception 'the tenant is not to be deleted now' using errcode = 'PL011';
      end if;
      perform set_config('app.purging', 'on', true);
      for link in
        select a.attname from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
        where c.contype = 'f' and c.conparentid = 0 and c.conrelid = format('%I', of_table)::regclass and not a.attnotnull
          and cardinality(c.conkey) - 1 = (select count(*) from pg_attribute o where o.attrelid = c.conrelid and o.attnum = any(c.conkey) and o.attnotnull)
      loop
        begin
          execute format('update %I set %I = null where tenant_id = $1 and %I is not null', of_table, link.attname, link.attname) using of_tenant;
          get diagnostics n = row_count;
          cut := cut + n;
        exception when check_violation or not_null_violation then
          null;
        end;
      end loop;
      perform set_config('app.purging', '', true);
      return cut;
    end $$`)
  await knex.raw(`
    create function purge_left(of_tenant uuid, of_table text) returns bigint
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      found bigint;
    begin
      if not exists (select from tenant_purge where tenant_id = of_tenant and table_name = of_table) then
        raise exception 'this table is not purged' using errcode = 'PL011';
      end if;
      execute format('select count(*) from (select from %I where tenant_id = $1%s limit 1) t', of_table,
        case when of_table = 'jobs' then ' and kind <> ''privacy.purge-tenant''' else '' end) into found using of_tenant;
      return found;
    end $$`)
  // What stays of the tenant is its number, for its bills and its trail.
  await knex.raw(`
    create function purge_end(of_tenant uuid) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      if exists (select from tenant_purge where tenant_id = of_tenant and done_at is null)
        or not exists (select from tenant_purge where tenant_id = of_tenant) then
        raise exception 'not all of the tenant is deleted' using errcode = 'PL011';
      end if;
      update session set active_tenant_id = null where active_tenant_id = of_tenant;
      update app_user set last_tenant_id = null where last_tenant_id = of_tenant;
      delete from one_time_token where tenant_id = of_tenant;
      update tenant set name = 'deleted', legal_name = null, document = null, billing_email = 'deleted@invalid', billing_address = null, settings = '{}',
        features = '{}', features_valid_until = null, reason = null, status = 'deleted', delete_after = null, version = version + 1
      where id = of_tenant and status = 'deleting';
    end $$`)
  for (const signature of [
    'purge_tenant(uuid, text, int)',
    'purge_unlink(uuid, text)',
    'purge_left(uuid, text)',
    'purge_end(uuid)',
  ]) {
    await knex.raw(`revoke all on function ${signature} from public`)
    await knex.raw(`grant execute on function ${signature} to pousada_service`)
  }
}
