import type { Knex } from 'knex'
import { countByMonths, dropDays } from './counts-by-month-support.ts'

/** Tables, the columns by which their rows are counted, and the days by whose months they are. */
const counted = {
  payment: [['property_id', 'status'], { created_at: 'time' }],
  refund: [['property_id', 'status'], { created_at: 'time' }],
  payout: [['status'], { created_on: 'date' }],
  balance_transaction: [['kind'], { occurred_at: 'time' }],
  reconciliation: [['status'], { date: 'date' }],
  payable: [['property_id', 'book_id', 'status', 'kind'], { issued_on: 'date' }],
  payable_payment: [['book_id', 'status'], { pay_on: 'date' }],
  purchase_order: [['property_id', 'status'], { expected_on: 'date' }],
  receivable: [['property_id', 'book_id', 'status', 'kind'], { issued_on: 'date' }],
  receipt: [['property_id', 'book_id'], { received_on: 'date' }],
  credit_note: [['property_id', 'book_id'], { issued_on: 'date' }],
  fiscal_document: [['property_id', 'book_id', 'status'], { created_at: 'time' }],
  journal_entry: [['book_id', 'kind', 'journal_id', 'period_id', 'late'], { posting_date: 'date' }],
  entry_draft: [['book_id', 'status'], { posting_date: 'date' }],
  exchange_rate: [[], { date: 'date' }],
  report_run: [['status'], { created_at: 'time' }],
  inventory_movement: [['property_id', 'kind'], { occurred_on: 'date' }],
  inventory_consumption: [['property_id', 'kind'], { business_date: 'date' }],
  cash_movement: [['kind'], { booked_on: 'date' }],
  cash_session: [['property_id', 'status'], { business_date: 'date' }],
  bank_statement_line: [['property_id', 'status'], { booked_on: 'date' }],
  pix_charge: [['property_id', 'status', 'kind'], { due_on: 'date' }],
} as const

/** Counts by months, for lists of money, papers and stock that are asked for days. */
export const up = async (knex: Knex) => {
  // Rows that are being written come first: from here on each is seen by the counts below or by the triggers.
  await knex.raw(`lock table ${Object.keys(counted).join(', ')} in share row exclusive mode`)
  await dropDays(knex, 'journal_entry')
  for (const [table, [columns, days]] of Object.entries(counted)) await countByMonths(knex, table, columns, days)
}
