import { later } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { TransitionId } from './rules/states.ts'

/** Transitions after which other nights count than before, or the same ones at another price. */
const counting: ReadonlySet<string> = new Set([
  'T4',
  'T8',
  'T11',
  'T12',
  'T15',
  'T16',
  'T17',
  'T18',
  'T19',
  'T20',
  'T21',
])

/**
 * Writes down by how much the nights on the books differ from what was written before, dated on the open business day. It goes with the next statement,
 * after all that the command has written; repeated, it writes nothing. The rule stands in the function `record_on_the_books` of the database.
 */
export const recordOnTheBooks = (trx: Trx, transition: TransitionId, reservationIds: readonly string[]): void => {
  if (counting.has(transition)) recordAnew(trx, reservationIds)
}

/** Writes down nights that count as before, under another market segment. */
export const recordAnew = (trx: Trx, reservationIds: readonly string[]): void =>
  later(trx, `select record_on_the_books(?::uuid[])`, [reservationIds])
