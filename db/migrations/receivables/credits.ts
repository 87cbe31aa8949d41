import type { Knex } from 'knex'
import { refers, stamps } from '../payables/words.ts'
import { appendOnly, tenantTable, touch } from '../support.ts'

/** Credit notes. What is above the open amount of the invoice becomes a receipt with the note as its source. */
export const credits = async (knex: Knex) => {
  await tenantTable(
    knex,
    'credit_note',
    `book_id uuid not null,
     property_id uuid,
     receivable_id uuid not null,
     customer_id uuid not null,
     issued_on date not null,
     reason text not null,
     currency text not null,
     amount bigint not null,
     applied bigint not null,
     excess bigint not null generated always as (amount - applied) stored,
     series text,
     number int,
     number_prefix text not null default '',
     status text not null default 'issuing',
     created_by uuid,
     ${stamps},
     constraint credit_note_number unique (tenant_id, book_id, series, number),
     constraint credit_note_numbered check ((series is null) = (number is null) and (status = 'issued') = (number is not null)),
     constraint credit_note_amount check (amount between 1 and 10000000000000 and applied between 0 and amount),
     constraint credit_note_status check (status in ('issuing', 'issued')),
     ${refers('book_id', 'book')},
     ${refers('property_id', 'property')},
     ${refers('receivable_id', 'receivable')},
     ${refers('customer_id', 'customer')}`,
  )
  await appendOnly(
    knex,
    'credit_note',
    'of book_id, receivable_id, customer_id, issued_on, reason, currency, amount, applied, created_by, created_at',
  )
  await touch(knex, 'credit_note')
  await knex.raw(`create index credit_note_by_date on credit_note (tenant_id, issued_on desc, id)`)
  await knex.raw(`create index credit_note_book on credit_note (tenant_id, book_id, status, issued_on)`)
  for (const column of ['receivable_id', 'customer_id'])
    await knex.raw(`create index credit_note_${column} on credit_note (tenant_id, ${column})`)
  await knex.raw(
    `create index credit_note_property on credit_note (tenant_id, property_id) where property_id is not null`,
  )

  await tenantTable(
    knex,
    'credit_note_line',
    `credit_note_id uuid not null,
     line_no int not null,
     description text not null default '',
     account_id uuid not null,
     amount bigint not null,
     tax_code_id uuid,
     tax_amount bigint not null default 0,
     property_id uuid,
     cost_center_id uuid,
     constraint credit_note_line_no unique (tenant_id, credit_note_id, line_no),
     constraint credit_note_line_amounts check (amount > 0 and tax_amount between 0 and amount and (tax_amount = 0 or tax_code_id is not null)),
     ${refers('credit_note_id', 'credit_note')},
     ${refers('account_id', 'account')},
     ${refers('tax_code_id', 'tax_code')},
     ${refers('property_id', 'property')},
     ${refers('cost_center_id', 'cost_center')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'credit_note_line')
  await knex.raw(`create index credit_note_line_account on credit_note_line (tenant_id, account_id)`)
  for (const column of ['tax_code_id', 'property_id', 'cost_center_id'])
    await knex.raw(
      `create index credit_note_line_${column} on credit_note_line (tenant_id, ${column}) where ${column} is not null`,
    )
}
