import type { Knex } from 'knex'
import { platformTable, sweepFunction, tenantTable, touch } from './support.ts'

/** Schedules of reports, the runs that they made, and the words of the mails that tell of them. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'report_schedule',
    `name text not null,
     report text not null,
     parameters jsonb not null default '{}',
     format text not null,
     locale text not null,
     trigger jsonb not null,
     property_id uuid,
     recipients uuid[] not null,
     owner_id uuid not null,
     created_by uuid not null,
     active boolean not null default true,
     next_run_at timestamptz,
     closed_on date,
     last_run_id uuid,
     failures int not null default 0,
     disabled_because text,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint report_schedule_format check (format in ('csv', 'xlsx', 'pdf', 'json')),
     constraint report_schedule_locale check (locale in ('pt-BR', 'en', 'es')),
     constraint report_schedule_parameters check (jsonb_typeof(parameters) = 'object' and octet_length(parameters::text) <= 8000),
     constraint report_schedule_trigger check ((trigger ->> 'type') in ('clock', 'business_day_closed') and ((trigger ->> 'type') = 'clock') = (property_id is null)),
     constraint report_schedule_next check (case when active and property_id is null then next_run_at is not null else next_run_at is null end),
     constraint report_schedule_recipients check (cardinality(recipients) between 1 and 20),
     constraint report_schedule_failures check (failures between 0 and 5),
     constraint report_schedule_disabled check (disabled_because is null or not active),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
  )
  await knex.raw(`create index report_schedule_created on report_schedule (tenant_id, created_at desc, id)`)
  await knex.raw(`create index report_schedule_due on report_schedule (next_run_at) where next_run_at is not null`)
  await knex.raw(
    `create index report_schedule_property on report_schedule (tenant_id, property_id) where property_id is not null`,
  )
  await touch(knex, 'report_schedule')

  await knex.raw(`alter table report_run add column schedule_id uuid, add column slot text, add column shared_with uuid[] not null default '{}',
    add column withheld int not null default 0,
    add constraint report_run_slot check ((schedule_id is null) or slot is not null),
    add constraint report_run_once unique (tenant_id, schedule_id, slot),
    add constraint report_run_schedule foreign key (tenant_id, schedule_id) references report_schedule (tenant_id, id) on delete set null (schedule_id)`)

  // A mail to staff reads what it says here: user mails belong to no tenant.
  await platformTable(
    knex,
    'report_notice',
    `id uuid not null,
     tenant_id uuid not null references tenant (id),
     report text not null,
     name text not null,
     created_at timestamptz not null default now(),
     primary key (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index report_notice_by_id on report_notice (id)`)

  await sweepFunction(
    knex,
    'report_schedules_due(most int)',
    'tenant_id uuid, id uuid',
    `select s.tenant_id, s.id from report_schedule s where s.next_run_at <= now()
     union all
     select s.tenant_id, s.id from report_schedule s where s.active and s.property_id is not null
       and exists (select from business_day d where d.tenant_id = s.tenant_id and d.property_id = s.property_id and d.status = 'closed'
         and d.date > coalesce(s.closed_on, '-infinity'))
     limit most`,
  )
}
