import type { EventEmitter } from 'node:events'

/**
 * The one order of locks (section 3 of the design's README), by class. What stands in one line has no order among itself: it is locked under what comes
 * before it. Records of what a house is (types, the property, rows of pools) come before the nights: bookings lock none of them.
 */
const order: readonly (readonly string[])[] = [
  ['jobs', 'kept_reply'],
  ['portal limits'],
  ['business_day'],
  ['booking'],
  ['booking_group'],
  ['reservation'],
  ['guest'],
  ['unit_type', 'rate_plan', 'extra', 'policy', 'channel_connection'],
  ['property'],
  ['unit_pool'],
  ['pool_night'],
  ['promo_code'],
  ['units of pools'],
  ['unit', 'unit_assignment', 'unit_block', 'housekeeping_task'],
  ['issue', 'compensation', 'lost_item', 'pos_order'],
  ['folio'],
  ['dunning_run', 'receivable_sending'],
  ['customer', 'supplier'],
  ['receivable', 'payable'],
  ['purchase_order'],
  ['payment', 'refund', 'dispute'],
  ['payable_payment'],
  ['receipt', 'supplier_credit'],
  ['cash_transfer'],
  ['cash_session'],
  ['cash_account'],
  ['inventory_movement', 'inventory_count'],
  ['inventory_location'],
  ['inventory_item'],
  ['inventory_stock'],
  ['fiscal_document', 'dunning_notice'],
  ['number_series', 'issue_number'],
  ['posting_event'],
]
const rankOf = new Map(order.flatMap((classes, rank) => classes.map((name) => [name, rank] as const)))

/** First numbers of advisory locks, by the class that they stand for. */
const advisory = new Map<unknown, string>([
  [7101, 'portal limits'],
  [7102, 'portal limits'],
  [7103, 'units of pools'],
])

/** `made`: rows that the transaction has added, which no other transaction can lock before its commit. `keys`: rows of nights and pools, each as one text. */
export type Lock = { of: string; made: boolean; keys: string[]; statement: string }

const word = `"?([a-z_]+)"?`
const aliasesOf = (sql: string) =>
  new Map(
    [...sql.matchAll(new RegExp(`\\b(?:from [a-z_]+,|from|join) ${word}(?: (?:as )?${word})?`, 'g'))].flatMap(
      ([, table = '', alias]) => [[table, table] as const, ...(alias === undefined ? [] : [[alias, table] as const])],
    ),
  )

/** Nights and pools are locked in sets, by lists of the same length; of other classes the record alone is told. */
const keysOf = (of: string, bindings: readonly unknown[]): string[] => {
  if (of !== 'pool_night' && of !== 'units of pools') return []
  const lists = bindings.filter((value): value is unknown[] => Array.isArray(value))
  return (lists[0] ?? []).map((_, index) =>
    lists
      .slice(0, 2)
      .map((list) => String(list[index]))
      .join(' '),
  )
}

/** Locks that a statement takes, by class: rows that it asks for, rows that it changes or adds, and names. */
export const locksOf = (text: string, bindings: readonly unknown[]): Lock[] => {
  const statement = text.replace(/\s+/g, ' ').trim()
  const sql = statement.toLowerCase()
  const found: { of: string; made: boolean }[] = []
  const lock = (of: string | undefined, made = false) => {
    if (of !== undefined && rankOf.has(of)) found.push({ of, made })
  }
  for (const [, table] of sql.matchAll(new RegExp(`\\binsert into ${word}`, 'g'))) lock(table, true)
  for (const [, first = ''] of sql.matchAll(/pg_advisory_xact_lock\(([^,()]+)/g)) {
    const index = /\$(\d+)/.exec(first)?.[1]
    lock(advisory.get(index === undefined ? Number(first) : bindings[Number(index) - 1]))
  }
  // The function locks them after their locations and items.
  if (sql.includes('hold_stock(')) lock('inventory_stock')
  const aliases = aliasesOf(sql)
  for (const match of sql.matchAll(/\bfor (?:no key update|update|share)\b(?: of ([a-z_]+))?(?! skip locked)/g)) {
    const [, alias] = match
    lock(alias === undefined ? aliasesOf(sql.slice(0, match.index)).keys().next().value : aliases.get(alias))
  }
  for (const [, table] of sql.matchAll(new RegExp(`\\b(?:(?<!for |key |do )update|delete from) ${word}`, 'g')))
    lock(table)
  return found.map(({ of, made }) => ({ of, made, keys: keysOf(of, bindings), statement: statement.slice(0, 160) }))
}

/**
 * The first lock that a transaction takes too late, and the lock that it comes after. A lock is late after one of a class that ranks behind its own.
 * It is also late where the transaction holds later nights or pools of the class. Locks that it holds already, or rows it made, do not count.
 */
export const outOfOrder = (locks: readonly Lock[]): { late: Lock; after: Lock } | null => {
  let furthest: Lock | null = null
  const held = new Map<string, Set<string>>()
  for (const lock of locks) {
    const keys = held.get(lock.of)
    const fresh = lock.keys.filter((key) => !keys?.has(key)).sort()
    const isMore = keys !== undefined && fresh.length > 0
    if (!lock.made && (keys === undefined || isMore)) {
      if (furthest && (rankOf.get(furthest.of) ?? 0) > (rankOf.get(lock.of) ?? 0))
        return { late: lock, after: furthest }
      if (furthest && isMore && (fresh[0] ?? '') < ([...keys].sort().at(-1) ?? ''))
        return { late: lock, after: furthest }
      furthest = lock
    }
    held.set(lock.of, new Set([...(keys ?? []), ...lock.keys]))
  }
  return null
}

type Query = { sql: string; bindings?: readonly unknown[]; __knexUid: string }

export type Recorder = {
  /** Those that have locked something. */
  transactions: number
}

/** Notes what each transaction of a pool locks, in its order, and tells of each that does so in another than the one. */
export const recordLocks = (knex: EventEmitter, tell: (wrong: { late: Lock; after: Lock }) => void): Recorder => {
  const open = new Map<string, Lock[]>()
  const seen: Recorder = { transactions: 0 }
  knex.on('query', ({ sql, bindings = [], __knexUid: connection }: Query) => {
    if (/^begin/i.test(sql)) open.set(connection, [])
    else if (/^(commit|rollback)\b(?! to)/i.test(sql)) {
      const locks = open.get(connection)
      open.delete(connection)
      if (!locks || locks.length === 0) return
      seen.transactions += 1
      const wrong = outOfOrder(locks)
      if (wrong) tell(wrong)
    } else open.get(connection)?.push(...locksOf(sql, bindings))
  })
  return seen
}
