import { ApiError, conflict, notFound, unprocessable } from '../../config/errors.ts'
import { contextOf, nativeError, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { AccountRecord } from './models.ts'

/** The facts of an account that a booking needs; nothing is locked. */
export type AccountFacts = Pick<
  AccountRecord,
  'id' | 'bookId' | 'propertyId' | 'kind' | 'code' | 'currency' | 'ledgerAccountId' | 'status' | 'blind'
> & {
  timeZone: string
  singleOperator: boolean
  approvalThreshold: number | null
  /** The open session of a register. */
  sessionId: string | null
  cashierId: string | null
  sessionBlind: boolean | null
}

/** An account with its book and, of a register, its open session. Null where there is none. */
export const findAccountFacts = (trx: Trx, cashAccountId: string): Promise<AccountFacts | null> =>
  preparedOne<AccountFacts>(
    trx,
    `select a.id, a.book_id, a.property_id, a.kind, a.code, a.currency, a.ledger_account_id, a.status, a.blind, b.time_zone, b.single_operator,
       b.approval_threshold, s.id as session_id, s.cashier_id, s.blind as session_blind
     from cash_account a join book b on b.tenant_id = a.tenant_id and b.id = a.book_id
     left join cash_session s on s.tenant_id = a.tenant_id and s.register_id = a.id and s.status = 'open'
     where a.tenant_id = ? and a.id = ?`,
    [contextOf(trx).tenantId, cashAccountId],
  )

export const accountArchived = () => unprocessable('account_archived', 'The cash account is archived')

/** The account of a booking; 404 where there is none, 422 `account_archived`. */
export const accountFacts = async (trx: Trx, cashAccountId: string): Promise<AccountFacts> => {
  const facts = await findAccountFacts(trx, cashAccountId)
  if (!facts) throw notFound('No such cash account')
  if (facts.status !== 'active') throw accountArchived()
  return facts
}

const noAccount = (field: string) =>
  unprocessable('reference_not_found', 'There is no such cash account', [{ field, message: 'is no cash account' }])

/** An account that a body names: 422 `reference_not_found` at its field where there is none. */
export const namedAccount = async (trx: Trx, cashAccountId: string, field: string): Promise<AccountFacts> => {
  const facts = await findAccountFacts(trx, cashAccountId)
  if (!facts) throw noAccount(field)
  if (facts.status !== 'active') throw accountArchived()
  return facts
}

/**
 * Refuses an account of a property that the caller does not have; those of the whole book are everybody's. 422 `reference_not_found`.
 * @param propertyIds the properties of the caller; null for all.
 */
export const refuseAccountElsewhere = async (
  trx: Trx,
  cashAccountId: string | null | undefined,
  propertyIds: readonly string[] | null,
  field = 'cashAccountId',
): Promise<void> => {
  if (propertyIds === null || !cashAccountId) return
  const facts = await findAccountFacts(trx, cashAccountId)
  if (facts && facts.propertyId !== null && !propertyIds.includes(facts.propertyId)) throw noAccount(field)
}

/** Refuses a movement of another house, or on an account that `refuseAccountElsewhere` refuses. 422 `reference_not_found`. */
export const refuseMovementElsewhere = async (
  trx: Trx,
  cashMovementId: string | undefined,
  propertyIds: readonly string[] | null,
): Promise<void> => {
  if (propertyIds === null || cashMovementId === undefined) return
  const found = await preparedOne<{ houses: string[] }>(
    trx,
    `select array_remove(array[m.property_id, a.property_id], null) as houses from cash_movement m join cash_account a on a.tenant_id = m.tenant_id and a.id = m.cash_account_id
     where m.tenant_id = ? and m.id = ?`,
    [contextOf(trx).tenantId, cashMovementId],
  )
  if (found?.houses.some((id) => !propertyIds.includes(id)))
    throw unprocessable('reference_not_found', 'There is no such money', [
      { field: 'cashMovementId', message: 'is no movement' },
    ])
}

const short = (there: string) =>
  unprocessable(
    'cash_short',
    there === '' ? 'There is less money in the account' : `There are ${there} in the account`,
    [{ field: 'amount', message: there === '' ? 'is more than there is' : `must be at most ${there}` }],
  )

/** The errors for refusals by constraints of accounts and sessions, by their codes. */
const refusals: Record<string, (detail: string) => ApiError> = {
  '55P03': () => new ApiError('cash_busy', 'The cash account is in use; repeat the request', { retryAfterSeconds: 1 }),
  PL070: short,
  PL071: () => unprocessable('session_closed', 'The session of the register is closed'),
  PL072: accountArchived,
  PL073: () => unprocessable('in_use', 'The movement is matched with the bank'),
  PL076: () => conflict('movement_reconciled', 'The movement is in a reconciled statement; reopen that first'),
  PL075: () => unprocessable('session_required', 'The register has no open session'),
  cash_not_expected_negative: () => short(''),
}

/**
 * The refusal that an error of the walls stands for: 422 `cash_short`, `session_closed`, `session_required`, `account_archived`, `in_use`; 409 `cash_busy` for a
 * wait of over 2 s. Undefined for any other error.
 */
export const refusedByCash = (error: unknown): ApiError | undefined => {
  const { code = '', constraint = '', detail = '' } = nativeError(error) as Record<string, string | undefined>
  return (refusals[constraint] ?? refusals[code])?.(detail)
}

/** Names what the walls refuse, as `refusedByCash` has it. */
export const busyAsCash = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work
  } catch (error) {
    throw refusedByCash(error) ?? error
  }
}
