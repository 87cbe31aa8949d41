import type { Knex } from 'knex'

/**
 * Deadlines of privacy requests count by the day of the tenant, which may begin 14 hours before that of UTC. The daily job therefore looks into a tenant a
 * day earlier, and decides there. The function keeps its signature.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create or replace function privacy_due_tenants() returns table (tenant_id uuid) language sql stable security definer
    set search_path = public, pg_temp as $sweep$
      select t.tenant_id from (
        select tenant_id from guest_document_file
        union select tenant_id from privacy_request where export_blob_id is not null and export_until <= now()
        union select tenant_id from privacy_request where status in ('received', 'running')
          and ((neared_at is null and due_on <= current_date + 4) or (passed_at is null and due_on <= current_date))
        union select tenant_id from guest_key where destroyed_at is null and destroy_after <= current_date
        union select b.tenant_id from guest_block b join guest g on g.tenant_id = b.tenant_id and g.id = b.guest_id
          where g.status = 'erased' and b.document_indexes <> '{}'
        union select id from tenant where coalesce((settings -> 'guests' ->> 'inactiveYears')::int, 0) > 0 and status = 'active'
        union select n.id from tenant n where exists (select from guest_registration f where f.tenant_id = n.id and f.sealed is not null)
      ) t order by 1 $sweep$`)
}
