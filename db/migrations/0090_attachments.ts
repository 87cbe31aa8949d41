import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/**
 * Files beside records of any module. Which record a file belongs to is said by module, kind and id: its module vouches for it. `position` is the place of a
 * file among those shown of its record, so that no two clients together go above twenty.
 */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'attachment',
    `module text not null,
     entity_type text not null,
     entity_id uuid not null,
     position int,
     file_name text not null,
     media_type text not null,
     bytes int not null,
     sha256 bytea not null,
     blob_id uuid not null,
     created_by uuid,
     created_at timestamptz not null default now(),
     hidden_by uuid,
     hidden_at timestamptz,
     hide_reason text,
     constraint attachment_place unique (tenant_id, module, entity_type, entity_id, position),
     constraint attachment_most check (position between 1 and 20),
     constraint attachment_hidden check ((position is null) = (hidden_at is not null) and (hidden_at is not null or hide_reason is null)),
     constraint attachment_type check (media_type in
       ('image/jpeg', 'image/png', 'image/webp', 'application/pdf', 'application/xml', 'text/csv')),
     constraint attachment_size check (bytes between 1 and 10485760 and octet_length(sha256) = 32),
     constraint attachment_words check (char_length(file_name) between 1 and 120 and char_length(hide_reason) <= 500),
     foreign key (tenant_id, blob_id) references blob (tenant_id, id)`,
  )
  await knex.raw(`create unique index attachment_blob on attachment (tenant_id, blob_id)`)
}
