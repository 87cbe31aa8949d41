import type { Knex } from 'knex'
import { countFact } from './counted-facts-support.ts'

/** Facts that are stored, by which lists of money and its parties are filtered, and the columns by which the rows of their tables are counted. */
const facts = {
  supplier_blocked: { table: 'supplier', columns: ['status'], fact: ':row.payments_blocked' },
  supplier_credit_available: {
    table: 'supplier_credit',
    columns: ['book_id', 'status', 'kind'],
    fact: `:row.status = 'open' and :row.available > 0`,
  },
  payable_held: { table: 'payable', columns: ['property_id', 'book_id', 'status', 'kind'], fact: ':row.on_hold' },
  customer_held: { table: 'customer', columns: ['status', 'kind'], fact: ':row.on_hold' },
  receipt_unidentified: { table: 'receipt', columns: ['property_id', 'book_id'], fact: ':row.customer_id is null' },
  receipt_available: {
    table: 'receipt',
    columns: ['property_id', 'book_id'],
    fact: `:row.status = 'recorded' and :row.available > 0`,
  },
  // Movements are booked without a match: what is rarer then costs the booking nothing.
  cash_movement_matched: { table: 'cash_movement', columns: ['kind'], fact: ':row.matched = abs(:row.amount)' },
  payment_late: { table: 'payment', columns: ['property_id', 'status'], fact: ':row.late' },
  payment_unallocated: {
    table: 'payment',
    columns: ['property_id', 'status'],
    fact: `:row.status = 'captured' and :row.allocated_amount + :row.refund_reserved < :row.captured_amount`,
  },
}

/** Rows with a fact in the order of their list, and those without it where they need not be most. */
const orders: Readonly<Record<string, string>> = {
  supplier_blocked: `supplier (tenant_id, legal_name, id) where payments_blocked`,
  supplier_credit_left: `supplier_credit (tenant_id, issued_on desc, created_at desc, id) where available > 0 and status = 'open'`,
  supplier_credit_used: `supplier_credit (tenant_id, issued_on desc, created_at desc, id) where not (status = 'open' and available > 0)`,
  payable_held: `payable (tenant_id, issued_on desc, id) where on_hold`,
  customer_held: `customer (tenant_id, legal_name, id) where on_hold`,
  receipt_unidentified: `receipt (tenant_id, (status = 'recorded' and available > 0) desc, received_on desc, created_at desc, id) where customer_id is null`,
  receipt_identified: `receipt (tenant_id, (status = 'recorded' and available > 0) desc, received_on desc, created_at desc, id)
    where customer_id is not null`,
  receipt_left: `receipt (tenant_id, (customer_id is null) desc, received_on desc, created_at desc, id) where status = 'recorded' and available > 0`,
  receipt_used: `receipt (tenant_id, (customer_id is null) desc, received_on desc, created_at desc, id) where not (status = 'recorded' and available > 0)`,
  cash_movement_matched: `cash_movement (tenant_id, booked_on desc, seq desc, id) where matched = abs(amount)`,
  cash_movement_waiting: `cash_movement (tenant_id, booked_on desc, seq desc, id) where not (matched = abs(amount))`,
  payment_late: `payment (tenant_id, created_at desc, id) where late`,
  payment_left: `payment (tenant_id, created_at desc, id) where status = 'captured' and allocated_amount + refund_reserved < captured_amount`,
}

/** Counts of rows that have a fact. Those without it are all others. */
export const up = async (knex: Knex) => {
  for (const [list, counting] of Object.entries(facts)) await countFact(knex, { list, ...counting })
  for (const [name, on] of Object.entries(orders)) await knex.raw(`create index ${name} on ${on}`)
}
