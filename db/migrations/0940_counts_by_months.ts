import type { Knex } from 'knex'
import { countByMonths, dropDays } from './counts-by-month-support.ts'

/** Tables, the columns by which their rows are counted, and the days by whose months they are. */
const counted = {
  booking: [['property_id'], { created_at: 'time' }],
  reservation: [['property_id', 'status'], { arrival: 'date', departure: 'date', updated_at: 'time' }],
  guest: [['status'], { updated_at: 'time' }],
  booking_group: [['property_id', 'status'], { arrival: 'date', departure: 'date' }],
  waitlist_entry: [['property_id', 'status', 'matched'], { arrival: 'date' }],
  quote: [['property_id'], { arrival: 'date' }],
  unit_block: [['property_id', 'status', 'kind'], { from: 'date', to: 'date' }],
  unit_assignment: [['property_id', 'status'], { starts_on: 'date', ends_on: 'date' }],
  rate_change: [['property_id', 'status'], { created_at: 'time' }],
  business_day: [['property_id', 'status'], { date: 'date' }],
  night_audit: [['property_id', 'status'], { business_date: 'date' }],
  issue: [['property_id', 'status', 'kind', 'escalated', 'recurring'], { created_at: 'time' }],
  lost_item: [['property_id', 'status'], { at: 'time' }],
  compensation: [['property_id', 'status'], { created_at: 'time' }],
  message: [['property_id', 'status', 'kind'], { created_at: 'time' }],
} as const

/** Counts by months, for lists of what a house sells, keeps and is told that are asked for days. */
export const up = async (knex: Knex) => {
  // Rows that are being written come first: from here on each is seen by the counts below or by the triggers.
  await knex.raw(`lock table ${Object.keys(counted).join(', ')} in share row exclusive mode`)
  for (const table of ['booking', 'issue', 'lost_item']) await dropDays(knex, table)
  for (const [table, [columns, days]] of Object.entries(counted)) await countByMonths(knex, table, columns, days)
}
