import { prepared } from './connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from './connection.ts'
import type { Part } from './paging.ts'

// Searches for parts of words. Under row-level security no index serves a pattern, so functions of the owner name the records that match.

/** Tables whose texts `ids_like` knows; of those `lowered` it keeps small letters. */
export const lowered = {
  supplier: false,
  customer: false,
  company: false,
  receipt: false,
  booking_group: true,
  payable: true,
  purchase_order: true,
  receivable: true,
  cash_movement: true,
  bank_statement_line: true,
  pos_order: true,
} as const
export type Searched = keyof typeof lowered

/** Records that a search names one by one. Those of more are looked through in the order of the list, whose page is soon full. */
const most = 1_000

const plain = (q: string) => q.replace(/[\\%_]/g, (sign) => `\\${sign}`)
/** Part of the text. */
export const partly = (q: string): string => `%${plain(q)}%`
/** Tells whether a text is written as whole numbers are, so that it may be one. */
export const isNumber = (q: string): boolean => /^(0|[1-9]\d{0,8})$/.test(q)
/** All of one of its lines, or the beginning or a part of one, by what stands before and after it. */
export const inLine = (before: string, q: string, after: string): string => `${before}${plain(q)}${after}`

const named = async (trx: AnyTrx, text: string, values: unknown[]): Promise<string[] | null> => {
  const rows = await prepared<{ found: string }>(trx, text, [...values, most + 1])
  return rows.length > most ? null : rows.map(({ found }) => found)
}

/** Ids of the records whose text matches one of the patterns; null where they are many. */
export const idsLike = (trx: Trx, table: Searched, ...patterns: string[]): Promise<string[] | null> =>
  named(
    trx,
    `select found from ids_like('${table}', ${lowered[table] ? `(select array_agg(lower(p)) from unnest(?::text[]) p)` : '?::text[]'}, ?)`,
    [patterns],
  )

/** Ids of the tenants whose text matches one of the patterns; null where they are many. */
export const tenantsLike = (trx: PlatformTrx, ...patterns: string[]): Promise<string[] | null> =>
  named(trx, `select found from tenants_like((select array_agg(lower(p)) from unnest(?::text[]) p), ?)`, [patterns])

/** Ids of the tenants that have a feature, and of some that had it until now; null where they are many. */
export const tenantsWith = (trx: PlatformTrx, feature: string): Promise<string[] | null> =>
  named(trx, `select found from tenants_with(?, ?)`, [feature])

/** A condition by ids where they are known, each list of them for one column; another one where one of them is not. */
export const byIds = (columns: Readonly<Record<string, string[] | null>>, otherwise: Part): Part => {
  const all = Object.entries(columns)
  if (all.some(([, ids]) => ids === null)) return otherwise
  return {
    text: `(${all.map(([column]) => `${column} = any(?::uuid[])`).join(' or ')})`,
    values: all.map(([, ids]) => ids),
  }
}
