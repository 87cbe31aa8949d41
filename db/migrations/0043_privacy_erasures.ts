import type { Knex } from 'knex'
import { appendOnly, sweepFunction } from './support.ts'

/** The guests of an approved erasure, and texts of merges that it takes away. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table privacy_request add column guest_ids uuid[] not null default '{}'`)
  await knex.raw(`drop trigger append_only on guest_merge`)
  await knex.raw(`drop trigger append_only_truncate on guest_merge`)
  await appendOnly(knex, 'guest_merge', 'of survivor_id, merged_id, repointed_ids, fields, merged_by, merged_at')
  // A moment of a stay, and no instant; a way of signing, and no day.
  await knex.raw(`alter table guest_note rename column alert_at to alert_moment`)
  await knex.raw(`alter table guest_registration rename column signed_on to signed_via`)
  await sweepFunction(
    knex,
    'tenants_to_rewrap(newest text)',
    'tenant_id uuid',
    `select k.tenant_id from tenant_key k where k.master_key_id <> newest
     union select g.tenant_id from guest_key g where g.wrapped_key is not null and g.master_key_id <> newest order by 1`,
  )
  // The function keeps its signature. It lists the tenants in which the daily job has something to do.
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
      ) t order by 1 $sweep$`)
}
