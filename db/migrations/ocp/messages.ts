import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const kinds = `'email', 'sms', 'whatsapp'`

/** Messages, their attempts, and whom not to write to. */
export const messages = async (knex: Knex) => {
  await tenantTable(
    knex,
    'message',
    `direction text not null default 'outbound',
     origin text not null,
     property_id uuid not null,
     guest_id uuid,
     reservation_id uuid,
     payment_id uuid,
     issue_id uuid,
     automation_id uuid,
     campaign_id uuid,
     conversation_id uuid,
     event_id uuid,
     template_id uuid,
     template_number int,
     text bytea,
     data jsonb not null default '{}',
     purpose text not null,
     urgency text not null,
     locale text,
     recipient bytea,
     reservation_statuses text[],
     plan jsonb not null,
     step int not null default 0,
     turn int not null default 0,
     status text not null,
     dedupe_key text not null,
     scheduled_for timestamptz not null,
     expires_at timestamptz not null,
     fallback_at timestamptz,
     sent_at timestamptz,
     reason text,
     created_by uuid,
     ${stamps},
     constraint message_once unique (tenant_id, dedupe_key),
     constraint message_direction check (direction in ('outbound', 'inbound')),
     constraint message_origin check (origin in ('staff', 'automation', 'campaign', 'module', 'guest')),
     constraint message_content check ((template_id is null) = (template_number is null) and num_nonnulls(template_id, text) <= 1),
     constraint message_data_small check (octet_length(data::text) <= 2048),
     constraint message_purpose check (purpose in ('service', 'marketing')),
     constraint message_urgency check (urgency in ('immediate', 'normal')),
     constraint message_plan check (jsonb_typeof(plan) = 'array' and jsonb_array_length(plan) between 0 and 3),
     constraint message_moves check (step >= 0 and turn >= 0),
     constraint message_status check (status in ('scheduled', 'queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'suppressed', 'cancelled', 'expired', 'received')),
     constraint message_sent check (status not in ('sent', 'delivered', 'read') or sent_at is not null),
     constraint message_reason check ((status in ('failed', 'suppressed', 'cancelled', 'expired')) = (reason is not null)),
     constraint message_dedupe_length check (length(dedupe_key) between 1 and 200),
     ${refers('property_id', 'property')},
     ${refers('guest_id', 'guest')},
     ${refers('reservation_id', 'reservation')},
     ${refers('payment_id', 'payment')},
     foreign key (tenant_id, automation_id) references automation (tenant_id, id) on delete set null (automation_id),
     foreign key (tenant_id, template_id, template_number) references message_template_version (tenant_id, template_id, number)`,
    { grant: 'select, insert, update' },
  )
  for (const column of [
    'reservation_id',
    'guest_id',
    'payment_id',
    'automation_id',
    'conversation_id',
    'issue_id',
    'campaign_id',
  ])
    await knex.raw(
      `create index message_${column.replace('_id', '')} on message (tenant_id, ${column}) where ${column} is not null`,
    )
  await knex.raw(`create index message_property on message (tenant_id, property_id, created_at)`)
  await knex.raw(`create index message_template_used on message (tenant_id, template_id, template_number)`)
  await knex.raw(`create index message_status on message (tenant_id, status, scheduled_for)`)
  await touch(knex, 'message')

  await tenantTable(
    knex,
    'message_attempt',
    `message_id uuid not null,
     property_id uuid not null,
     step int not null,
     number int not null,
     kind text not null,
     transport text not null,
     recipient_index bytea not null,
     recipient bytea,
     subject bytea,
     body bytea,
     purpose text not null,
     status text not null default 'sending',
     rank int not null default 0,
     provider_id text,
     segments int,
     error_code text,
     error_text text,
     resends int not null default 0,
     sent_at timestamptz,
     delivered_at timestamptz,
     read_at timestamptz,
     proof jsonb not null default '[]',
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint message_attempt_number unique (tenant_id, message_id, step, number),
     constraint message_attempt_kind check (kind in (${kinds})),
     constraint message_attempt_transport check (transport in ('platform', 'own', 'sandbox')),
     constraint message_attempt_index check (octet_length(recipient_index) = 16),
     constraint message_attempt_purpose check (purpose in ('service', 'marketing')),
     constraint message_attempt_status check (status in ('sending', 'unknown', 'sent', 'delivered', 'read', 'bounced', 'failed')),
     constraint message_attempt_rank check (rank = case status when 'sending' then 0 when 'unknown' then 1 when 'sent' then 2
       when 'bounced' then 3 when 'failed' then 3 when 'delivered' then 4 when 'read' then 5 end),
     constraint message_attempt_counts check (segments >= 0 and resends >= 0),
     constraint message_attempt_error check (length(error_code) <= 60 and length(error_text) <= 500),
     ${refers('message_id', 'message')},
     ${refers('property_id', 'property')}`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index message_attempt_provider on message_attempt (tenant_id, kind, provider_id) where provider_id is not null`,
  )
  await knex.raw(`create index message_attempt_recipient on message_attempt (tenant_id, recipient_index, created_at)`)
  await knex.raw(`create index message_attempt_cap on message_attempt (tenant_id, property_id, kind, created_at)`)
  await touch(knex, 'message_attempt')

  await tenantTable(
    knex,
    'suppression',
    `kind text not null,
     address_index bytea not null,
     address bytea not null,
     scope text not null,
     cause text not null,
     message_id uuid,
     created_by uuid,
     lifted_at timestamptz,
     lifted_by uuid,
     lift_reason text,
     created_at timestamptz not null default now(),
     constraint suppression_kind check (kind in (${kinds})),
     constraint suppression_index check (octet_length(address_index) = 16),
     constraint suppression_scope check (scope in ('all', 'marketing')),
     constraint suppression_cause check (cause in ('hard_bounce', 'complaint', 'stop', 'unsubscribe', 'invalid', 'manual')),
     constraint suppression_lifted check ((lifted_at is null) = (lift_reason is null)),
     constraint suppression_complaint_stays check (cause <> 'complaint' or lifted_at is null),
     ${refers('message_id', 'message')}`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index suppression_in_force on suppression (tenant_id, kind, address_index) where lifted_at is null`,
  )
  await knex.raw(`create index suppression_message on suppression (tenant_id, message_id) where message_id is not null`)
}
