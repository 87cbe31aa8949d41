import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofGuest = (column = 'guest_id') => `foreign key (tenant_id, ${column}) references guest (tenant_id, id)`

/** Records kept beside profiles: notes, images of documents, probable duplicates, merges; and the firms that guests travel for. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'guest_note',
    `guest_id uuid not null,
     audience text not null,
     alert_at text not null default 'none',
     sealed bytea not null,
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint guest_note_audience check (audience in ('all', 'front_desk', 'housekeeping', 'billing', 'relations')),
     constraint guest_note_alert check (alert_at in ('none', 'booking', 'check_in', 'check_out')),
     ${ofGuest()}`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(`create index guest_note_guest on guest_note (tenant_id, guest_id, created_at)`)

  await tenantTable(
    knex,
    'guest_document_file',
    `guest_id uuid not null,
     document_id uuid not null,
     side text not null,
     media_type text not null,
     bytes int not null,
     sha256 bytea not null,
     blob_id uuid not null,
     delete_after date,
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint guest_document_file_once unique (tenant_id, document_id, side),
     constraint guest_document_file_side check (side in ('front', 'back', 'portrait')),
     constraint guest_document_file_type check (media_type in ('image/jpeg', 'image/png', 'image/webp', 'application/pdf')),
     constraint guest_document_file_size check (bytes between 1 and 10485760 and octet_length(sha256) = 32),
     ${ofGuest()},
     foreign key (tenant_id, document_id) references guest_document (tenant_id, id),
     foreign key (tenant_id, blob_id) references blob (tenant_id, id)`,
  )
  await knex.raw(`create index guest_document_file_guest on guest_document_file (tenant_id, guest_id)`)
  await knex.raw(`create unique index guest_document_file_blob on guest_document_file (tenant_id, blob_id)`)
  await knex.raw(
    `create index guest_document_file_due on guest_document_file (delete_after) where delete_after is not null`,
  )
  // Lists of a guest's documents; the index by number serves searches.
  await knex.raw(`create index guest_document_guest on guest_document (tenant_id, guest_id, created_at)`)

  await tenantTable(
    knex,
    'guest_duplicate',
    `guest_a uuid not null,
     guest_b uuid not null,
     score int not null,
     matches text[] not null,
     status text not null default 'open',
     decided_by uuid,
     decided_at timestamptz,
     ${stamps},
     constraint guest_duplicate_once unique (tenant_id, guest_a, guest_b),
     constraint guest_duplicate_order check (guest_a < guest_b),
     constraint guest_duplicate_score check (score between 0 and 100),
     constraint guest_duplicate_status check (status in ('open', 'dismissed', 'merged')),
     constraint guest_duplicate_decided check ((status = 'open') = (decided_at is null)),
     ${ofGuest('guest_a')},
     ${ofGuest('guest_b')}`,
  )
  await knex.raw(`create index guest_duplicate_b on guest_duplicate (tenant_id, guest_b)`)
  await knex.raw(`create index guest_duplicate_open on guest_duplicate (tenant_id, status, score desc, id)`)
  await touch(knex, 'guest_duplicate')

  await tenantTable(
    knex,
    'guest_merge',
    `survivor_id uuid not null,
     merged_id uuid not null,
     repointed_ids uuid[] not null default '{}',
     fields text[] not null default '{}',
     sealed bytea,
     reason text not null,
     merged_by jsonb not null,
     merged_at timestamptz not null default clock_timestamp(),
     undone_at timestamptz,
     undone_by jsonb,
     undo_reason text,
     constraint guest_merge_apart check (survivor_id <> merged_id),
     constraint guest_merge_undone check (num_nonnulls(undone_at, undone_by, undo_reason) in (0, 3)),
     constraint guest_merge_reason check (length(reason) <= 500 and length(undo_reason) <= 500),
     ${ofGuest('survivor_id')},
     ${ofGuest('merged_id')}`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index guest_merge_standing on guest_merge (tenant_id, merged_id) where undone_at is null`,
  )
  await knex.raw(`create index guest_merge_merged on guest_merge (tenant_id, merged_id)`)
  await knex.raw(`create index guest_merge_survivor on guest_merge (tenant_id, survivor_id)`)
  await appendOnly(
    knex,
    'guest_merge',
    'of survivor_id, merged_id, repointed_ids, fields, reason, merged_by, merged_at',
  )

  await tenantTable(
    knex,
    'company',
    `kind text not null,
     legal_name text not null,
     trade_name text not null default '',
     country_code text,
     tax_id text,
     email text,
     phone text,
     website text,
     address jsonb,
     sealed bytea,
     commission_rate int,
     rate_plan_ids uuid[] not null default '{}',
     notes text not null default '',
     name_search text not null,
     status text not null default 'active',
     ${stamps},
     constraint company_kind check (kind in ('company', 'agency', 'organiser')),
     constraint company_names check (length(legal_name) between 1 and 200 and length(trade_name) <= 200 and length(notes) <= 2000),
     constraint company_country check (country_code ~ '^[A-Z]{2}$' and (tax_id is null or country_code is not null)),
     constraint company_commission check (commission_rate between 0 and 5000 and (commission_rate is null or kind = 'agency')),
     constraint company_plans check (cardinality(rate_plan_ids) <= 20),
     constraint company_status check (status in ('active', 'archived'))`,
  )
  await knex.raw(
    `create unique index company_tax_id on company (tenant_id, country_code, tax_id) where status = 'active' and tax_id is not null`,
  )
  await knex.raw(`create index company_by_name on company (tenant_id, status, name_search, id)`)
  await touch(knex, 'company')

  // A guest's decision does not change. It goes with a profile that nothing refers to.
  await knex.raw(`drop trigger append_only on guest_consent`)
  await knex.raw(
    `create trigger append_only before update on guest_consent for each row execute function refuse_change()`,
  )
  await knex.raw(`grant delete on guest_consent to pousada_service`)
}
