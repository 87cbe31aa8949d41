import type { Knex } from 'knex'
import { installmentTables } from '../documents-support.ts'
import { appendOnly, tenantTable, touch } from '../support.ts'
import { payee, refers, stamps } from './words.ts'

/** Bills with their lines, withholdings, approvals and installments. */
export const payables = async (knex: Knex) => {
  await tenantTable(
    knex,
    'payable',
    `book_id uuid not null,
     property_id uuid,
     ${payee('payable')},
     kind text not null,
     number text,
     series text not null default '',
     fiscal_key text,
     issued_on date not null,
     posting_on date not null,
     currency text not null,
     gross bigint not null,
     withheld bigint not null default 0,
     total bigint not null,
     settled bigint not null default 0,
     open bigint not null generated always as (total - settled) stored,
     status text not null default 'draft',
     on_hold boolean not null default false,
     hold_reason text,
     source text not null default 'manual',
     source_key text,
     policy_number int,
     approvals_needed int not null default 0,
     approvals_given int not null default 0,
     approval_roles text[] not null default '{}',
     round int not null default 0,
     match_exceptions jsonb not null default '[]',
     cost_center_id uuid,
     notes text not null default '',
     created_by uuid,
     edited_by uuid,
     submitted_by uuid,
     posted_at timestamptz,
     ended_at timestamptz,
     voided_on date,
     void_reason text,
     ${stamps},
     constraint payable_kind check (kind in ('bill', 'tax', 'reimbursement', 'commission', 'opening', 'other')),
     constraint payable_source check (source in ('manual', 'recurring', 'withholding', 'tax_assessment') and (source = 'manual') = (source_key is null)),
     constraint payable_amounts check (total = gross - withheld and total > 0 and withheld >= 0 and gross <= 10000000000000),
     constraint payable_settled check (settled between 0 and total),
     constraint payable_status check (status in ('draft', 'awaiting_approval', 'approved', 'partly_paid', 'paid', 'void')),
     constraint payable_paid check (settled = 0 or status not in ('draft', 'awaiting_approval', 'void')),
     constraint payable_posted check ((status in ('draft', 'awaiting_approval')) <= (posted_at is null)
       and (status in ('approved', 'partly_paid', 'paid')) <= (posted_at is not null)),
     constraint payable_held check (on_hold = (hold_reason is not null)),
     constraint payable_voided check ((status = 'void') = (voided_on is not null)),
     constraint payable_approved check (status not in ('approved', 'partly_paid', 'paid') or approvals_given >= approvals_needed),
     constraint payable_fiscal_key check (fiscal_key ~ '^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$'),
     ${refers('book_id', 'book')},
     ${refers('property_id', 'property')}`,
  )
  await touch(knex, 'payable')
  await knex.raw(
    `create unique index payable_once on payable (tenant_id, payee_key, upper(number), series) where number is not null and status <> 'void'`,
  )
  await knex.raw(
    `create unique index payable_fiscal_key_once on payable (tenant_id, fiscal_key) where fiscal_key is not null and status <> 'void'`,
  )
  await knex.raw(
    `create unique index payable_source_once on payable (tenant_id, source, source_key) where source_key is not null`,
  )
  await knex.raw(`create index payable_by_date on payable (tenant_id, issued_on desc, id)`)
  await knex.raw(`create index payable_book on payable (tenant_id, book_id, status, posting_on)`)
  await knex.raw(`create index payable_same on payable (tenant_id, payee_key, gross, issued_on)`)
  await knex.raw(`create index payable_supplier on payable (tenant_id, supplier_id) where supplier_id is not null`)
  await knex.raw(`create index payable_property on payable (tenant_id, property_id) where property_id is not null`)
  await knex.raw(`create index payable_ended on payable (ended_at) where ended_at is not null`)

  await tenantTable(
    knex,
    'payable_line',
    `payable_id uuid not null,
     line_no int not null,
     description text not null,
     account_id uuid,
     purchase_order_line_id uuid,
     inventory_movement_line_id uuid,
     quantity numeric(15, 4),
     base_quantity numeric(24, 6),
     amount bigint not null,
     cost_center_id uuid,
     property_id uuid,
     received_value bigint,
     variance bigint,
     taken jsonb not null default '[]',
     constraint payable_line_no unique (tenant_id, payable_id, line_no),
     constraint payable_line_for check (num_nonnulls(account_id, purchase_order_line_id, inventory_movement_line_id) = 1),
     constraint payable_line_amount check (amount <> 0 and (amount > 0 or account_id is not null)),
     constraint payable_line_value check ((received_value is null) = (variance is null) and (received_value is null or received_value + variance = amount)),
     constraint payable_line_quantity check (quantity > 0 and (purchase_order_line_id is null or quantity is not null)),
     ${refers('payable_id', 'payable')},
     ${refers('account_id', 'account')},
     ${refers('purchase_order_line_id', 'purchase_order_line')},
     ${refers('cost_center_id', 'cost_center')},
     ${refers('property_id', 'property')}`,
  )
  for (const column of [
    'account_id',
    'purchase_order_line_id',
    'cost_center_id',
    'property_id',
    'inventory_movement_line_id',
  ])
    await knex.raw(
      `create index payable_line_${column} on payable_line (tenant_id, ${column}) where ${column} is not null`,
    )

  await tenantTable(
    knex,
    'payable_withholding',
    `payable_id uuid not null,
     tax_code_id uuid not null,
     code text not null,
     base bigint not null,
     rate int not null,
     amount bigint not null,
     collected_by_id uuid,
     constraint payable_withholding_once unique (tenant_id, payable_id, tax_code_id),
     constraint payable_withholding_amounts check (base > 0 and rate between 0 and 1000000 and amount > 0 and amount <= base
       and abs(amount - round(base::numeric * rate / 1000000)) <= 1),
     ${refers('payable_id', 'payable')},
     ${refers('tax_code_id', 'tax_code')},
     ${refers('collected_by_id', 'payable')}`,
  )
  await knex.raw(`create index payable_withholding_code on payable_withholding (tenant_id, tax_code_id)`)
  await knex.raw(
    `create index payable_withholding_collected on payable_withholding (tenant_id, collected_by_id) where collected_by_id is not null`,
  )

  await installmentTables(knex, {
    document: 'payable',
    sums: ['settled'],
    unfinished: ['draft'],
    columns: `boleto_line text, pix_code text,`,
  })

  await tenantTable(
    knex,
    'payable_approval',
    `payable_id uuid not null,
     round int not null,
     user_id uuid not null,
     decision text not null,
     note text,
     self_approved boolean not null default false,
     created_at timestamptz not null default now(),
     constraint payable_approval_once unique (tenant_id, payable_id, round, user_id),
     constraint payable_approval_decision check (decision in ('approved', 'rejected')),
     ${refers('payable_id', 'payable')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'payable_approval')
  await knex.raw(`create function payable_two_people() returns trigger language plpgsql as $$
    begin
      if new.decision = 'approved' and not new.self_approved and exists (select from payable p where p.tenant_id = new.tenant_id and p.id = new.payable_id
          and new.user_id in (p.created_by, p.edited_by, p.submitted_by)) then
        raise exception 'nobody approves what they wrote' using errcode = 'check_violation', constraint = 'payable_two_people';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger payable_two_people before insert on payable_approval for each row execute function payable_two_people()`,
  )

  await tenantTable(
    knex,
    'payable_history',
    `payable_id uuid not null,
     command text not null,
     from_status text,
     to_status text not null,
     changes jsonb not null default '{}',
     reason text,
     actor jsonb not null,
     request_id text,
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     ${refers('payable_id', 'payable')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'payable_history')
  await knex.raw(`create index payable_history_of on payable_history (tenant_id, payable_id, position)`)

  await tenantTable(
    knex,
    'recurring_payable',
    `book_id uuid not null,
     property_id uuid,
     supplier_id uuid,
     name text not null,
     template jsonb not null,
     every int not null default 1,
     unit text not null,
     day int,
     first_on date not null,
     ends_on date,
     next_on date,
     made int not null default 0,
     lead_days int not null default 10,
     paused_until date,
     submit boolean not null default false,
     created_by uuid not null,
     ${stamps},
     constraint recurring_payable_unit check (unit in ('week', 'month', 'year')),
     constraint recurring_payable_rhythm check (every between 1 and 24 and day between 1 and 31
       and lead_days between 0 and 60 and ends_on >= first_on),
     ${refers('book_id', 'book')},
     ${refers('property_id', 'property')},
     ${refers('supplier_id', 'supplier')}`,
  )
  await touch(knex, 'recurring_payable')
  await knex.raw(
    `create index recurring_payable_due on recurring_payable (tenant_id, book_id, next_on) where next_on is not null`,
  )
  for (const column of ['property_id', 'supplier_id'])
    await knex.raw(
      `create index recurring_payable_${column} on recurring_payable (tenant_id, ${column}) where ${column} is not null`,
    )
}
