import type { Knex } from 'knex'
import { countRows } from './list-counts-support.ts'

/** Further tables whose rows are counted, and by what. A row costs one more row in `list_count` when it is made, and two when one of these columns changes. */
const counted = {
  posting_event: ['property_id', 'book_id', 'status'],
  receipt: ['property_id', 'book_id'],
  cash_movement: ['kind'],
  inventory_movement: ['property_id', 'kind'],
  pos_order: ['property_id', 'status'],
  housekeeping_task: ['property_id', 'status', 'kind'],
  privacy_request: ['status', 'kind'],
  payment_exception: ['property_id', 'status', 'kind'],
} as const

/** Totals of the lists of tables that grow with each day of a house, by the columns that people filter them by. */
export const up = async (knex: Knex) => {
  for (const [table, columns] of Object.entries(counted)) await countRows(knex, table, columns)
}
