import type { Knex } from 'knex'
import type { Gathering, Refused } from './outbox.ts'
import { spliced } from './fragment.ts'
import type { Bindings } from './prepared.ts'
import { inCamelCase } from './pool.ts'
import { outboxOf } from './transaction.ts'

/** Names of columns, and conditions of knex, whose own text goes in their place. */
const isBuilt = (text: string, bindings: Bindings) =>
  /\?\?|:[a-z]\w*:(?!:)/i.test(text) ||
  Object.values(bindings).some((value) => typeof value === 'object' && value !== null && 'toSQL' in value)

/** Rows of a statement, columns in camelCase. `?` binds; write `\\?` for the operator. */
export const sql = async <Row = Record<string, unknown>>(
  trx: Knex,
  given: string,
  values: Bindings = [],
): Promise<Row[]> => {
  const { text, bindings } = spliced(given, values)
  const outbox = outboxOf(trx)
  if (outbox && !isBuilt(text, bindings)) return inCamelCase<Row>(await outbox.askOnce(text, bindings))
  // Among named bindings knex would take `:id::uuid` for an identifier, and `::date` for a binding of that name.
  const safe = Array.isArray(bindings) ? text : text.replace(/::(?=\w)/g, ' :\\:')
  const result = await trx.raw(safe, bindings as never)
  return (result as { rows: Row[] }).rows
}

/**
 * Rows of a statement that runs again and again, columns in camelCase: each connection keeps its plan, and planning is most of the cost of many. A text
 * may vary by which of a few parts it has, never by values or by the number of them; one text may not bind different types. Statements that are asked for
 * without waiting in between, as by `Promise.all`, go together, in the order in which they were asked.
 */
export const prepared = async <Row = Record<string, unknown>>(
  trx: Knex,
  text: string,
  bindings: Bindings = [],
): Promise<Row[]> => {
  const outbox = outboxOf(trx)
  return outbox ? inCamelCase<Row>(await outbox.ask(spliced(text, bindings))) : sql<Row>(trx, text, bindings)
}

/**
 * Queues a write that answers nothing. It goes with the next statement, at the latest with the commit, and its error surfaces there;
 * `refused` says what it means.
 */
export const later = (trx: Knex.Transaction, text: string, bindings: Bindings = [], refused?: Refused): void => {
  const outbox = outboxOf(trx)
  if (!outbox) throw new Error('this transaction was not opened by inTenant or inPlatform')
  outbox.add({ text, bindings }, refused)
}

/** Adds a row to those that go in one statement with the commit, or before a statement that reads them. */
export const gather = (trx: Knex.Transaction, into: Gathering, row: object): void => {
  const outbox = outboxOf(trx)
  if (!outbox) throw new Error('this transaction was not opened by inTenant or inPlatform')
  outbox.gather(into, row)
}

export const preparedOne = async <Row = Record<string, unknown>>(
  trx: Knex,
  text: string,
  bindings: Bindings = [],
): Promise<Row | null> => (await prepared<Row>(trx, text, bindings))[0] ?? null

/** The only row of a statement, or null. */
export const sqlOne = async <Row = Record<string, unknown>>(
  trx: Knex,
  text: string,
  bindings: Bindings = [],
): Promise<Row | null> => (await sql<Row>(trx, text, bindings))[0] ?? null
