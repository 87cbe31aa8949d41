import type { Knex } from 'knex'
import { tenantTable, touch } from './support.ts'

/** Priced changes of stays, and what an early departure takes off a daily extra, so that it can be given back. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'amendment',
    `reservation_id uuid not null,
     base_version int not null,
     changes jsonb not null,
     reply jsonb not null,
     difference bigint not null,
     hash bytea not null,
     expires_at timestamptz not null,
     status text not null default 'proposed',
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint amendment_status check (status in ('proposed', 'accepted')),
     constraint amendment_hash check (octet_length(hash) = 32),
     foreign key (tenant_id, reservation_id) references reservation (tenant_id, id)`,
  )
  await knex.raw(`create index amendment_reservation on amendment (tenant_id, reservation_id, created_at)`)
  await touch(knex, 'amendment')
  await knex.raw(`alter table reservation_extra add column cut jsonb`)
}
