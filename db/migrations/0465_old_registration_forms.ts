import type { Knex } from 'knex'

/**
 * The law needs registration forms for some years after the last departure, of guests who were not erased too. Whose key was destroyed then may come again:
 * they get another one for the forms to come. A guest who was erased never does.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create or replace function guest_key_stays_destroyed() returns trigger language plpgsql as $$
    begin
      if old.destroyed_at is not null and not (old.purpose = 'retention' and new.wrapped_key is not null and exists (
        select from guest g where g.tenant_id = old.tenant_id and g.id = old.guest_id and g.status <> 'erased')) then
        raise exception 'a destroyed key does not come back' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  // The function keeps its signature. Tenants with forms that are still sealed come to those in which the daily job has something to do.
  await knex.raw(`
    create or replace function privacy_due_tenants() returns table (tenant_id uuid) language sql stable security definer
    set search_path = public, pg_temp as $sweep$
      select t.tenant_id from (
        select tenant_id from guest_document_file
        union select tenant_id from privacy_request where export_blob_id is not null and export_until <= now()
        union select tenant_id from privacy_request where status in ('received', 'running')
          and ((neared_at is null and due_on <= current_date + 3) or (passed_at is null and due_on < current_date))
        union select tenant_id from guest_key where destroyed_at is null and destroy_after < current_date
        union select b.tenant_id from guest_block b join guest g on g.tenant_id = b.tenant_id and g.id = b.guest_id
          where g.status = 'erased' and b.document_indexes <> '{}'
        union select id from tenant where coalesce((settings -> 'guests' ->> 'inactiveYears')::int, 0) > 0 and status = 'active'
        union select n.id from tenant n where exists (select from guest_registration f where f.tenant_id = n.id and f.sealed is not null)
      ) t order by 1 $sweep$`)
}
