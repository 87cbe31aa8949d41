import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const kinds = `'email', 'sms', 'whatsapp'`

/** The ways on which a property writes to guests. */
export const channels = async (knex: Knex) => {
  await tenantTable(
    knex,
    'message_channel',
    `property_id uuid not null,
     kind text not null,
     enabled boolean not null,
     transport text not null,
     sender_name text,
     sender_address text,
     reply_to text,
     credentials bytea,
     callback_hash bytea not null,
     daily_cap int not null,
     countries text[] not null default '{}',
     verification jsonb not null default '{"status": "unverified"}',
     ${stamps},
     constraint message_channel_one unique (tenant_id, property_id, kind),
     constraint message_channel_kind check (kind in (${kinds})),
     constraint message_channel_transport check (transport in ('platform', 'own', 'sandbox')),
     constraint message_channel_own check (transport <> 'own' or credentials is not null),
     constraint message_channel_sender check (length(sender_name) between 1 and 60 and length(sender_address) <= 254 and length(reply_to) <= 254),
     constraint message_channel_callback check (octet_length(callback_hash) = 32),
     constraint message_channel_cap check (daily_cap between 1 and 100000),
     constraint message_channel_verification check (verification->>'status' in ('unverified', 'pending', 'verified', 'failed')),
     ${refers('property_id', 'property')}`,
    { grant: 'select, insert, update' },
  )
  // Across tenants: a callback knows the token in its address alone.
  await knex.raw(`create unique index message_channel_callback_token on message_channel (callback_hash)`)
  await touch(knex, 'message_channel')
  await sweepFunction(
    knex,
    'message_channel_of(callback bytea)',
    'tenant_id uuid, id uuid',
    `select c.tenant_id, c.id from message_channel c where c.callback_hash = callback`,
  )
}
