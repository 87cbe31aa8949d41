import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

/** Requests of people about their own data, and the progress of an erasure. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'privacy_request',
    `guest_id uuid not null,
     kind text not null,
     status text not null default 'received',
     channel text not null,
     received_at timestamptz not null,
     due_on date not null,
     sealed bytea,
     identity_method text,
     plan_hash text,
     created_by jsonb not null,
     decided_by uuid,
     decided_at timestamptz,
     legal_basis text,
     reason text,
     certificate jsonb,
     certificate_token text,
     export_blob_id uuid,
     export_until timestamptz,
     neared_at timestamptz,
     passed_at timestamptz,
     completed_at timestamptz,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint privacy_request_kind check (kind in ('access', 'correction', 'erasure')),
     constraint privacy_request_status check (status in ('received', 'running', 'completed', 'refused')),
     constraint privacy_request_channel check (channel in ('in_person', 'email', 'phone', 'letter', 'portal', 'retention')),
     constraint privacy_request_identity check (identity_method in ('document', 'email_code', 'phone_code', 'known_guest')),
     constraint privacy_request_decided check ((status = 'received') = (decided_at is null)),
     constraint privacy_request_approved check (status in ('received', 'refused') or identity_method is not null),
     constraint privacy_request_refused check ((status = 'refused') = (legal_basis is not null and reason is not null)),
     constraint privacy_request_completed check ((status = 'completed') = (completed_at is not null)),
     constraint privacy_request_export check (export_blob_id is null or (kind = 'access' and export_until is not null)),
     foreign key (tenant_id, guest_id) references guest (tenant_id, id),
     foreign key (tenant_id, export_blob_id) references blob (tenant_id, id)`,
  )
  await knex.raw(
    `create unique index privacy_request_open on privacy_request (tenant_id, guest_id, kind) where status in ('received', 'running')`,
  )
  await knex.raw(`create index privacy_request_guest on privacy_request (tenant_id, guest_id)`)
  await knex.raw(`create index privacy_request_by_due on privacy_request (tenant_id, due_on, id)`)
  await knex.raw(
    `create index privacy_request_blob on privacy_request (tenant_id, export_blob_id) where export_blob_id is not null`,
  )
  await touch(knex, 'privacy_request')

  await tenantTable(
    knex,
    'privacy_checkpoint',
    `request_id uuid not null,
     table_name text not null,
     done boolean not null default false,
     row_count int not null default 0,
     primary key (tenant_id, request_id, table_name),
     constraint privacy_checkpoint_count check (row_count >= 0),
     foreign key (tenant_id, request_id) references privacy_request (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )

  // Whatever is due by the clock, as ids by tenant: the daily job goes through them one tenant at a time.
  await sweepFunction(
    knex,
    'privacy_due_tenants()',
    'tenant_id uuid',
    `select t.tenant_id from (
       select tenant_id from guest_document_file where delete_after < current_date
       union select tenant_id from privacy_request where export_blob_id is not null and export_until <= now()
       union select tenant_id from privacy_request where status in ('received', 'running')
         and ((neared_at is null and due_on <= current_date + 3) or (passed_at is null and due_on < current_date))
       union select tenant_id from guest_key where destroyed_at is null and destroy_after < current_date
       union select tenant_id from guest_block where lifted_at is null and document_indexes <> '{}'
     ) t order by 1`,
  )
}
