import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`

/** The housekeeping tasks of a day, and the sheets by which they are shared out. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'housekeeping_sheet',
    `property_id uuid not null,
     date date not null,
     attendant_id uuid not null,
     status text not null default 'draft',
     max_credits int not null,
     published_at timestamptz,
     ${stamps},
     constraint housekeeping_sheet_status check (status in ('draft', 'published', 'closed')),
     constraint housekeeping_sheet_published check (case status when 'draft' then published_at is null when 'published' then published_at is not null else true end),
     constraint housekeeping_sheet_credits check (max_credits between 1 and 200),
     constraint housekeeping_sheet_of_attendant unique (tenant_id, id, property_id, date, attendant_id),
     ${ofProperty}`,
  )
  // One live sheet of an attendant for a day of a house.
  await knex.raw(
    `create unique index housekeeping_sheet_live on housekeeping_sheet (tenant_id, property_id, date, attendant_id) where status <> 'closed'`,
  )
  await knex.raw(`create index housekeeping_sheet_day on housekeeping_sheet (tenant_id, property_id, date)`)
  await touch(knex, 'housekeeping_sheet')

  await knex.raw(`alter table unit add constraint unit_in_property unique (tenant_id, id, property_id)`)
  // `ranked`: a person has set the priority, so that nothing ranks it anew.
  await tenantTable(
    knex,
    'housekeeping_task',
    `property_id uuid not null,
     unit_id uuid not null,
     date date not null,
     kind text not null,
     status text not null default 'open',
     assignee_id uuid,
     sheet_id uuid,
     priority int not null,
     ranked boolean not null default false,
     credits int not null,
     due_at timestamptz,
     checklist jsonb not null default '[]',
     reservation_id uuid,
     issue_id uuid,
     note text not null default '',
     started_at timestamptz,
     completed_at timestamptz,
     completed_by uuid,
     inspected_at timestamptz,
     inspected_by uuid,
     minutes int,
     skip_reason text,
     generated boolean not null default false,
     ${stamps},
     constraint housekeeping_task_kind check (kind in ('departure', 'stayover', 'pickup', 'deep', 'inspection', 'turndown', 'maintenance', 'other')),
     constraint housekeeping_task_status check (status in ('open', 'started', 'done', 'passed', 'failed', 'skipped')),
     constraint housekeeping_task_priority check (priority between 1 and 5),
     constraint housekeeping_task_credits check (credits between 1 and 20),
     constraint housekeeping_task_minutes check (minutes between 0 and 1440),
     constraint housekeeping_task_note check (length(note) <= 4000),
     constraint housekeeping_task_checklist check (jsonb_typeof(checklist) = 'array'),
     constraint housekeeping_task_open check (status <> 'open' or started_at is null),
     constraint housekeeping_task_started check (status <> 'started' or started_at is not null),
     constraint housekeeping_task_completed check ((status in ('done', 'passed', 'failed')) = (completed_at is not null)
       and (completed_at is null) = (completed_by is null)),
     constraint housekeeping_task_inspected check ((status in ('passed', 'failed')) = (inspected_at is not null)
       and (inspected_at is null) = (inspected_by is null)),
     constraint housekeeping_task_other_eyes check (inspected_by <> completed_by),
     constraint housekeeping_task_skipped check ((status = 'skipped') = (skip_reason is not null)),
     constraint housekeeping_task_skip_reason check (skip_reason in ('do_not_disturb', 'refused', 'not_needed', 'no_time', 'mistake', 'not_done')),
     constraint housekeeping_task_on_a_sheet check (sheet_id is null or assignee_id is not null),
     ${ofProperty},
     foreign key (tenant_id, unit_id, property_id) references unit (tenant_id, id, property_id),
     foreign key (tenant_id, sheet_id, property_id, date, assignee_id) references housekeeping_sheet (tenant_id, id, property_id, date, attendant_id),
     foreign key (tenant_id, reservation_id) references reservation (tenant_id, id)`,
  )
  // A day of a house makes each of its tasks once, however often it rolls.
  await knex.raw(
    `create unique index housekeeping_task_generated on housekeeping_task (tenant_id, unit_id, date, kind) where generated`,
  )
  for (const [name, columns] of [
    ['day', 'property_id, date, status'],
    ['unit', 'unit_id, property_id, date'],
    ['assignee', 'assignee_id, date'],
    ['sheet', 'sheet_id, property_id, date, assignee_id'],
    ['reservation', 'reservation_id'],
  ] as const)
    await knex.raw(`create index housekeeping_task_${name} on housekeeping_task (tenant_id, ${columns})`)
  await touch(knex, 'housekeeping_task')

  // Business dates: for which a discrepancy of the unit was last told of, and whose morning it has seen.
  await knex.raw(`alter table unit add discrepancy_on date, add rolled_on date`)
  await knex.raw(
    `create index unit_refused on unit (tenant_id, (service_refused ->> 'until')) where service_refused is not null`,
  )
  await sweepFunction(
    knex,
    'refusals_erasable(most int)',
    'tenant_id uuid, id uuid',
    `select u.tenant_id, u.id from unit u
     where u.service_refused is not null and u.service_refused ->> 'until' < to_char(current_date - 90, 'YYYY-MM-DD') limit most`,
  )
}
