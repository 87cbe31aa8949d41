import type { Knex } from 'knex'
import { appendOnly, sweepFunction, tenantTable, touch } from '../support.ts'
import { payee, refers, stamps } from './words.ts'

/** Payments and batches, credits of suppliers with their dated facts. Cash accounts, movements and transfers are those of cash. */
export const payments = async (knex: Knex) => {
  await tenantTable(
    knex,
    'supplier_credit',
    `book_id uuid not null,
     property_id uuid,
     ${payee('supplier_credit')},
     kind text not null,
     payable_id uuid,
     number text,
     issued_on date not null,
     currency text not null,
     amount bigint not null,
     applied bigint not null default 0,
     refunded bigint not null default 0,
     available bigint not null generated always as (amount - applied - refunded) stored,
     lines jsonb not null default '[]',
     status text not null default 'open',
     note text not null default '',
     created_by uuid,
     ${stamps},
     constraint supplier_credit_kind check (kind in ('credit_note', 'advance')),
     constraint supplier_credit_status check (status in ('open', 'void')),
     constraint supplier_credit_amount check (amount between 1 and 10000000000000),
     constraint credit_limit check (applied >= 0 and refunded >= 0 and applied + refunded <= amount),
     constraint supplier_credit_void check (status = 'open' or applied + refunded = 0),
     ${refers('book_id', 'book')},
     ${refers('property_id', 'property')},
     ${refers('payable_id', 'payable')}`,
  )
  await touch(knex, 'supplier_credit')
  await knex.raw(
    `create unique index supplier_credit_once on supplier_credit (tenant_id, payee_key, upper(number)) where number is not null and status <> 'void'`,
  )
  await knex.raw(`create index supplier_credit_by_date on supplier_credit (tenant_id, issued_on desc, id)`)
  await knex.raw(`create index supplier_credit_book on supplier_credit (tenant_id, book_id, kind, issued_on)`)
  for (const column of ['supplier_id', 'payable_id', 'property_id'])
    await knex.raw(
      `create index supplier_credit_${column} on supplier_credit (tenant_id, ${column}) where ${column} is not null`,
    )

  await tenantTable(
    knex,
    'supplier_credit_fact',
    `supplier_credit_id uuid not null,
     dated_on date not null,
     type text not null,
     source_id uuid not null,
     cash_movement_id uuid,
     amount bigint not null,
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     constraint supplier_credit_fact_amount check (amount <> 0),
     constraint supplier_credit_fact_type check (type in ('applied', 'restored', 'refunded', 'voided')),
     constraint supplier_credit_fact_once unique (tenant_id, supplier_credit_id, type, source_id),
     ${refers('supplier_credit_id', 'supplier_credit')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'supplier_credit_fact')

  await tenantTable(
    knex,
    'payable_payment',
    `book_id uuid not null,
     method text not null,
     cash_account_id uuid,
     credit_id uuid,
     pay_on date not null,
     currency text not null,
     total bigint not null,
     status text not null,
     reference text not null default '',
     note text not null default '',
     created_by uuid not null,
     approved_by uuid,
     self_approved boolean not null default false,
     approved_at timestamptz,
     ${stamps},
     constraint payable_payment_method check (method in ('manual', 'pix', 'credit') and (method = 'credit') = (credit_id is not null)
       and (method = 'credit') = (cash_account_id is null)),
     constraint payable_payment_status check (status in ('awaiting_approval', 'approved', 'sending', 'paid', 'partly_paid', 'failed', 'void')),
     constraint payable_payment_total check (total >= 0),
     constraint payable_payment_approved check (method <> 'pix' or status in ('awaiting_approval', 'void') or approved_by is not null),
     constraint payable_payment_two_people check (approved_by is null or self_approved or approved_by <> created_by),
     ${refers('book_id', 'book')},
     ${refers('credit_id', 'supplier_credit')},
     ${refers('cash_account_id', 'cash_account')}`,
  )
  await touch(knex, 'payable_payment')
  await knex.raw(`create index payable_payment_by_date on payable_payment (tenant_id, pay_on desc, id)`)
  await knex.raw(
    `create index payable_payment_to_start on payable_payment (pay_on) where status in ('approved', 'sending')`,
  )
  for (const column of ['credit_id', 'cash_account_id', 'book_id'])
    await knex.raw(
      `create index payable_payment_${column} on payable_payment (tenant_id, ${column}) where ${column} is not null`,
    )

  await tenantTable(
    knex,
    'payable_payment_item',
    `payable_payment_id uuid not null,
     position int not null,
     payable_id uuid,
     installment_id uuid,
     ${payee('payable_payment_item')},
     purchase_order_id uuid,
     property_id uuid,
     principal bigint not null,
     interest bigint not null default 0,
     fine bigint not null default 0,
     discount bigint not null default 0,
     cash bigint not null generated always as (principal + interest + fine - discount) stored,
     status text not null,
     destination text,
     credit_id uuid,
     cash_transfer_id uuid,
     cash_movement_id uuid,
     refund_movement_id uuid,
     failure jsonb,
     paid_on date,
     reversed_on date,
     ${stamps},
     constraint payable_payment_item_position unique (tenant_id, payable_payment_id, position),
     constraint payable_payment_item_for check ((installment_id is null) = (payable_id is null) and (installment_id is not null or (interest = 0 and fine = 0 and discount = 0))),
     constraint payable_payment_item_amounts check (principal > 0 and interest >= 0 and fine >= 0 and discount >= 0 and principal + interest + fine - discount >= 0),
     constraint payable_payment_item_status check (status in ('queued', 'sending', 'paid', 'failed', 'void')),
     constraint payable_payment_item_paid check ((status = 'paid') <= (paid_on is not null) and reversed_on >= paid_on),
     ${refers('payable_payment_id', 'payable_payment')},
     foreign key (tenant_id, payable_id, installment_id) references payable_installment (tenant_id, payable_id, id),
     ${refers('purchase_order_id', 'purchase_order')},
     ${refers('credit_id', 'supplier_credit')},
     ${refers('cash_transfer_id', 'cash_transfer')},
     ${refers('cash_movement_id', 'cash_movement')}`,
  )
  await touch(knex, 'payable_payment_item')
  await knex.raw(
    `create unique index payable_item_in_payment on payable_payment_item (tenant_id, installment_id) where status in ('queued', 'sending') and installment_id is not null`,
  )
  await knex.raw(
    `create index payable_payment_item_of on payable_payment_item (tenant_id, payable_id, installment_id) where payable_id is not null`,
  )
  for (const column of ['purchase_order_id', 'credit_id', 'supplier_id', 'cash_movement_id', 'cash_transfer_id'])
    await knex.raw(
      `create index payable_payment_item_${column} on payable_payment_item (tenant_id, ${column}) where ${column} is not null`,
    )
  await sweepFunction(
    knex,
    'payable_payments_to_start()',
    'tenant_id uuid, id uuid',
    `select p.tenant_id, p.id from payable_payment p where p.status in ('approved', 'sending') and p.pay_on <= current_date + 1
       and exists (select from payable_payment_item x where x.tenant_id = p.tenant_id and x.payable_payment_id = p.id and x.status = 'queued') limit 1000`,
  )
}
