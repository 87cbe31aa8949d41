import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const kinds = `'email', 'sms', 'whatsapp'`

const conversations = async (knex: Knex) => {
  await tenantTable(
    knex,
    'conversation',
    `property_id uuid not null,
     kind text not null,
     address_index bytea not null,
     address bytea,
     guest_id uuid,
     reservation_id uuid,
     assignee_id uuid,
     status text not null default 'open',
     last_inbound_at timestamptz,
     last_message_at timestamptz not null default now(),
     answered_at timestamptz,
     closed_at timestamptz,
     ${stamps},
     constraint conversation_kind check (kind in (${kinds})),
     constraint conversation_index check (octet_length(address_index) = 16),
     constraint conversation_status check (status in ('open', 'closed')),
     constraint conversation_closed check ((status = 'closed') = (closed_at is not null)),
     ${refers('property_id', 'property')},
     ${refers('guest_id', 'guest')},
     ${refers('reservation_id', 'reservation')}`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index conversation_open on conversation (tenant_id, property_id, kind, address_index) where status = 'open'`,
  )
  await knex.raw(`create index conversation_listed on conversation (tenant_id, property_id, status, last_message_at)`)
  for (const column of ['guest_id', 'reservation_id', 'assignee_id'])
    await knex.raw(
      `create index conversation_${column.replace('_id', '')} on conversation (tenant_id, ${column}) where ${column} is not null`,
    )
  await touch(knex, 'conversation')
}

const campaigns = async (knex: Knex) => {
  await tenantTable(
    knex,
    'campaign',
    `property_id uuid not null,
     name text not null,
     template_id uuid not null,
     template_number int,
     plan jsonb,
     segment jsonb not null,
     scheduled_for timestamptz,
     status text not null default 'draft',
     cursor uuid,
     audience int not null default 0,
     excluded jsonb not null default '{}',
     expanded_at timestamptz,
     launched_by uuid,
     launched_at timestamptz,
     ended_at timestamptz,
     created_by uuid,
     ${stamps},
     constraint campaign_name check (length(name) between 1 and 120),
     constraint campaign_plan check (plan is null or (jsonb_typeof(plan) = 'array' and jsonb_array_length(plan) between 1 and 3)),
     constraint campaign_segment check (jsonb_typeof(segment) = 'object' and segment <> '{}'),
     constraint campaign_status check (status in ('draft', 'scheduled', 'running', 'completed', 'cancelled')),
     constraint campaign_launched check (status = 'draft' or status = 'cancelled' or (launched_at is not null and template_number is not null)),
     constraint campaign_ended check ((status in ('completed', 'cancelled')) = (ended_at is not null)),
     constraint campaign_audience check (audience between 0 and 50000),
     ${refers('property_id', 'property')},
     foreign key (tenant_id, template_id) references message_template (tenant_id, id),
     foreign key (tenant_id, template_id, template_number) references message_template_version (tenant_id, template_id, number)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index campaign_property on campaign (tenant_id, property_id, created_at)`)
  await knex.raw(`create index campaign_template on campaign (tenant_id, template_id, template_number)`)
  await touch(knex, 'campaign')
}

const callbacks = async (knex: Knex) => {
  // The body goes with the processing; the key stays, so that the same word again changes nothing.
  await tenantTable(
    knex,
    'message_callback',
    `message_channel_id uuid not null,
     key text not null,
     body bytea,
     status text not null default 'received',
     error text,
     created_at timestamptz not null default now(),
     processed_at timestamptz,
     constraint message_callback_once unique (tenant_id, message_channel_id, key),
     constraint message_callback_key check (length(key) between 1 and 200),
     constraint message_callback_status check (status in ('received', 'processed', 'ignored')),
     constraint message_callback_processed check ((status = 'received') = (processed_at is null)),
     constraint message_callback_body check ((status = 'received') = (body is not null)),
     ${refers('message_channel_id', 'message_channel')}`,
  )
  await knex.raw(`create index message_callback_made on message_callback (tenant_id, created_at)`)
}

/** Conversations, campaigns, callbacks of providers, and what channels, messages and suppressions lacked for them. */
export const up = async (knex: Knex) => {
  await conversations(knex)
  await campaigns(knex)
  await callbacks(knex)
  await knex.raw(
    `alter table message add column round int not null default 0,
       add constraint message_round check (round >= 0),
       add foreign key (tenant_id, conversation_id) references conversation (tenant_id, id),
       add foreign key (tenant_id, campaign_id) references campaign (tenant_id, id)`,
  )
  await knex.raw(`create index message_made on message (tenant_id, created_at desc, id)`)
  await knex.raw(
    `create index message_conversed on message (tenant_id, conversation_id, created_at) where conversation_id is not null`,
  )
  await knex.raw(
    `create index message_kept on message (tenant_id, created_at) where text is not null or recipient is not null`,
  )
  await knex.raw(
    `create index message_attempt_kept on message_attempt (tenant_id, created_at) where recipient is not null`,
  )
  await knex.raw(
    `alter table message_attempt add column round int not null default 0, add constraint message_attempt_round check (round >= 0)`,
  )
  await knex.raw(
    `alter table message_channel add column test_recipient bytea, add column test_number int not null default 0,
       add column cap_reached_on date`,
  )
  await knex.raw(
    `alter table suppression alter column address drop not null, add column version int not null default 1, add column updated_at timestamptz not null default now()`,
  )
  await touch(knex, 'suppression')
  await knex.raw(`create index suppression_made on suppression (tenant_id, created_at desc, id)`)
  // Advertisements of a tenant that left within a minute.
  await knex.raw(
    `create index message_attempt_marketing on message_attempt (tenant_id, created_at) where purpose = 'marketing'`,
  )
  await sweepFunction(
    knex,
    'tenants_with_old_messages()',
    'tenant_id uuid',
    `select t.id from tenant t where exists (
       select from message m where m.tenant_id = t.id and m.created_at < now() - interval '30 days' and (m.text is not null or m.recipient is not null))
     or exists (select from message_attempt a where a.tenant_id = t.id and a.created_at < now() - interval '30 days' and a.recipient is not null)`,
  )
  await knex.raw(`create index automation_made on automation (tenant_id, created_at, id)`)
}
