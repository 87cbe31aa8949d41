import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Templates of messages in their versions, and the automations that send them. */
export const templates = async (knex: Knex) => {
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
  // A published version keeps its content, because messages are written with it.
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
