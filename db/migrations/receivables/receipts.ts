import type { Knex } from 'knex'
import { refers, stamps } from '../payables/words.ts'
import { appendOnly, tenantTable, touch } from '../support.ts'

/** Money of customers, what it was allocated to, and what of it goes back. An allocation is undone by the row with the opposite amounts. */
export const receipts = async (knex: Knex) => {
  await tenantTable(
    knex,
    'receipt',
    `book_id uuid not null,
     property_id uuid,
     customer_id uuid,
     source_type text not null,
     source_id uuid not null,
     method text not null,
     cash_account_id uuid,
     cash_session_id uuid,
     cash_movement_id uuid,
     currency text not null,
     amount bigint not null,
     received_on date not null,
     allocated bigint not null default 0,
     refund_reserved bigint not null default 0,
     refunded bigint not null default 0,
     available bigint not null generated always as (amount - allocated - refund_reserved) stored,
     series text,
     number int,
     number_prefix text not null default '',
     payer bytea,
     reference text not null default '',
     search text not null default '',
     status text not null default 'recorded',
     reversed_on date,
     reverse_reason text,
     created_by uuid,
     ${stamps},
     constraint receipt_source unique (tenant_id, source_type, source_id),
     constraint receipt_source_type check (source_type in ('manual', 'pix', 'payment', 'bank_line', 'credit_note')),
     constraint receipt_method check (method in ('cash', 'bank', 'cheque', 'pix', 'card', 'credit', 'other')),
     constraint receipt_number unique (tenant_id, book_id, series, number),
     constraint receipt_numbered check ((series is null) = (number is null)),
     constraint receipt_amount check (amount between 1 and 10000000000000),
     constraint receipt_limit check (allocated >= 0 and refund_reserved >= 0 and allocated + refund_reserved <= amount and refunded between 0 and refund_reserved),
     constraint receipt_money check ((source_type in ('payment', 'credit_note')) = (cash_account_id is null)
       and (cash_account_id is null) = (cash_movement_id is null)),
     constraint receipt_owner check (customer_id is not null or allocated = 0 or source_type <> 'credit_note'),
     constraint receipt_status check (status in ('recorded', 'reversed')),
     constraint receipt_reversed check ((status = 'reversed') = (reversed_on is not null) and (status = 'recorded' or (allocated = 0 and refund_reserved = 0))),
     ${refers('book_id', 'book')},
     ${refers('property_id', 'property')},
     ${refers('customer_id', 'customer')},
     ${refers('cash_account_id', 'cash_account')},
     ${refers('cash_session_id', 'cash_session')},
     ${refers('cash_movement_id', 'cash_movement')}`,
  )
  await touch(knex, 'receipt')
  await knex.raw(`create index receipt_by_date on receipt (tenant_id, received_on desc, id)`)
  await knex.raw(`create index receipt_book on receipt (tenant_id, book_id, status, received_on)`)
  await knex.raw(
    `create index receipt_available on receipt (tenant_id, customer_id, received_on) where amount - allocated - refund_reserved > 0 and status = 'recorded'`,
  )
  for (const column of ['property_id', 'customer_id', 'cash_account_id', 'cash_session_id', 'cash_movement_id'])
    await knex.raw(`create index receipt_${column} on receipt (tenant_id, ${column}) where ${column} is not null`)

  await tenantTable(
    knex,
    'receipt_allocation',
    `receipt_id uuid not null,
     dated_on date not null,
     receivable_id uuid,
     installment_id uuid,
     target_type text,
     target_id uuid,
     principal bigint not null,
     interest bigint not null default 0,
     fine bigint not null default 0,
     discount bigint not null default 0,
     fee bigint not null default 0,
     withheld jsonb not null default '[]',
     withheld_total bigint not null default 0,
     cash bigint not null generated always as (principal + interest + fine - discount - fee - withheld_total) stored,
     reverses_id uuid,
     created_by uuid,
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     constraint receipt_allocation_reversed_once unique (tenant_id, reverses_id),
     constraint receipt_allocation_for check (num_nonnulls(installment_id, target_id) = 1 and (installment_id is null) = (receivable_id is null)
       and (target_id is null) = (target_type is null) and target_type in ('reservation', 'folio')
       and (target_id is null or (interest = 0 and fine = 0 and discount = 0 and fee = 0 and withheld_total = 0))),
     constraint receipt_allocation_amounts check (case when reverses_id is null
       then principal > 0 and interest >= 0 and fine >= 0 and discount >= 0 and fee >= 0 and withheld_total >= 0
         and principal + interest + fine - discount - fee - withheld_total >= 0
       else principal < 0 and interest <= 0 and fine <= 0 and discount <= 0 and fee <= 0 and withheld_total <= 0
         and principal + interest + fine - discount - fee - withheld_total <= 0 end),
     ${refers('receipt_id', 'receipt')},
     foreign key (tenant_id, receivable_id, installment_id) references receivable_installment (tenant_id, receivable_id, id),
     ${refers('reverses_id', 'receipt_allocation')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'receipt_allocation')
  await knex.raw(`create index receipt_allocation_receipt on receipt_allocation (tenant_id, receipt_id, position)`)
  await knex.raw(
    `create index receipt_allocation_installment on receipt_allocation (tenant_id, receivable_id, installment_id) where receivable_id is not null`,
  )
  await knex.raw(
    `create index receipt_allocation_target on receipt_allocation (tenant_id, target_id) where target_id is not null`,
  )

  await tenantTable(
    knex,
    'receipt_refund',
    `receipt_id uuid not null,
     amount bigint not null,
     via text not null,
     status text not null default 'requested',
     requested_on date not null,
     ended_on date,
     cash_account_id uuid,
     cash_transfer_id uuid,
     cash_movement_id uuid,
     pix_return_id uuid,
     failure jsonb,
     reason text not null,
     requested_by uuid,
     ${stamps},
     constraint receipt_refund_amount check (amount > 0),
     constraint receipt_refund_via check (via in ('pix_return', 'transfer', 'manual')),
     constraint receipt_refund_status check (status in ('requested', 'succeeded', 'failed')),
     constraint receipt_refund_ended check ((status = 'requested') = (ended_on is null)),
     ${refers('receipt_id', 'receipt')},
     ${refers('cash_account_id', 'cash_account')},
     ${refers('cash_transfer_id', 'cash_transfer')},
     ${refers('cash_movement_id', 'cash_movement')}`,
  )
  await appendOnly(knex, 'receipt_refund', 'of receipt_id, amount, via, requested_on, reason, requested_by, created_at')
  await touch(knex, 'receipt_refund')
  await knex.raw(`create index receipt_refund_receipt on receipt_refund (tenant_id, receipt_id)`)
  for (const column of ['cash_account_id', 'cash_transfer_id', 'cash_movement_id', 'pix_return_id'])
    await knex.raw(
      `create index receipt_refund_${column} on receipt_refund (tenant_id, ${column}) where ${column} is not null`,
    )
}
