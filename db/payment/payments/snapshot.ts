import { paymentAllocated, paymentCaptured, paymentLateCaptured } from '../../../config/events/payment.ts'
import { confirmPaid } from '../../../jobs/reservations.ts'
import { businessDay, raisePosting } from '../../financial/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { seal } from '../../lib/sealing/index.ts'
import type { PaymentRow } from '../../rows.ts'
import { lockedTarget, lockTargets, offer, postAllocated } from '../allocations.ts'
import type { Allocated } from '../allocations.ts'
import { closeExceptions, openException } from '../exceptions.ts'
import { settlePayment } from '../journal.ts'
import { emitMove, emitPayment } from '../payment-events.ts'
import { reserveRefund } from '../refunds/request.ts'
import { hasEnded, isLive, mayFollow, mostDeclines, readAfterMs } from '../rules/states.ts'
import type { PaymentStatus } from '../rules/states.ts'
import { saveMethodOf } from '../methods/save.ts'
import { targetOf } from '../targets.ts'
import type { Payable } from '../targets.ts'
import { noteStatus } from './history.ts'
import type { Cause } from './history.ts'
import { lockPayment, readPayment } from './read.ts'
import { settleRefusedCaptures, tellUntaken } from './refused-capture.ts'
import { announceLink } from './send-link.ts'

export type Action =
  | { type: 'redirect'; url: string }
  | { type: 'client_secret'; provider: string; publishableKey: string; account: string; clientSecret: string }
  | { type: 'pix'; copyPaste: string; expiresAt: string }
  | { type: 'boleto'; digitableLine: string; url: string; dueDate: string }

export type FailureCode =
  | 'declined'
  | 'insufficient_funds'
  | 'expired_card'
  | 'authentication_failed'
  | 'provider_unavailable'
  | 'not_found_at_gateway'
  | 'other'
export type Failure = { code: FailureCode; message: string }

/** A gateway's statement about a payment; `unknown` stands for a missing one. */
export type PaymentSnapshot = {
  status: Exclude<PaymentStatus, 'created' | 'expired' | 'reversed'>
  externalId: string | null
  currency: string
  authorisedAmount: number
  capturedAmount: number
  action: Action | null
  failure: Failure | null
  /** The gateway's id of the charge that was declined: the next one may be declined in the same words. */
  declineRef?: string | null
  authorisationExpiresAt: Date | null
  /** The gateway's id of a link's page, which lives before there is a charge. */
  linkId?: string | null
  /** The method that was saved with the payment, by the gateway's id. */
  savedMethodRef?: string | null
  /** Its customer there, without whom it is not charged again. */
  savedCustomerRef?: string | null
  /** The card that is charged, as people know it. */
  card?: { brand: string; last4: string } | null
}

export type Applied = { payment: PaymentRow; applied: boolean }

const subjectOf = (payment: PaymentRow) =>
  ({ type: 'payment', id: payment.id, propertyId: payment.propertyId, currency: payment.currency }) as const

const targetRef = (payment: PaymentRow) =>
  payment.targetType && payment.targetId ? { targetType: payment.targetType, targetId: payment.targetId } : null

/** A payment that the gateway closed at our clock's word has expired; any other was cancelled. */
const statusFor = (payment: PaymentRow, snapshot: PaymentSnapshot): PaymentStatus =>
  snapshot.status === 'cancelled' &&
  payment.cancelRequestedAt === null &&
  payment.expiresAt !== null &&
  payment.expiresAt.getTime() <= Date.now()
    ? 'expired'
    : snapshot.status

/** The next question to the gateway, never later than the end of what still waits for the guest. */
const nextRead = (
  payment: Pick<PaymentRow, 'method' | 'expiresAt' | 'captureRequested' | 'cancelRequestedAt'>,
  status: PaymentStatus,
  reads: number,
  isStillHeld = false,
) => {
  // A capture or cancel whose answer was lost is as urgent as an unknown outcome: the guest's money is held until then.
  const isAsked = status === 'authorised' && (payment.captureRequested !== null || payment.cancelRequestedAt !== null)
  const asked = isAsked || isStillHeld ? 'unknown' : status
  return nextReadAt(readAfterMs(asked, payment.method, reads), isLive(status) ? payment.expiresAt : null)
}

/** Tells whether a snapshot tells of a decline that is not counted yet. */
const isNewDecline = (payment: PaymentRow, { failure, declineRef = null }: PaymentSnapshot): boolean => {
  if (failure === null) return false
  if (declineRef !== null) return declineRef !== payment.declineRef
  const known = payment.failure as Failure | null
  return known?.code !== failure.code || known.message !== failure.message
}

/** Notes a read that brought nothing new, and when the next one is due: at once where the guest has tried too often. */
const noteRead = async (trx: Trx, payment: PaymentRow, snapshot: PaymentSnapshot): Promise<Applied> => {
  const same = snapshot.status === payment.status
  const isStillHeld = hasEnded(payment.status) && snapshot.status === 'authorised'
  const action = same && snapshot.action ? await seal(trx, 'tenant', actionPlace(payment.id), snapshot.action) : null
  const declines = payment.declines + (same && isNewDecline(payment, snapshot) ? 1 : 0)
  const isTooOften = payment.status === 'requires_action' && declines >= mostDeclines
  await sql(
    trx,
    `update payment set read_count = read_count + 1, next_read_at = ?, external_id = coalesce(external_id, ?), action = coalesce(?, action),
       failure = coalesce(?::jsonb, failure), link_id = coalesce(link_id, ?), declines = ?, decline_ref = coalesce(?, decline_ref) where id = ?`,
    [
      isTooOften && payment.declines < mostDeclines
        ? new Date()
        : nextRead(payment, payment.status, payment.readCount + 1, isStillHeld),
      snapshot.externalId,
      action,
      same && snapshot.failure ? JSON.stringify(snapshot.failure) : null,
      snapshot.linkId ?? null,
      declines,
      same ? (snapshot.declineRef ?? null) : null,
      payment.id,
    ],
  )
  return { payment, applied: false }
}

export const actionPlace = (paymentId: string) => ({ table: 'payment', rowId: paymentId, purpose: 'action' })

/** The time until which the target waits for a charge that the gateway has accepted (R12 of public.md); null where it has not. */
const acceptedUntil = (payment: PaymentRow, status: PaymentStatus): Date | null => {
  if (payment.method === 'card') return status === 'processing' ? new Date(Date.now() + 15 * 60_000) : null
  if ((status !== 'requires_action' && status !== 'processing') || !payment.expiresAt) return null
  return new Date(payment.expiresAt.getTime() + (payment.method === 'pix' ? 60_000 : 0))
}

/** Everything but captured money. */
const move = async (
  trx: Trx,
  payment: PaymentRow,
  status: PaymentStatus,
  snapshot: PaymentSnapshot,
  cause: Cause,
): Promise<Applied> => {
  const live = isLive(status)
  const [changed] = await sql<PaymentRow>(
    trx,
    `update payment set status = :status, external_id = coalesce(external_id, :externalId), authorised_amount = :authorisedAmount,
       action = :action, failure = :failure::jsonb, authorisation_expires_at = :authorisationExpiresAt, link_id = coalesce(link_id, :linkId),
       ended_at = case when :ended then now() end, next_read_at = :nextReadAt, read_count = 0, version = version + 1,
       declines = :declines, decline_ref = coalesce(:declineRef, decline_ref)
     where id = :id returning *`,
    {
      id: payment.id,
      status,
      declines: payment.declines + (status === 'requires_action' && isNewDecline(payment, snapshot) ? 1 : 0),
      declineRef: snapshot.declineRef ?? null,
      externalId: snapshot.externalId,
      authorisedAmount: snapshot.authorisedAmount,
      linkId: snapshot.linkId ?? null,
      action: live && snapshot.action ? await seal(trx, 'tenant', actionPlace(payment.id), snapshot.action) : null,
      failure: snapshot.failure ? JSON.stringify(snapshot.failure) : null,
      authorisationExpiresAt: snapshot.authorisationExpiresAt,
      ended: hasEnded(status),
      nextReadAt: nextRead(payment, status, 0),
    },
  )
  if (!changed) throw new Error(`payment ${payment.id} is gone`)
  noteStatus(trx, payment.id, status, cause)
  const target = targetRef(payment)
  const until = acceptedUntil(changed, status)
  if (target && until) await targetOf(target.targetType).onProcessing(trx, target.targetId, until, payment.method)
  if (payment.status === 'unknown') await closeExceptions(trx, subjectOf(payment), ['outcome_unknown'])
  if (hasEnded(status)) await tellUntaken(trx, changed)
  await emitMove(trx, changed, snapshot.failure)
  await announceLink(trx, changed)
  await saveMethodOf(trx, changed, snapshot)
  if (status === 'authorised' && target?.targetType === 'booking')
    await enqueue(trx, confirmPaid, { tenantId: payment.tenantId, bookingId: target.targetId })
  return { payment: changed, applied: true }
}

type Arrival = { locked: Payable | undefined; businessDate: string; cause: Cause }

/** Captured money: it goes to its target at once, up to what the target takes (R15, R16). */
const arrive = async (
  trx: Trx,
  payment: PaymentRow,
  snapshot: PaymentSnapshot,
  { locked, businessDate, cause }: Arrival,
): Promise<Applied> => {
  const amount = snapshot.capturedAmount
  const target = targetRef(payment)
  const wasOver = hasEnded(payment.status)
  const late = wasOver || locked?.expired === true
  const sameCurrency = snapshot.currency === payment.currency
  const allocated: Allocated | null =
    target && locked?.open && sameCurrency
      ? await offer(trx, payment, target, amount, { businessDate, late, payable: locked.payable })
      : null
  const [changed] = await sql<PaymentRow>(
    trx,
    `update payment set status = 'captured', external_id = coalesce(external_id, :externalId),
       authorised_amount = greatest(authorised_amount, :authorisedAmount::bigint, case mode when 'authorise' then :amount::bigint else 0 end),
       captured_amount = :amount, allocated_amount = :allocated, captured_at = now(), business_date = :businessDate, late = :late,
       action = null, failure = null, ended_at = null, next_read_at = null, read_count = 0, version = version + 1
     where id = :id returning *`,
    {
      id: payment.id,
      externalId: snapshot.externalId,
      authorisedAmount: snapshot.authorisedAmount,
      amount,
      allocated: allocated?.amount ?? 0,
      businessDate,
      late,
    },
  )
  if (!changed) throw new Error(`payment ${payment.id} is gone`)
  noteStatus(trx, payment.id, 'captured', cause)
  if (payment.status === 'unknown') await closeExceptions(trx, subjectOf(payment), ['outcome_unknown'])
  if (payment.captureRefusals > 0 || (wasOver && payment.captureRequested !== null))
    await closeExceptions(trx, subjectOf(payment), ['capture_refused'])
  await judge(trx, changed, { sameCurrency, late, open: locked?.open ?? false, taken: allocated?.amount ?? 0 })
  await emitPayment(trx, changed, wasOver ? paymentLateCaptured : paymentCaptured)
  await saveMethodOf(trx, changed, snapshot)
  if (allocated && target) {
    await emitPayment(trx, changed, paymentAllocated)
    await settleRefusedCaptures(trx, payment.propertyId, [target])
    if (target.targetType === 'booking')
      await enqueue(trx, confirmPaid, { tenantId: payment.tenantId, bookingId: target.targetId }, { class: 'urgent' })
  }
  await raisePosting(trx, {
    event: 'payment.payment_captured',
    source: { id: payment.id },
    propertyId: payment.propertyId,
    payload: {
      amounts: { amount },
      documents: { payment: payment.id },
      context: { money: 'gateway', method: payment.method },
    },
  })
  if (allocated && target) await postAllocated(trx, changed, target, allocated, locked?.stage)
  // A booking that was cancelled takes nothing, and its guest is owed the whole, but for what a bank has taken back already.
  const owed = amount - changed.disputedAmount
  if (target?.targetType === 'booking' && locked && !locked.open && sameCurrency && owed > 0)
    await reserveRefund(trx, changed, owed, { reason: 'late_payment' }, { businessDate })
  return { payment: changed, applied: true }
}

type Judged = { sameCurrency: boolean; late: boolean; open: boolean; taken: number }

/** Opens the exceptions of money that is not what was asked for, or that found no place. */
const judge = async (trx: Trx, payment: PaymentRow, { sameCurrency, late, open, taken }: Judged) => {
  const subject = subjectOf(payment)
  if (!sameCurrency) return openException(trx, 'currency_differs', subject, payment.capturedAmount, payment.amount)
  const expected = payment.captureRequested ?? payment.amount
  if (payment.capturedAmount !== expected)
    await openException(trx, 'amount_differs', subject, payment.capturedAmount, expected)
  if (taken > 0 || !payment.targetId) return undefined
  if (open) return openException(trx, 'duplicate_payment', subject, payment.capturedAmount)
  if (late && payment.targetType !== 'booking')
    await openException(trx, 'late_payment', subject, payment.capturedAmount)
  return undefined
}

/**
 * The only writer of what a gateway says of a payment (R3, R4): a fact of higher rank is applied with all that follows from it,
 * anything else is dropped. Reply of a call, callback and read all end here, in any order and number.
 */
export const applySnapshot = async (
  trx: Trx,
  paymentId: string,
  snapshot: PaymentSnapshot,
  cause: Cause = 'read',
): Promise<Applied> => {
  const seen = await readPayment(trx, paymentId)
  if (!seen) throw new Error(`there is no payment ${paymentId}`)
  const target = targetRef(seen)
  const rises = mayFollow(seen.status, statusFor(seen, snapshot))
  const businessDate = rises && snapshot.status === 'captured' ? await businessDay(trx, seen.propertyId) : ''
  const locks = rises && target ? await lockTargets(trx, [target]) : new Map<string, Payable>()
  const payment = await lockPayment(trx, paymentId)
  if (!payment) throw new Error(`there is no payment ${paymentId}`)
  const applied = await applyTo(trx, payment, snapshot, { rises, locks, businessDate, cause })
  // Calls without an outcome are rare; it is theirs that is learnt then.
  const isDoubtful = payment.status === 'unknown' || snapshot.status === 'unknown' || mayBeClosing(payment)
  if (isDoubtful) await settlePayment(trx, applied.payment)
  return applied
}

const clocksDifferMs = 60_000

/** Tells whether the gateway may have been asked to close it: cancelled, or out of time by the clock of another. */
const mayBeClosing = ({ cancelRequestedAt, expiresAt }: PaymentRow) =>
  cancelRequestedAt !== null || (expiresAt !== null && expiresAt.getTime() <= Date.now() + clocksDifferMs)

type Ready = { rises: boolean; locks: Map<string, Payable>; businessDate: string; cause: Cause }

const applyTo = (
  trx: Trx,
  payment: PaymentRow,
  snapshot: PaymentSnapshot,
  { rises, locks, businessDate, cause }: Ready,
): Promise<Applied> => {
  const status = statusFor(payment, snapshot)
  if (!rises || !mayFollow(payment.status, status)) return noteRead(trx, payment, snapshot)
  if (status !== 'captured') return move(trx, payment, status, snapshot, cause)
  const target = targetRef(payment)
  const locked = target ? lockedTarget(locks, target.targetType, target.targetId) : undefined
  return arrive(trx, payment, snapshot, { locked, businessDate, cause })
}
