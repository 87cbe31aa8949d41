import { sqlOne } from './connection.ts'
import type { PlatformTrx } from './connection.ts'
import { textOf } from './fragment.ts'

/** Lists whose rows triggers count, by columns of their table (`list_count`), and the columns. */
export const countedLists = {
  reservation: ['property_id', 'status'],
  booking: ['property_id'],
  folio: ['property_id', 'status', 'kind'],
  payment: ['property_id', 'status'],
  refund: ['property_id', 'status'],
  guest: ['status'],
  receivable: ['property_id', 'book_id', 'status', 'kind'],
  payable: ['property_id', 'book_id', 'status', 'kind'],
  journal_entry: ['book_id', 'kind'],
  message: ['property_id', 'status'],
  issue: ['property_id', 'status', 'kind'],
  posting_event: ['property_id', 'book_id', 'status'],
  receipt: ['property_id', 'book_id'],
  cash_movement: ['kind'],
  inventory_movement: ['property_id', 'kind'],
  pos_order: ['property_id', 'status'],
  housekeeping_task: ['property_id', 'status', 'kind'],
  privacy_request: ['status', 'kind'],
  payment_exception: ['property_id', 'status', 'kind'],
} as const
export type CountedList = keyof typeof countedLists

const names = /\b([a-z]\w*)\.([a-z]\w*)\b/g

/**
 * Tells if conditions on a table ask for nothing but the columns by which its rows are counted. Each names its columns by the table's alias; a condition that
 * looks at other tables holds a select, or names another alias.
 */
export const asksForCounted = (
  list: CountedList,
  alias: string,
  given: { text: string; values: unknown[] },
): boolean => {
  const text = textOf(given.text, given.values).replaceAll(/'[^']*'/g, '')
  if (/\bselect\b/i.test(text)) return false
  const known: readonly string[] = ['tenant_id', ...countedLists[list]]
  return [...text.matchAll(names)].every(([, table = '', column = '']) => table === alias && known.includes(column))
}

/** So many changes of a list may wait: adding them up costs a page less than it costs to fold them. */
const leastWaiting = 50

/** Makes one row of many changes of a count. Answers how many rows went. */
export const foldCounts = async (trx: PlatformTrx): Promise<number> => {
  const row = await sqlOne<{ gone: number }>(trx, `select fold_list_counts(?) as gone`, [leastWaiting])
  return row?.gone ?? 0
}
