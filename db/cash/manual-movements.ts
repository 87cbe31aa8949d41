import { randomUUID } from 'node:crypto'
import { conflict, forbidden, invalid, unprocessable } from '../../config/errors.ts'
import { accountFor, businessDay, judgeLines, refuseProblems } from '../financial/index.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readRow } from '../lib/records.ts'
import { busyAsCash, namedAccount } from './facts.ts'
import type { AccountFacts } from './facts.ts'
import { CashMovement } from './models.ts'
import { bookMovement, dayOfBooking, reverseMovement } from './movements.ts'
import type { Sight } from './sight.ts'

export type ManualMovement = {
  cashAccountId: string
  /** Minor units: more than 0 comes in, less than 0 goes out. */
  amount: number
  bookedOn?: string | undefined
  accountId?: string | undefined
  counterBookId?: string | undefined
  costCenterId?: string | undefined
  propertyId?: string | undefined
  description: string
  voucher?: string | undefined
  counterpartyName?: string | undefined
  counterpartyDocument?: string | undefined
}

type Asked = {
  sight: Sight
  /** The properties whose books the caller keeps. */
  scope: Condition
  /** Judges the account by the caller's role. */
  judge: (record: { propertyId: string | null }) => void
}

/** The account of role intercompany, for money of another book of the tenant. 422 `reference_not_found`. */
const intercompany = async (
  trx: Trx,
  { bookId, currency }: AccountFacts,
  counterBookId: string | undefined,
): Promise<string> => {
  const book = await sqlOne(trx, `select 1 from book where tenant_id = ? and id = ? and id <> ? and currency = ?`, [
    contextOf(trx).tenantId,
    counterBookId,
    bookId,
    currency,
  ])
  if (!book)
    throw unprocessable('reference_not_found', 'There is no such other book', [
      { field: 'counterBookId', message: 'must be another book of the tenant in the same currency' },
    ])
  return accountFor(trx, bookId, 'intercompany')
}

/** The account of the other side, judged like a line that a person writes. */
const otherSide = async (trx: Trx, account: AccountFacts, given: ManualMovement, scope: Condition): Promise<string> => {
  if ((given.accountId === undefined) === (given.counterBookId === undefined))
    throw invalid([{ field: 'accountId', message: 'exactly one of accountId and counterBookId is given' }])
  const { costCenterId = null, propertyId = null } = given
  const isOfBooks = given.counterBookId !== undefined
  if (isOfBooks && costCenterId !== null)
    throw invalid([{ field: 'costCenterId', message: 'belongs to revenue and expense accounts' }])
  const side = given.amount > 0 ? { credit: given.amount } : { debit: -given.amount }
  const accountId = isOfBooks ? await intercompany(trx, account, given.counterBookId) : (given.accountId ?? '')
  const { problems } = await judgeLines(trx, account.bookId, [{ accountId, ...side, costCenterId, propertyId }], scope)
  const found = problems.map((one) => ({ ...one, field: one.field.replace(/^lines\.0\./, '') }))
  // The account of other books is none that a person may name.
  refuseProblems(isOfBooks ? found.filter(({ field }) => field === 'propertyId') : found)
  return accountId
}

/** Refuses what a caller of own sessions alone may not book on. */
export const expectOwn = (account: AccountFacts, { ownOf }: Sight): void => {
  if (ownOf === null) return
  if (account.kind !== 'register' || (account.sessionId !== null && account.cashierId !== ownOf))
    throw forbidden('forbidden', 'You record money on your own open session')
}

/**
 * Books money that no other document speaks of (kind `manual`), with its posting. Answers the id.
 * 422 `reference_not_found`, `account_not_usable`, and what `recordMovement` throws.
 */
export const createMovement = async (
  trx: Trx,
  given: ManualMovement,
  { sight, scope, judge }: Asked,
): Promise<string> => {
  if (given.amount === 0) throw invalid([{ field: 'amount', message: 'must not be 0' }])
  const account = await namedAccount(trx, given.cashAccountId, 'cashAccountId')
  judge({ propertyId: account.propertyId })
  expectOwn(account, sight)
  if (account.kind === 'register' && given.bookedOn !== undefined)
    throw invalid([{ field: 'bookedOn', message: 'is not sent for a register: it is booked on the open business day' }])
  const day = await dayOfBooking(trx, account, { bookedOn: given.bookedOn })
  const { counterpartyName, counterpartyDocument, bookedOn: _, ...fields } = given
  const named = counterpartyName !== undefined || counterpartyDocument !== undefined
  const movement = {
    ...fields,
    voucher: given.voucher ?? '',
    costCenterId: given.costCenterId ?? null,
    counterBookId: given.counterBookId ?? null,
    propertyId: given.propertyId ?? account.propertyId,
    accountId: await otherSide(trx, account, given, scope),
    kind: 'manual' as const,
    source: { type: 'manual', id: randomUUID() },
    counterparty: named ? { name: counterpartyName ?? null, document: counterpartyDocument ?? null } : null,
  }
  return (await bookMovement(trx, account, movement, day)).movementId
}

/** The movement that turns another one, which is locked; null where it stands. */
const reversalOf = async (trx: Trx, id: string): Promise<string | null> => {
  const values = [contextOf(trx).tenantId, id]
  await busyAsCash(sql(trx, `select id from cash_movement where tenant_id = ? and id = ? for no key update`, values))
  const found = await sqlOne<{ id: string }>(
    trx,
    `select id from cash_movement where tenant_id = ? and reverses_id = ?`,
    values,
  )
  return found?.id ?? null
}

/** Turns a movement that a person has recorded; repeated it answers the one that turns it. 409 `invalid_transition` for one of another document, which is undone there; then as `reverseMovement`. */
export const reverseManual = async (trx: Trx, id: string, reason: string): Promise<string> => {
  const movement = await readRow(trx, CashMovement, id)
  if (movement.kind !== 'manual')
    throw conflict('invalid_transition', 'Only other money is reversed here; any other is undone by its document', [
      { field: 'kind', message: 'must be manual' },
    ])
  const { propertyId } = await namedAccount(trx, movement.cashAccountId, 'cashAccountId')
  if (movement.sessionId !== null && propertyId !== null) await businessDay(trx, propertyId)
  const turned = await reversalOf(trx, id)
  return turned ?? (await reverseMovement(trx, { movementId: id, description: reason })).movementId
}
