import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const kinds = `'email', 'sms', 'whatsapp'`

const channels = async (knex: Knex) => {
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

const templates = async (knex: Knex) => {
  await tenantTable(
    knex,
    'message_template',
    `key text not null,
     name text not null,
     purpose text not null,
     urgency text not null,
     context text not null,
     status text not null default 'active',
     published_number int,
     ${stamps},
     constraint message_template_key check (key ~ '^[a-z0-9-]{3,60}$'),
     constraint message_template_name check (length(name) between 1 and 120),
     constraint message_template_purpose check (purpose in ('service', 'marketing')),
     constraint message_template_urgency check (urgency in ('immediate', 'normal') and (purpose = 'service' or urgency = 'normal')),
     constraint message_template_context check (context in ('reservation', 'payment', 'guest', 'issue', 'group', 'receivable', 'purchase_order')),
     constraint message_template_status check (status in ('active', 'archived'))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index message_template_active on message_template (tenant_id, key) where status = 'active'`,
  )
  await touch(knex, 'message_template')

  await tenantTable(
    knex,
    'message_template_version',
    `template_id uuid not null,
     number int not null,
     status text not null default 'draft',
     contents jsonb not null,
     variables text[] not null default '{}',
     published_at timestamptz,
     published_by uuid,
     created_at timestamptz not null default now(),
     constraint message_template_version_number unique (tenant_id, template_id, number),
     constraint message_template_version_status check (status in ('draft', 'published', 'replaced') and (status = 'draft') = (published_at is null)),
     constraint message_template_version_contents check (jsonb_typeof(contents) = 'array' and jsonb_array_length(contents) between 1 and 30),
     ${refers('template_id', 'message_template')}`,
  )
  await knex.raw(
    `create unique index message_template_version_draft on message_template_version (tenant_id, template_id) where status = 'draft'`,
  )
  await knex.raw(
    `create unique index message_template_version_published on message_template_version (tenant_id, template_id) where status = 'published'`,
  )
  await knex.raw(
    `alter table message_template add constraint message_template_published
     foreign key (tenant_id, id, published_number) references message_template_version (tenant_id, template_id, number) deferrable initially deferred`,
  )
  await knex.raw(
    `create index message_template_published_version on message_template (tenant_id, id, published_number)`,
  )
  // What a message was written with stays what it was.
  await knex.raw(`
    create function message_template_version_fixed() returns trigger language plpgsql as $$
    begin
      if old.status = 'draft' then
        return case tg_op when 'DELETE' then old else new end;
      end if;
      if tg_op = 'UPDATE' and old.status = 'published' and new.status = 'replaced' and to_jsonb(new) - 'status' = to_jsonb(old) - 'status' then
        return new;
      end if;
      raise exception 'a published template version does not change' using errcode = 'PL010';
    end $$`)
  await knex.raw(
    `create trigger message_template_version_fixed before update or delete on message_template_version
     for each row execute function message_template_version_fixed()`,
  )

  await tenantTable(
    knex,
    'automation',
    `property_id uuid,
     name text not null,
     enabled boolean not null,
     trigger jsonb not null,
     conditions jsonb not null default '{}',
     template_id uuid not null,
     plan jsonb,
     valid_minutes int not null default 1440,
     ${stamps},
     constraint automation_name unique (tenant_id, name),
     constraint automation_name_length check (length(name) between 1 and 120),
     constraint automation_trigger check ((trigger->'event' is null) <> (trigger->'anchor' is null)),
     constraint automation_plan check (plan is null or (jsonb_typeof(plan) = 'array' and jsonb_array_length(plan) between 1 and 3)),
     constraint automation_valid check (valid_minutes between 10 and 43200),
     ${refers('property_id', 'property')},
     ${refers('template_id', 'message_template')}`,
  )
  await knex.raw(`create index automation_event on automation (tenant_id, (trigger->>'event')) where enabled`)
  await knex.raw(`create index automation_property on automation (tenant_id, property_id)`)
  await knex.raw(`create index automation_template on automation (tenant_id, template_id)`)
  await touch(knex, 'automation')
}

const messages = async (knex: Knex) => {
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

/** What the house writes to guests: channels, templates, automations, messages, their attempts, and whom not to write to. */
export const up = async (knex: Knex) => {
  await channels(knex)
  await templates(knex)
  await messages(knex)
}
