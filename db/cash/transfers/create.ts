import { randomUUID } from 'node:crypto'
import { readBrCode } from '../../../config/br-code.ts'
import { largestBooking } from '../../../config/cash.ts'
import { forbidden, invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { cashTransferRequested } from '../../../config/events/cash.ts'
import { pixKeyOf } from '../../../config/pix-keys.ts'
import { judgeLines, refuseProblems } from '../../financial/index.ts'
import { authorOf } from '../../lib/authors.ts'
import type { Condition } from '../../lib/conditions.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import { namedAccount } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import { CashTransfer } from '../models.ts'
import { dayOfBooking } from '../movements.ts'
import type { LegName } from './legs.ts'
import { goalOf, insertTransfer } from './insert.ts'
import { lockDays, lockSessions } from './locks.ts'
import { expectSender, payeePlace, scheduledDay } from './request.ts'
import type { Payee } from './request.ts'
import { tellTransfer } from './tell.ts'

export type NewTransfer = {
  fromAccountId: string
  toAccountId?: string | undefined
  payee?: Payee | undefined
  method: 'manual' | 'pix'
  /** Minor units, more than 0. */
  amount: number
  fee?: number | undefined
  sentOn?: string | undefined
  receivedOn?: string | undefined
  scheduledOn?: string | undefined
  purpose: string
  accountId?: string | undefined
  costCenterId?: string | undefined
}

type Asked = {
  /** The cashier who moves money between a register and a safe alone. */
  ownOf: string | null
  scope: Condition
  judge: (record: { propertyId: string | null }) => void
}

const refuse = (given: NewTransfer, fields: readonly (keyof NewTransfer)[], message: string): void => {
  const errors: FieldError[] = fields.filter((field) => given[field] !== undefined).map((field) => ({ field, message }))
  if (errors.length > 0) throw invalid(errors)
}

/** The days on which each side is booked, and those of the transfer. */
type Days = { sentOn: string; receivedOn: string | null; bookedOn?: Record<LegName, string> }

/**
 * The days on which a transfer left and arrived. A register is booked on the open business day of its house, and so is an account without one beside it. Two
 * houses may be on different days: each side then has its own, and the transfer arrives on the later one.
 */
const daysOf = async (trx: Trx, from: AccountFacts, to: AccountFacts, given: NewTransfer): Promise<Days> => {
  const [ofFrom, ofTo] = [from, to].map(({ kind }) => kind === 'register')
  if (ofFrom || ofTo) {
    refuse(given, ['sentOn', 'receivedOn'], 'is not sent where one side is a register')
    const out = await dayOfBooking(trx, ofFrom ? from : to, {})
    const into = ofFrom && ofTo ? await dayOfBooking(trx, to, {}) : out
    return { sentOn: out, receivedOn: into < out ? out : into, bookedOn: { out, in: into } }
  }
  const sentOn = await dayOfBooking(trx, from, { bookedOn: given.sentOn })
  if (given.receivedOn === undefined) return { sentOn, receivedOn: null }
  if (given.receivedOn < sentOn) throw invalid([{ field: 'receivedOn', message: 'must not be before sentOn' }])
  return { sentOn, receivedOn: await dayOfBooking(trx, to, { bookedOn: given.receivedOn }) }
}

const expectCashier = (from: AccountFacts, to: AccountFacts, ownOf: string | null): void => {
  if (ownOf === null) return
  const kinds = [from.kind, to.kind].toSorted().join()
  const register = from.kind === 'register' ? from : to
  if (kinds !== 'register,safe' || (register.cashierId !== null && register.cashierId !== ownOf))
    throw forbidden('forbidden', 'You move money between the register of your session and a safe')
}

const createManual = async (trx: Trx, given: NewTransfer, { ownOf, judge }: Asked): Promise<string> => {
  refuse(given, ['payee', 'scheduledOn', 'accountId', 'costCenterId'], 'belongs to method pix')
  if (given.toAccountId === undefined) throw invalid([{ field: 'toAccountId', message: 'is required' }])
  // The source loses both in one movement.
  if (given.amount + (given.fee ?? 0) > largestBooking)
    throw invalid([{ field: 'fee', message: `must come to at most ${largestBooking} with the amount` }])
  const from = await namedAccount(trx, given.fromAccountId, 'fromAccountId')
  const to = await goalOf(trx, from, given.toAccountId, 'toAccountId')
  for (const { propertyId } of [from, to]) judge({ propertyId })
  expectCashier(from, to, ownOf)
  await lockDays(trx, [from, to])
  const days = await daysOf(trx, from, to, given)
  await lockSessions(trx, [from.sessionId, to.sessionId])
  return insertTransfer(trx, {
    from,
    toAccountId: to.id,
    toField: 'toAccountId',
    amount: given.amount,
    fee: given.fee ?? 0,
    purpose: given.purpose,
    ...days,
  })
}

/** The account and cost centre of money to a payee, judged like a line that a person writes. */
const checkOther = async (trx: Trx, from: AccountFacts, given: NewTransfer, scope: Condition): Promise<void> => {
  if (given.toAccountId !== undefined) return refuse(given, ['accountId', 'costCenterId'], 'belongs to a payee')
  if (given.accountId === undefined) throw invalid([{ field: 'accountId', message: 'is required for a payee' }])
  const line = { accountId: given.accountId, debit: given.amount, costCenterId: given.costCenterId ?? null }
  const { problems } = await judgeLines(trx, from.bookId, [{ ...line, propertyId: from.propertyId }], scope)
  refuseProblems(problems.map((one) => ({ ...one, field: one.field.replace(/^lines\.0\./, '') })))
}

/** The payee as it is kept: a key in the form of its type, and a BR Code whose amount, where it names one, is that of the transfer (R12). */
const judgedPayee = ({ payee, amount }: NewTransfer): Payee | null => {
  if (payee && 'keyType' in payee) {
    const key = pixKeyOf(payee.keyType, payee.key.trim())
    if (key === null) throw invalid([{ field: 'payee.key', message: `is no Pix key of the type ${payee.keyType}` }])
    return { ...payee, key }
  }
  if (!payee || !('brCode' in payee)) return payee ?? null
  const code = readBrCode(payee.brCode)
  if (!code)
    throw unprocessable('br_code_invalid', 'The text is no BR Code', [
      { field: 'payee.brCode', message: 'cannot be read, or its check sum is wrong' },
    ])
  if (code.amount !== null && code.amount !== amount)
    throw unprocessable('br_code_invalid', `The BR Code asks for ${code.amount}`, [
      { field: 'amount', message: `must be ${code.amount}` },
    ])
  return payee
}

const requestPix = async (trx: Trx, given: NewTransfer, { ownOf, scope, judge }: Asked): Promise<string> => {
  if (ownOf !== null) throw forbidden('forbidden', 'You move money between the register of your session and a safe')
  refuse(given, ['sentOn', 'receivedOn', 'fee'], 'belongs to method manual')
  if ((given.toAccountId === undefined) === (given.payee === undefined))
    throw invalid([{ field: 'payee', message: 'exactly one of toAccountId and payee is given' }])
  const from = await namedAccount(trx, given.fromAccountId, 'fromAccountId')
  judge({ propertyId: from.propertyId })
  const to = given.toAccountId === undefined ? null : await goalOf(trx, from, given.toAccountId, 'toAccountId')
  if (to && to.kind !== 'bank')
    throw unprocessable('reference_not_found', 'A Pix arrives at a bank', [
      { field: 'toAccountId', message: 'must be a bank' },
    ])
  await checkOther(trx, from, given, scope)
  await expectSender(trx, from)
  const payee = judgedPayee(given)
  const id = randomUUID()
  const row = await insertRow(trx, CashTransfer, {
    id,
    bookId: from.bookId,
    propertyId: from.propertyId,
    fromAccountId: from.id,
    toAccountId: to?.id ?? null,
    payee: payee ? await seal(trx, 'tenant', payeePlace(id), payee) : null,
    method: 'pix',
    amount: given.amount,
    currency: from.currency,
    purpose: given.purpose,
    accountId: given.accountId ?? null,
    costCenterId: given.costCenterId ?? null,
    scheduledOn: scheduledDay(from, given.scheduledOn),
    status: 'pending_approval',
    requestedBy: await authorOf(trx),
  })
  await tellTransfer(trx, cashTransferRequested, row)
  return id
}

/**
 * Records money that the house has moved between two of its accounts, or asks for a Pix, which leaves once another person has approved it. Answers the id.
 * 422 `reference_not_found`, `cash_short`, `session_required`, `session_closed`, `pix_not_ready`, `pix_send_unsupported`, `br_code_invalid`, errors of dates.
 */
export const createTransfer = (trx: Trx, given: NewTransfer, asked: Asked): Promise<string> =>
  given.method === 'manual' ? createManual(trx, given, asked) : requestPix(trx, given, asked)
