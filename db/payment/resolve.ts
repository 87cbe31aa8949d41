import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import { paymentExceptionResolved } from '../../config/events/payment.ts'
import { todayIn } from '../../config/time.ts'
import { raisePosting, zoneOfBook } from '../financial/index.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, expression, findRow, readRow } from '../lib/records.ts'
import type { PaymentExceptionRow } from '../rows.ts'
import { emitException } from './exceptions.ts'
import { recordForeign } from './balance/record.ts'
import { PaymentException } from './models.ts'
import { overReturnsOf } from './over-returns.ts'

/** A page of exceptions, open ones of the newest first. */
export const listExceptions = pageOf(PaymentException, {
  order: ['status', 'createdAt desc', 'id'],
  filters: { kind: equal('kind'), status: equal('status'), reconciliationId: equal('reconciliationId') },
  scope: { propertyId: 'propertyId' },
})

/** An exception; 404. */
export const readException = (trx: Trx, id: string) => readRow(trx, PaymentException, id)

export type Resolution = {
  resolution: 'accepted' | 'recorded' | 'written_off'
  reason: string
  accountId?: string | undefined
}

/**
 * The amount that the account of the gateway holds too much by a difference, negative where it lacks money; null where nothing of it is left there: a fee is
 * posted as the gateway's list has it, and money that is not what was asked for as it arrived. `paymentControls` says the same in SQL.
 */
const leftOver = (exception: PaymentExceptionRow): number | null => {
  const { kind, subjectType, amount, expectedAmount, reconciliationId } = exception
  const isOfPayment = subjectType === 'payment'
  if (kind === 'missing_here' || kind === 'payout_differs') return -amount
  if (kind === 'missing_there') return isOfPayment ? amount : -amount
  if (kind !== 'amount_differs' || reconciliationId === null) return null
  return (amount - (expectedAmount ?? 0)) * (isOfPayment ? 1 : -1)
}

/** A payout whose list is not whole yet has no difference that is known. */
const isProven = async (trx: Trx, { kind, subjectId }: PaymentExceptionRow): Promise<boolean> => {
  if (kind !== 'payout_differs') return true
  const payout = await sqlOne<{ complete: boolean }>(trx, `select complete from payout where id = ?`, [subjectId])
  return payout?.complete === true
}

const placeOf = async (trx: Trx, exception: PaymentExceptionRow) => {
  const account = await sqlOne<{ id: string; bookId: string }>(
    trx,
    `select a.id, a.book_id from gateway_account a where a.id = coalesce(:accountId::uuid,
       (select gateway_account_id from payment where id = :subjectId and :type = 'payment'),
       (select gateway_account_id from refund where id = :subjectId and :type = 'refund'))`,
    { accountId: exception.gatewayAccountId, subjectId: exception.subjectId, type: exception.subjectType },
  )
  if (!account) throw unprocessable('reference_not_found', 'The exception belongs to no gateway account')
  return account
}

const checkAccount = async (trx: Trx, accountId: string, bookId: string): Promise<void> => {
  const known = await sqlOne(
    trx,
    `select id from account where id = ? and book_id = ? and postable and status = 'active' and control is null`,
    [accountId, bookId],
  )
  if (!known)
    throw unprocessable('account_not_usable', 'The account of the ledger cannot be posted to', [
      { field: 'accountId', message: 'must be a postable account of the book, and no control account' },
    ])
}

/** Posts what a bank took back too much to the account that was named: a claim on the guest or customer, or a loss. */
const writeOffOverReturn = async (trx: Trx, exception: PaymentExceptionRow, accountId: string) => {
  const { id, subjectType, subjectId, propertyId } = exception
  const { writeOff: takeOff, event } = overReturnsOf(subjectType)
  const { amount, bookId } = await takeOff(trx, subjectId)
  await checkAccount(trx, accountId, bookId)
  if (amount === 0) return
  await raisePosting(trx, {
    event,
    source: { id },
    bookId,
    ...(propertyId === null ? {} : { propertyId }),
    postingDate: todayIn(await zoneOfBook(trx, bookId)),
    fromOutside: true,
    payload: {
      amounts: { amount },
      accounts: { account: accountId },
      documents: { [subjectType]: subjectId, exception: id },
    },
  })
}

/** Posts the difference to the account that was named (R28). */
const writeOff = async (trx: Trx, exception: PaymentExceptionRow, accountId: string | undefined) => {
  if (accountId === undefined) throw invalid([{ field: 'accountId', message: 'is required to write off a difference' }])
  if (exception.kind === 'over_returned') return writeOffOverReturn(trx, exception, accountId)
  const difference = leftOver(exception)
  if (difference === null || !(await isProven(trx, exception)))
    throw conflict('invalid_transition', `An exception ${exception.kind} is not written off`, [
      { field: 'resolution', message: 'must be accepted' },
    ])
  const place = await placeOf(trx, exception)
  await checkAccount(trx, accountId, place.bookId)
  if (difference === 0) return
  await raisePosting(trx, {
    event: 'payment.payment_difference_written_off',
    source: { id: exception.id },
    bookId: place.bookId,
    ...(exception.propertyId === null ? {} : { propertyId: exception.propertyId }),
    postingDate: todayIn(await zoneOfBook(trx, place.bookId)),
    fromOutside: true,
    payload: {
      amounts: { amount: difference },
      accounts: { account: accountId },
      documents: { account: place.id, exception: exception.id },
    },
  })
}

/** Ends an exception with a reason: the facts stand, are recorded from the gateway's, or the difference is written off (R28). */
export const resolveException = async (
  trx: Trx,
  id: string,
  wanted: Resolution,
  expected: number | null = null,
): Promise<void> => {
  const seen = await findRow(trx, PaymentException, id)
  if (seen?.kind === 'over_returned') await overReturnsOf(seen.subjectType).hold(trx, seen.subjectId)
  const exception = await sqlOne<PaymentExceptionRow>(
    trx,
    `select * from payment_exception where id = ? for no key update`,
    [id],
  )
  if (!exception) throw notFound()
  if (expected !== null && exception.version !== expected) throw versionConflict(exception.version)
  if (exception.status === 'resolved') {
    if (exception.resolution === wanted.resolution) return
    throw conflict('invalid_transition', 'The exception is resolved already')
  }
  if (wanted.resolution === 'recorded' && exception.kind !== 'missing_here')
    throw conflict('invalid_transition', 'Only what is missing here can be recorded')
  if (wanted.resolution === 'accepted' && exception.kind === 'over_returned')
    throw conflict('invalid_transition', 'Money that was returned too much is written off to an account', [
      { field: 'resolution', message: 'must be written_off' },
    ])
  const version = await changeRow(trx, PaymentException, id, {
    status: 'resolved',
    resolution: wanted.resolution,
    reason: wanted.reason,
    resolvedBy: contextOf(trx).actor,
    resolvedAt: expression('now()'),
  })
  await emitException(trx, paymentExceptionResolved, { ...exception, version, resolution: wanted.resolution })
  if (wanted.resolution === 'recorded') await recordForeign(trx, exception)
  if (wanted.resolution === 'written_off') await writeOff(trx, exception, wanted.accountId)
}
