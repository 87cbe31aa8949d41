import { contextOf, sqlOne } from './connection.ts'
import type { AnyTrx, PlatformTrx } from './connection.ts'
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
  journal_entry: ['book_id', 'kind', 'journal_id', 'period_id', 'late'],
  message: ['property_id', 'status', 'kind'],
  issue: ['property_id', 'status', 'kind', 'escalated', 'recurring'],
  posting_event: ['property_id', 'book_id', 'status'],
  receipt: ['property_id', 'book_id'],
  cash_movement: ['kind'],
  inventory_movement: ['property_id', 'kind'],
  pos_order: ['property_id', 'status'],
  housekeeping_task: ['property_id', 'status', 'kind'],
  privacy_request: ['status', 'kind'],
  payment_exception: ['property_id', 'status', 'kind'],
  guest_registration: ['property_id', 'status'],
  company: ['status', 'kind'],
  waitlist_entry: ['property_id', 'status', 'matched'],
  quote: ['property_id'],
  booking_group: ['property_id', 'status'],
  unit_block: ['property_id', 'status', 'kind'],
  unit_assignment: ['property_id', 'status'],
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
  suppression: ['kind', 'lifted'],
  report_run: ['status'],
  campaign: ['property_id', 'status'],
  channel_push: ['channel_connection_id', 'status', 'kind'],
  subscription_invoice: ['status'],
  exchange_rate: [],
  membership: ['status', 'role', 'role_id'],
} as const
export type CountedList = keyof typeof countedLists

/** Rows of counted tables that have a fact which is stored, and the table of each: counted by its columns, under a name of their own. */
export const countedFacts = {
  supplier_blocked: 'supplier',
  supplier_credit_available: 'supplier_credit',
  payable_held: 'payable',
  customer_held: 'customer',
  receipt_unidentified: 'receipt',
  receipt_available: 'receipt',
  cash_movement_matched: 'cash_movement',
  payment_late: 'payment',
  payment_unallocated: 'payment',
} as const satisfies Readonly<Record<string, CountedList>>
export type CountedFact = keyof typeof countedFacts

/**
 * Lists whose rows are counted by the months of these columns as well, under the name `<list>_by_<column>` with the first day of the month, and the types of the
 * columns: days are cut by UTC where they are times.
 */
export const countedMonths = {
  booking: { created_at: 'time' },
  issue: { created_at: 'time' },
  lost_item: { at: 'time' },
  journal_entry: { posting_date: 'date' },
  reservation: { arrival: 'date', departure: 'date', updated_at: 'time', created_at: 'time' },
  guest: { updated_at: 'time' },
  guest_registration: { arrival: 'date' },
  waitlist_entry: { arrival: 'date' },
  quote: { arrival: 'date' },
  booking_group: { arrival: 'date', departure: 'date' },
  unit_block: { from: 'date', to: 'date' },
  unit_assignment: { starts_on: 'date', ends_on: 'date' },
  rate_change: { created_at: 'time' },
  business_day: { date: 'date' },
  night_audit: { business_date: 'date' },
  payment: { created_at: 'time' },
  refund: { created_at: 'time' },
  payout: { created_on: 'date' },
  balance_transaction: { occurred_at: 'time' },
  reconciliation: { date: 'date' },
  message: { created_at: 'time' },
  payable: { issued_on: 'date' },
  payable_payment: { pay_on: 'date' },
  purchase_order: { expected_on: 'date' },
  receivable: { issued_on: 'date' },
  receipt: { received_on: 'date' },
  credit_note: { issued_on: 'date' },
  fiscal_document: { created_at: 'time' },
  entry_draft: { posting_date: 'date' },
  exchange_rate: { date: 'date' },
  report_run: { created_at: 'time' },
  inventory_movement: { occurred_on: 'date' },
  inventory_consumption: { business_date: 'date' },
  cash_movement: { booked_on: 'date' },
  cash_session: { business_date: 'date' },
  cash_transfer: { dated_on: 'date' },
  bank_statement_line: { booked_on: 'date' },
  pix_charge: { due_on: 'date' },
  compensation: { created_at: 'time' },
} as const satisfies Partial<Record<CountedList, Readonly<Record<string, 'date' | 'time'>>>>

/** Lists of operators over all tenants, whose rows triggers count in `platform_count`, and the columns. */
export const platformLists = {
  tenant: ['status', 'plan'],
  app_user: ['status'],
  subscription_invoice: ['status'],
  billing_run: [],
  support_session: [],
} as const
export type PlatformList = keyof typeof platformLists

/** Lists of operators whose rows are counted by months as well, as `countedMonths` says of those of tenants. */
export const platformMonths = {
  subscription_invoice: { issued_at: 'time' },
} as const satisfies Partial<Record<PlatformList, Readonly<Record<string, 'date' | 'time'>>>>

/** A list of a table, alone or under an alias, whose rows are counted. */
export type Counted = { list: CountedList | PlatformList; as: string }

/** Tells how the rows of a table are counted, if they are. */
export const countedBy = (table: string): CountedList | undefined =>
  table in countedLists ? (table as CountedList) : undefined

type Kept = { counts: 'list_count' | 'platform_count'; list: string; columns: readonly string[] }

/** The type of a column by whose months the rows of a table are counted, in a tenant or over all. */
export const monthsOf = (table: string, column: string, isPlatform = false): 'date' | 'time' | undefined => {
  const counted: Readonly<Record<string, Readonly<Record<string, 'date' | 'time'>>>> = isPlatform
    ? platformMonths
    : countedMonths
  return counted[table]?.[column]
}

/** The table of counts for the rows that a transaction sees, their name there and their columns, by the months of a column or not; null where they are not counted. */
export const countsOf = (trx: AnyTrx, table: string, byColumn?: string): Kept | null => {
  const isPlatform = contextOf(trx).tenantId === null
  if (byColumn !== undefined && monthsOf(table, byColumn, isPlatform) === undefined) return null
  const lists: Readonly<Record<string, readonly string[]>> = isPlatform ? platformLists : countedLists
  const columns = lists[table]
  if (columns === undefined) return null
  const list = byColumn === undefined ? table : `${table}_by_${byColumn}`
  return isPlatform
    ? { counts: 'platform_count', list, columns }
    : { counts: 'list_count', list, columns: ['tenant_id', ...columns] }
}

const names = /(?:\b([a-z]\w*)\.)?\b([a-z]\w*)\b/gi
/** Words of conditions that name no column. */
const words = new Set(['and', 'or', 'not', 'is', 'null', 'true', 'false', 'any', 'cast', 'as', 'text', 'uuid'])

/**
 * Tells if conditions on a table ask for nothing but the columns by which its rows are counted. They may name columns, by the table's alias where it has one,
 * and a few words; anything else makes the list be counted row by row.
 */
export const asksForCounted = (
  { list, as }: Counted,
  columns: readonly string[],
  given: { text: string; values: unknown[] },
): boolean => asksForColumns(as, columns, given, as === list)

/** Tells if conditions name nothing but such columns of an alias; `bare` ones, too, where the alias is the table itself. */
export const asksForColumns = (
  as: string,
  columns: readonly string[],
  given: { text: string; values: unknown[] },
  bare = false,
): boolean => {
  const text = textOf(given.text, given.values).replaceAll(/'[^']*'/g, '')
  if (text.includes('"')) return false
  return [...text.matchAll(names)].every(([, table, name = '']) =>
    table === undefined
      ? words.has(name.toLowerCase()) || (bare && columns.includes(name))
      : table === as && columns.includes(name),
  )
}

/** So many changes of a list may wait: adding them up costs a page less than it costs to fold them. */
const leastWaiting = 50

/** Makes one row of many changes of a count. Answers how many rows went. */
export const foldCounts = async (trx: PlatformTrx): Promise<number> => {
  const row = await sqlOne<{ gone: number }>(
    trx,
    `select fold_list_counts(:leastWaiting) + fold_platform_counts(:leastWaiting) as gone`,
    { leastWaiting },
  )
  return row?.gone ?? 0
}
