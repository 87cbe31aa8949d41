import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

/** Tables for entries by the calendar: templates, sums that are spread over months, and the day up to which the daily work of a book was asked for. */
export const up = async (knex: Knex) => {
  await templates(knex)
  await accruals(knex)
  await days(knex)
}

const templates = async (knex: Knex) => {
  await tenantTable(
    knex,
    'entry_template',
    `book_id uuid not null,
     name text not null,
     journal_id uuid,
     description text not null,
     variables jsonb not null default '[]',
     lines jsonb not null,
     schedule jsonb,
     next_on date,
     runs int not null default 0,
     status text not null default 'active',
     created_by uuid not null,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint entry_template_status check (status in ('active', 'paused', 'removed')),
     constraint entry_template_words check (length(name) between 1 and 120 and length(description) between 1 and 300),
     constraint entry_template_variables check (jsonb_typeof(variables) = 'array' and jsonb_array_length(variables) <= 20),
     constraint entry_template_lines check (jsonb_typeof(lines) = 'array' and jsonb_array_length(lines) between 2 and 100),
     constraint entry_template_next check (next_on is null or schedule is not null and status <> 'removed'),
     constraint entry_template_book foreign key (tenant_id, book_id) references book (tenant_id, id),
     constraint entry_template_book_key unique (tenant_id, book_id, id),
     constraint entry_template_journal foreign key (tenant_id, book_id, journal_id) references journal (tenant_id, book_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index entry_template_journal on entry_template (tenant_id, book_id, journal_id)`)
  await knex.raw(
    `create index entry_template_due on entry_template (tenant_id, book_id, next_on) where status = 'active' and next_on is not null`,
  )
  await touch(knex, 'entry_template')
  await knex.raw(`
    alter table entry_draft add column template_id uuid, add column template_run int,
      add constraint entry_draft_template foreign key (tenant_id, book_id, template_id) references entry_template (tenant_id, book_id, id),
      add constraint entry_draft_run check (template_run is null or template_id is not null and template_run >= 1),
      add constraint entry_draft_run_key unique (tenant_id, template_id, template_run)`)
  await knex.raw(`create index entry_draft_template on entry_draft (tenant_id, book_id, template_id)`)
}

const accruals = async (knex: Knex) => {
  await tenantTable(
    knex,
    'accrual_schedule',
    `book_id uuid not null,
     kind text not null,
     source_account_id uuid not null,
     target_account_id uuid not null,
     amount bigint not null,
     first_month date not null,
     months int not null,
     asset_number text,
     asset_account_id uuid,
     asset_cost bigint,
     asset_residual bigint,
     property_id uuid,
     cost_center_id uuid,
     description text not null,
     posted bigint not null default 0,
     posted_months int not null default 0,
     next_on date,
     status text not null default 'running',
     created_by uuid not null,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint accrual_schedule_kind check (kind in ('prepaid', 'deferred', 'depreciation')),
     constraint accrual_schedule_status check (status in ('running', 'completed', 'cancelled')),
     constraint accrual_schedule_amount check (amount between 1 and 10000000000000),
     constraint accrual_schedule_months check (months between 1 and 600 and posted_months between 0 and months),
     constraint accrual_schedule_first check (extract(day from first_month) = 1),
     constraint accrual_schedule_posted check (posted between 0 and amount),
     constraint accrual_schedule_next check ((next_on is not null) = (status = 'running')),
     constraint accrual_schedule_completed check (status <> 'completed' or posted = amount),
     constraint accrual_schedule_description check (length(description) between 1 and 300),
     constraint accrual_schedule_asset check (
       (asset_cost is null) = (asset_number is null) and (asset_cost is null) = (asset_account_id is null) and (asset_cost is null) = (asset_residual is null)
       and (asset_cost is null or kind = 'depreciation' and asset_residual >= 0 and amount = asset_cost - asset_residual and length(asset_number) <= 40)
       and (kind <> 'depreciation' or asset_cost is not null)),
     constraint accrual_schedule_book foreign key (tenant_id, book_id) references book (tenant_id, id),
     constraint accrual_schedule_source foreign key (tenant_id, book_id, source_account_id) references account (tenant_id, book_id, id),
     constraint accrual_schedule_target foreign key (tenant_id, book_id, target_account_id) references account (tenant_id, book_id, id),
     constraint accrual_schedule_asset_account foreign key (tenant_id, book_id, asset_account_id) references account (tenant_id, book_id, id),
     constraint accrual_schedule_property foreign key (tenant_id, property_id, book_id) references property (tenant_id, id, book_id),
     constraint accrual_schedule_cost_center foreign key (tenant_id, book_id, cost_center_id) references cost_center (tenant_id, book_id, id)`,
    { grant: 'select, insert, update' },
  )
  for (const column of ['source_account', 'target_account', 'asset_account', 'cost_center'])
    await knex.raw(
      `create index accrual_schedule_${column} on accrual_schedule (tenant_id, book_id, ${column}_id) where ${column}_id is not null`,
    )
  await knex.raw(
    `create index accrual_schedule_property on accrual_schedule (tenant_id, property_id, book_id) where property_id is not null`,
  )
  await knex.raw(
    `create index accrual_schedule_due on accrual_schedule (tenant_id, book_id, next_on) where status = 'running'`,
  )
  await touch(knex, 'accrual_schedule')
}

const days = async (knex: Knex) => {
  await tenantTable(
    knex,
    'book_tick',
    `book_id uuid not null,
     ticked_on date not null,
     primary key (tenant_id, book_id),
     constraint book_tick_book foreign key (tenant_id, book_id) references book (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await sweepFunction(
    knex,
    'books_of_a_new_day()',
    'tenant_id uuid, book_id uuid',
    `select b.tenant_id, b.id from book b left join book_tick t on t.tenant_id = b.tenant_id and t.book_id = b.id
     where b.active and (t.ticked_on is null or t.ticked_on < (now() at time zone b.time_zone)::date)`,
  )
}
