import type { Knex } from 'knex'
import { appendOnly, sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofGuest = `foreign key (tenant_id, guest_id) references guest (tenant_id, id)`
const index = (column: string) => `octet_length(${column}) = 16`

/** People: one profile each, personal data sealed, names in clear because the desk searches them. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'guest',
    `status text not null default 'active',
     first_name text not null,
     last_name text not null default '',
     preferred_name text not null default '',
     language text,
     nationality text,
     residence_country text,
     sealed bytea,
     tags text[] not null default '{}',
     email_index bytea,
     phone_index bytea,
     phone_tail_index bytea,
     birth_index bytea,
     name_index bytea,
     name_search text not null,
     merged_into_id uuid,
     source text not null,
     erased_at timestamptz,
     ${stamps},
     constraint guest_status check (status in ('active', 'merged', 'erased')),
     constraint guest_names check (length(first_name) between 1 and 100 and length(last_name) <= 100 and length(preferred_name) <= 100),
     constraint guest_countries check (nationality ~ '^[A-Z]{2}$' and residence_country ~ '^[A-Z]{2}$'),
     constraint guest_tags check (cardinality(tags) <= 20),
     constraint guest_source check (source in ('staff', 'portal', 'channel', 'import', 'api')),
     constraint guest_indexes check (${['email', 'phone', 'phone_tail', 'birth', 'name'].map((name) => index(`${name}_index`)).join(' and ')}),
     constraint guest_merged check ((status = 'merged') = (merged_into_id is not null) and merged_into_id <> id),
     constraint guest_erased check ((status = 'erased') = (erased_at is not null) and (status <> 'erased'
       or num_nonnulls(sealed, email_index, phone_index, phone_tail_index, birth_index, name_index) = 0)),
     foreign key (tenant_id, merged_into_id) references guest (tenant_id, id)`,
  )
  await knex.raw(`create index guest_merged_into on guest (tenant_id, merged_into_id) where merged_into_id is not null`)
  for (const name of ['email', 'phone', 'phone_tail', 'birth', 'name'])
    await knex.raw(`create index guest_${name} on guest (tenant_id, ${name}_index) where ${name}_index is not null`)
  await knex.raw(`create index guest_name_search on guest using gin (tenant_id, name_search gin_trgm_ops)`)
  await knex.raw(`create index guest_by_name on guest (tenant_id, status, name_search, id)`)
  await knex.raw(`create index guest_by_creation on guest (tenant_id, status, created_at, id)`)
  await knex.raw(`create index guest_by_change on guest (tenant_id, status, updated_at, id)`)
  await touch(knex, 'guest')
  // One step is enough to find a survivor.
  await knex.raw(`
    create function guest_merge_depth() returns trigger language plpgsql as $$
    begin
      if exists (select from guest g where g.tenant_id = new.tenant_id and g.id = new.merged_into_id and g.status <> 'active') then
        raise exception 'a profile is merged into an active one' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger guest_merge_depth before insert or update of merged_into_id on guest for each row
     when (new.merged_into_id is not null) execute function guest_merge_depth()`,
  )
  await knex.raw(
    `alter table guest_key add foreign key (tenant_id, guest_id) references guest (tenant_id, id) deferrable initially deferred`,
  )

  // Patterns do not use an index through row-level security, so this asks as the owner, within the tenant of the transaction.
  await sweepFunction(
    knex,
    'guests_named(patterns text[], most int)',
    'id uuid',
    `select g.id from guest g
     where g.tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid and g.name_search like all (patterns)
     limit most`,
  )

  await tenantTable(
    knex,
    'guest_document',
    `guest_id uuid not null,
     kind text not null,
     country_code text not null,
     sealed bytea,
     number_index bytea not null,
     expires_on date,
     status text not null default 'pending',
     verified_by uuid,
     verified_at timestamptz,
     method text,
     reject_reason text,
     ${stamps},
     constraint guest_document_once unique (tenant_id, guest_id, kind, country_code, number_index),
     constraint guest_document_kind check (kind in ('cpf', 'rg', 'passport', 'rnm', 'driving_licence', 'birth_certificate', 'other')),
     constraint guest_document_country check (country_code ~ '^[A-Z]{2}$' and ${index('number_index')}),
     constraint guest_document_status check (status in ('pending', 'verified', 'rejected')),
     constraint guest_document_verified check ((status = 'verified') = (verified_at is not null)),
     constraint guest_document_method check (method in ('in_person', 'video', 'provider')),
     ${ofGuest}`,
  )
  await knex.raw(`create index guest_document_number on guest_document (tenant_id, number_index)`)
  await touch(knex, 'guest_document')

  await tenantTable(
    knex,
    'guest_consent',
    `guest_id uuid not null,
     purpose text not null,
     decision text not null,
     source text not null,
     text_version text not null,
     sealed bytea,
     at timestamptz not null default clock_timestamp(),
     by jsonb not null,
     constraint guest_consent_purpose check (purpose in ('marketing_email', 'marketing_sms', 'marketing_whatsapp', 'profiling', 'third_party')),
     constraint guest_consent_decision check (decision in ('granted', 'withdrawn')),
     constraint guest_consent_source check (source in ('desk', 'portal', 'link', 'message', 'import')),
     ${ofGuest}`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index guest_consent_present on guest_consent (tenant_id, guest_id, purpose, at desc)`)
  await appendOnly(knex, 'guest_consent')

  await tenantTable(
    knex,
    'guest_block',
    `guest_id uuid not null,
     level text not null,
     property_id uuid,
     starts_on date not null,
     ends_on date,
     sealed bytea not null,
     document_indexes bytea[] not null default '{}',
     created_by uuid not null,
     lifted_at timestamptz,
     lifted_by uuid,
     lift_reason text,
     ${stamps},
     constraint guest_block_level check (level in ('warn', 'refuse')),
     constraint guest_block_dates check (ends_on >= starts_on),
     constraint guest_block_lifted check ((lifted_at is null) = (lifted_by is null)),
     ${ofGuest},
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
  )
  await knex.raw(
    `create unique index guest_block_in_force on guest_block (tenant_id, guest_id, property_id) nulls not distinct where lifted_at is null`,
  )
  await knex.raw(`create index guest_block_guest on guest_block (tenant_id, guest_id)`)
  await knex.raw(`create index guest_block_property on guest_block (tenant_id, property_id)`)
  await touch(knex, 'guest_block')
}
