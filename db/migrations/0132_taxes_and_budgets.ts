import type { Knex } from 'knex'
import { wall } from './ledger-support.ts'
import { appendOnly, tenantTable, touch } from './support.ts'

/** Taxes on the revenue of a period as they were assessed, and budgets with the versions before them. */
export const up = async (knex: Knex) => {
  await assessments(knex)
  await budgets(knex)
}

const assessments = async (knex: Knex) => {
  await tenantTable(
    knex,
    'tax_assessment',
    `book_id uuid not null,
     tax_code_id uuid not null,
     period_id uuid not null,
     property_id uuid,
     number int not null,
     base bigint not null,
     rate int not null,
     tax bigint not null,
     delta bigint not null,
     entry_id uuid not null,
     created_at timestamptz not null default now(),
     constraint tax_assessment_number check (number >= 1),
     constraint tax_assessment_amounts check (base >= 0 and tax >= 0 and delta <> 0 and rate between 0 and 1000000),
     constraint tax_assessment_key unique nulls not distinct (tenant_id, tax_code_id, period_id, property_id, number),
     constraint tax_assessment_code foreign key (tenant_id, book_id, tax_code_id) references tax_code (tenant_id, book_id, id),
     constraint tax_assessment_period foreign key (tenant_id, book_id, period_id) references fiscal_period (tenant_id, book_id, id),
     constraint tax_assessment_property foreign key (tenant_id, property_id, book_id) references property (tenant_id, id, book_id),
     constraint tax_assessment_entry foreign key (tenant_id, entry_id) references journal_entry (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index tax_assessment_code on tax_assessment (tenant_id, book_id, tax_code_id)`)
  await knex.raw(`create index tax_assessment_period on tax_assessment (tenant_id, book_id, period_id)`)
  await knex.raw(
    `create index tax_assessment_property on tax_assessment (tenant_id, property_id, book_id) where property_id is not null`,
  )
  await knex.raw(`create index tax_assessment_entry on tax_assessment (tenant_id, entry_id)`)
  await appendOnly(knex, 'tax_assessment')
}

const budgets = async (knex: Knex) => {
  await tenantTable(
    knex,
    'budget',
    `book_id uuid not null,
     fiscal_year_id uuid not null,
     property_id uuid,
     name text not null,
     status text not null default 'draft',
     created_by uuid not null,
     approved_by uuid,
     approved_at timestamptz,
     self_approved boolean not null default false,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint budget_status check (status in ('draft', 'approved', 'superseded')),
     constraint budget_name check (length(name) between 1 and 120),
     constraint budget_approved check ((status = 'draft') = (approved_by is null) and (approved_by is null) = (approved_at is null)),
     constraint budget_other_person check (approved_by is null or approved_by <> created_by or self_approved),
     constraint budget_year foreign key (tenant_id, book_id, fiscal_year_id) references fiscal_year (tenant_id, book_id, id),
     constraint budget_property foreign key (tenant_id, property_id, book_id) references property (tenant_id, id, book_id),
     constraint budget_book_key unique (tenant_id, book_id, id)`,
  )
  await knex.raw(`create index budget_year on budget (tenant_id, book_id, fiscal_year_id)`)
  await knex.raw(
    `create index budget_property on budget (tenant_id, property_id, book_id) where property_id is not null`,
  )
  await knex.raw(`
    create unique index budget_one_approved on budget (tenant_id, fiscal_year_id, property_id) nulls not distinct where status = 'approved'`)
  await touch(knex, 'budget')

  await tenantTable(
    knex,
    'budget_line',
    `budget_id uuid not null,
     book_id uuid not null,
     account_id uuid not null,
     cost_center_id uuid,
     period_id uuid not null,
     amount bigint not null,
     constraint budget_line_amount check (amount <> 0 and amount between -10000000000000 and 10000000000000),
     constraint budget_line_key unique nulls not distinct (tenant_id, budget_id, account_id, cost_center_id, period_id),
     constraint budget_line_budget foreign key (tenant_id, book_id, budget_id) references budget (tenant_id, book_id, id),
     constraint budget_line_account foreign key (tenant_id, book_id, account_id) references account (tenant_id, book_id, id),
     constraint budget_line_cost_center foreign key (tenant_id, book_id, cost_center_id) references cost_center (tenant_id, book_id, id),
     constraint budget_line_period foreign key (tenant_id, book_id, period_id) references fiscal_period (tenant_id, book_id, id)`,
  )
  for (const column of ['budget', 'account', 'cost_center', 'period'])
    await knex.raw(`create index budget_line_${column} on budget_line (tenant_id, book_id, ${column}_id)`)
  await wall(
    knex,
    'budget_line_wall',
    `
    declare
      now_is text;
    begin
      select b.status into now_is from budget b
        where b.tenant_id = coalesce(new.tenant_id, old.tenant_id) and b.id = coalesce(new.budget_id, old.budget_id) for share;
      if now_is <> 'draft' then
        raise exception 'the lines of a budget that was approved do not change' using errcode = 'PL010';
      end if;
      return coalesce(new, old);
    end`,
  )
  await knex.raw(
    `create trigger budget_line_wall before insert or update or delete on budget_line for each row execute function budget_line_wall()`,
  )
}
