import { ApiError, conflict, unprocessable } from '../../../config/errors.ts'
import type { ErrorCode } from '../../../config/error-codes.ts'
import type { Trx } from '../../lib/connection.ts'
import type { AccountFacts } from '../facts.ts'

/** Records of other modules that a line may pay: they book the money themselves. */
export type StatementTargetName = 'payout' | 'payable' | 'receivable'

/** One target of a match as it was sent. Amounts in minor units, without sign. */
export type SettlementAsked = {
  /** The payout, or the installment. */
  id: string
  principal?: number | undefined
  interest?: number | undefined
  fine?: number | undefined
  discount?: number | undefined
  fee?: number | undefined
  withheld?: { taxCodeId: string; amount: number }[] | undefined
}

export type SettlementContext = {
  account: AccountFacts
  /** The day of the line. */
  on: string
  /** The bank's text, for the document. */
  text: string
  /** Features of the tenant that the caller may use. */
  features: readonly string[]
}

export type StatementTarget = {
  /** Locks what `settle` changes, before any movement and account is locked. */
  lock: (trx: Trx, ids: readonly string[]) => Promise<void>
  /** Pays what was asked, as one document, and answers the movements that it booked. Errors name `targets.<n>` by `index`. */
  settle: (
    trx: Trx,
    asked: readonly SettlementAsked[],
    context: SettlementContext,
  ) => Promise<{ movementId: string; amount: number }[]>
  /** Locks what `undo` changes. */
  lockMade: (trx: Trx, movementIds: readonly string[]) => Promise<void>
  /** Takes back the documents that booked these movements. */
  undo: (trx: Trx, movementIds: readonly string[], reason: string) => Promise<void>
  /** Source types of the movements that it books. */
  books: readonly string[]
  /**
   * Open documents of the amount of a line `l`: the statement selects `id`, `amount` (signed as the bank would say it), `date` and `words` where that is `l.amount`;
   * `l.owed` is the amount turned. `:tenantId`, `:bookId`, `:currency` and `:accountId` are bound.
   */
  open: string
}

const targets = new Map<StatementTargetName, StatementTarget>()

/** Says how lines of statements pay the records of a module. */
export const registerStatementTarget = (name: StatementTargetName, target: StatementTarget): void => {
  targets.set(name, target)
}

export const statementTarget = (name: StatementTargetName): StatementTarget | null => targets.get(name) ?? null

/** The document that booked a movement for a match, by the kind of its source; null where the match booked it itself. */
export const targetThatBooked = (sourceType: string): StatementTarget | null =>
  [...targets.values()].find(({ books }) => books.includes(sourceType)) ?? null

export const statementTargets = (): ReadonlyMap<StatementTargetName, StatementTarget> => targets

/** Refusals of money, which say best themselves what is wrong. */
const ofMoney: readonly ErrorCode[] = [
  'account_not_usable',
  'cash_busy',
  'date_locked',
  'date_out_of_range',
  'in_use',
  'movement_reconciled',
  'period_closed',
  'period_missing',
  'reference_not_found',
]

/** A document's refusal as a refusal of the match. Fields of the document's own request do not belong to this request. */
const refusalOf = ({ code, message }: ApiError): ApiError => {
  const errors = [{ field: 'targets', message: code }]
  switch (code) {
    case 'amount_exceeds_open':
      return unprocessable('amount_exceeds_open', message, errors)
    case 'payable_not_approved':
      return unprocessable('payable_not_approved', message, errors)
    case 'not_payable':
      return unprocessable('not_payable', message, errors)
    case 'installment_in_payment':
      return conflict('installment_in_payment', message, errors)
    default:
      return unprocessable('in_use', message, errors)
  }
}

/** Settles targets of a module, and says in the words of the match what its documents refuse. */
export const settled = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 400 || error.status >= 500 || ofMoney.includes(error.code))
      throw error
    throw refusalOf(error)
  }
}
