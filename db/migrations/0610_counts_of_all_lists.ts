import type { Knex } from 'knex'
import { countRows } from './list-counts-support.ts'

/**
 * The other tables of lists that grow with what a house does, and by what their rows are counted. Tables whose old partitions are dropped are none of them,
 * since no trigger sees those rows go.
 */
const counted = {
  guest_registration: ['property_id', 'status'],
  company: ['status', 'kind'],
  waitlist_entry: ['property_id', 'status'],
  quote: ['property_id'],
  booking_group: ['property_id', 'status'],
  unit_block: ['property_id', 'status', 'kind'],
  unit_assignment: ['status'],
  housekeeping_sheet: ['property_id'],
  rate_change: ['property_id', 'status'],
  night_audit: ['property_id', 'status'],
  business_day: ['property_id', 'status'],
  entry_draft: ['book_id', 'status'],
  supplier: ['status'],
  supplier_credit: ['book_id', 'status', 'kind'],
  payable_payment: ['book_id', 'status'],
  purchase_order: ['property_id', 'status'],
  customer: ['status', 'kind'],
  credit_note: ['property_id', 'book_id'],
  fiscal_document: ['property_id', 'book_id', 'status'],
  dunning_run: ['book_id'],
  dunning_notice: ['status'],
  cash_session: ['property_id', 'status'],
  cash_transfer: ['property_id', 'status'],
  bank_statement: ['property_id', 'status'],
  bank_statement_line: ['property_id', 'status'],
  pix_charge: ['property_id', 'status', 'kind'],
  dispute: ['property_id', 'status'],
  payout: ['status'],
  balance_transaction: ['kind'],
  reconciliation: ['status'],
  inventory_consumption: ['property_id', 'kind'],
  inventory_count: ['property_id', 'status'],
  compensation: ['property_id', 'status'],
  lost_item: ['property_id', 'status'],
  channel_booking: ['property_id', 'status'],
  conversation: ['property_id', 'status', 'kind'],
  suppression: ['kind'],
  report_run: ['status'],
  campaign: ['property_id', 'status'],
} as const

/** Totals of the lists of all modules. */
export const up = async (knex: Knex) => {
  for (const [table, columns] of Object.entries(counted)) await countRows(knex, table, columns)
}
