import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { paymentAllocated } from '../../../config/events/payment.ts'
import { confirmPaid } from '../../../jobs/reservations.ts'
import { businessDay } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import type { PaymentRow } from '../../rows.ts'
import { bookOfProperty } from '../accounts.ts'
import { giveBack, lockedTarget, lockTargets, offer, postAllocated, postGivenBack } from '../allocations.ts'
import { closeExceptions } from '../exceptions.ts'
import { emitPayment } from '../payment-events.ts'
import type { TargetType } from '../targets.ts'
import { holdPayment, readPayment, standingAllocations } from './read.ts'
import { settleRefusedCaptures } from './refused-capture.ts'

/** Judges a target that is to take or give money, by the caller's role; throws. */
export type JudgeTarget = (target: { propertyId: string; targetType: TargetType; targetId: string }) => void
export type WantedAllocation = { targetType: TargetType; targetId: string; amount: number }

const keyOf = ({ targetType, targetId }: { targetType: string; targetId: string }) => `${targetType} ${targetId}`

/** Sum of what stands on each target. */
const standingSums = async (trx: Trx, paymentId: string) => {
  const sums = new Map<string, WantedAllocation>()
  for (const { targetType, targetId, amount } of await standingAllocations(trx, paymentId)) {
    const key = keyOf({ targetType, targetId })
    sums.set(key, { targetType, targetId, amount: (sums.get(key)?.amount ?? 0) + amount })
  }
  return sums
}

const fieldOf = (index: number, name: string, message: string) => [{ field: `allocations.${index}.${name}`, message }]

/**
 * Sets what captured money pays for: the whole wanted set, of which the differences are written. Locks the targets before and
 * after, then the payment. 409 version_conflict, invalid_transition; 422 allocation_exceeds_captured, target_closed,
 * amount_exceeds_payable, currency_mismatch, reference_not_found.
 */
export const setAllocations = async (
  trx: Trx,
  paymentId: string,
  wanted: readonly WantedAllocation[],
  expectedVersion: number | null,
  judge: JudgeTarget,
): Promise<void> => {
  const twice = wanted.findIndex((one, index) => wanted.findIndex((other) => keyOf(other) === keyOf(one)) !== index)
  if (twice >= 0) throw invalid(fieldOf(twice, 'targetId', 'stands twice'))
  const found = await readPayment(trx, paymentId)
  if (!found) throw notFound()
  const businessDate = await businessDay(trx, found.propertyId)
  const before = await standingSums(trx, paymentId)
  const union = [...before.values(), ...wanted]
  const locked = await lockTargets(trx, union)
  const payment = await holdPayment(trx, paymentId)
  if (!payment) throw notFound()
  if (expectedVersion !== null && payment.version !== expectedVersion) throw versionConflict(payment.version)
  if (payment.status !== 'captured') throw conflict('invalid_transition', 'Only captured money is allocated')
  const standing = await standingSums(trx, paymentId)
  for (const key of standing.keys()) if (!before.has(key)) throw versionConflict(payment.version)
  const most = Math.max(0, payment.capturedAmount - payment.refundReserved)
  if (sum(wanted.map((one) => one.amount)) > most)
    throw unprocessable('allocation_exceeds_captured', `At most ${most} can be allocated`, [
      { field: 'allocations', message: 'sum to more than was captured' },
    ])
  const isForeignMoney = await sqlOne(
    trx,
    `select from payment_exception where subject_type = 'payment' and subject_id = ? and kind = 'currency_differs'`,
    [paymentId],
  )
  if (isForeignMoney && wanted.length > 0)
    throw unprocessable('currency_mismatch', 'The money arrived in another currency; it pays for nothing here')
  const changes = wanted
    .map((one, index) => ({ ...one, index, less: one.amount - (standing.get(keyOf(one))?.amount ?? 0) }))
    .filter((one) => one.less !== 0)
  const dropped = [...standing.values()]
    .filter((one) => !wanted.some((other) => keyOf(other) === keyOf(one)))
    .map((one) => ({ ...one, index: -1, less: -one.amount }))
  const bookId = await bookOfProperty(trx, payment.propertyId)
  for (const change of [...changes, ...dropped]) {
    const target = lockedTarget(locked, change.targetType, change.targetId)
    const at = (message: string) => (change.index < 0 ? [] : fieldOf(change.index, 'targetId', message))
    if (!target) throw unprocessable('reference_not_found', 'There is no such target', at('does not exist'))
    judge({ propertyId: target.propertyId, targetType: change.targetType, targetId: change.targetId })
    if (!target.open) throw unprocessable('target_closed', 'A target takes and gives nothing any more', at('is closed'))
    if (change.less < 0) continue
    if (target.currency !== payment.currency)
      throw unprocessable('currency_mismatch', `It is paid in ${target.currency}`, at('has another currency'))
    if (target.propertyId !== payment.propertyId && (await bookOfProperty(trx, target.propertyId)) !== bookId)
      throw unprocessable('currency_mismatch', 'The target is of another book', at('is of another book'))
  }
  if (changes.length + dropped.length === 0) return
  let allocated = payment.allocatedAmount
  const postings: (() => Promise<unknown>)[] = []
  for (const { targetType, targetId, less } of [...changes, ...dropped].filter((one) => one.less < 0)) {
    const given = await giveBack(trx, payment, -less, businessDate, { targetType, targetId })
    allocated -= sum(given.map((one) => one.amount))
    postings.push(() => postGivenBack(trx, payment, given))
  }
  for (const { targetType, targetId, less, index } of changes.filter((one) => one.less > 0)) {
    const target = { targetType, targetId }
    // The money given back before may have raised the amount that the target takes. The target's locks are held.
    const now = lockedTarget(await lockTargets(trx, [target]), targetType, targetId)
    if (!now || less > now.payable)
      throw unprocessable(
        'amount_exceeds_payable',
        `At most ${now?.payable ?? 0} more is payable`,
        fieldOf(index, 'amount', 'is too much'),
      )
    // A target of another house of the book has a business day of its own.
    const day = now.propertyId === payment.propertyId ? businessDate : await businessDay(trx, now.propertyId)
    const facts = { businessDate: day, late: false, payable: now.payable }
    const taken = await offer(trx, payment, target, less, facts)
    if (taken?.amount !== less)
      throw unprocessable('amount_exceeds_payable', 'The target takes less', fieldOf(index, 'amount', 'is too much'))
    allocated += less
    postings.push(() => postAllocated(trx, payment, target, taken, now.stage))
  }
  const [changed] = await sql<PaymentRow>(
    trx,
    `update payment set allocated_amount = :allocated, version = version + 1,
       unallocated_told = unallocated_told and :allocated::bigint + refund_reserved < captured_amount where id = :paymentId returning *`,
    { allocated, paymentId },
  )
  if (!changed) throw notFound()
  await closeExceptions(trx, { type: 'payment', id: paymentId }, [
    'unallocated',
    'late_payment',
    'amount_differs',
    'duplicate_payment',
  ])
  await emitPayment(trx, changed, paymentAllocated)
  await settleRefusedCaptures(
    trx,
    null,
    changes.filter(({ less }) => less > 0),
  )
  for (const { targetType, targetId, less } of changes)
    if (targetType === 'booking' && less > 0)
      await enqueue(trx, confirmPaid, { tenantId: payment.tenantId, bookingId: targetId }, { class: 'urgent' })
  for (const post of postings) await post()
}
