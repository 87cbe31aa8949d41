import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { paymentAllocated, paymentCaptured } from '../../../config/events/payment.ts'
import { addDays, todayIn } from '../../../config/time.ts'
import { confirmPaid } from '../../../jobs/reservations.ts'
import { recordMovement } from '../../cash/index.ts'
import type { BookedMovement } from '../../cash/index.ts'
import { businessDay, raisePostings } from '../../financial/index.ts'
import type { DayPosting } from '../../financial/index.ts'
import { prepared, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { insertWith } from '../../lib/records.ts'
import type { New } from '../../lib/records.ts'
import type { PaymentRow } from '../../rows.ts'
import { allocateTo, lockedTarget, lockTargets, offer, postingOfAllocated } from '../allocations.ts'
import type { Allocated } from '../allocations.ts'
import { Payment } from '../models.ts'
import { emitPayment } from '../payment-events.ts'
import type { Payable, TargetRef, TargetType } from '../targets.ts'
import { settleRefusedCaptures } from './refused-capture.ts'
import { statusPart } from './history.ts'
import { placeOfMoney } from './place.ts'
import type { Place } from './place.ts'

export type RecordedMethod = 'card' | 'pix' | 'cash' | 'bank_transfer' | 'terminal' | 'cheque' | 'other'

export type RecordedPayment = {
  propertyId: string
  method: RecordedMethod
  /** Minor units, more than 0. */
  amount: number
  currency: string
  targetType?: Exclude<TargetType, 'receivable'> | undefined
  targetId?: string | undefined
  /** The moment at which the money came; now unless said, and at most 90 days ago. */
  receivedAt?: string | undefined
  /** Of cash: the open session whose drawer takes it. Of any other method: the session in whose totals it counts. */
  cashSessionId?: string | undefined
  /** Of any method but cash: the account that takes it. */
  cashAccountId?: string | undefined
  reference?: string | undefined
  note?: string | undefined
  /** `automatic` for money that a bank tells of; a target that takes nothing leaves it unallocated then. */
  channel?: 'desk' | 'automatic' | undefined
  /** The movement that is booked already: a Pix that has arrived. */
  movement?: BookedMovement | undefined
}

const longAgoDays = 90

const receivedWhen = (given: string | undefined, timeZone: string): Date => {
  const at = given === undefined ? new Date() : new Date(given)
  const earliest = addDays(todayIn(timeZone), -longAgoDays)
  if (at.getTime() > Date.now() + 60_000 || at.toISOString().slice(0, 10) < earliest)
    throw unprocessable('date_out_of_range', 'Money is recorded within 90 days of its arrival', [
      { field: 'receivedAt', message: `must lie between ${earliest} and now` },
    ])
  return at
}

const refOf = ({ targetType, targetId }: RecordedPayment): TargetRef | null => {
  if ((targetType === undefined) !== (targetId === undefined))
    throw invalid([{ field: 'targetId', message: 'stands with targetType, or not at all' }])
  return targetType !== undefined && targetId !== undefined ? { targetType, targetId } : null
}

/** The target, locked and fit to be paid. 422 `reference_not_found`, `target_closed`, `currency_mismatch`. */
const lockTarget = async (
  trx: Trx,
  given: RecordedPayment,
  target: TargetRef | null,
  held: Payable | undefined,
): Promise<Payable | null> => {
  if (!target) return null
  const found = held ?? lockedTarget(await lockTargets(trx, [target]), target.targetType, target.targetId)
  if (!found || found.propertyId !== given.propertyId)
    throw unprocessable('reference_not_found', 'There is no such target', [
      { field: 'targetId', message: 'is no record of the property' },
    ])
  if (found.currency !== given.currency)
    throw unprocessable('currency_mismatch', `It is paid in ${found.currency}`, [
      { field: 'currency', message: `must be ${found.currency}` },
    ])
  if (!found.open && given.channel !== 'automatic')
    throw unprocessable('target_closed', 'Nothing more can be paid for this')
  return found
}

/** A receipt of a card terminal is recorded once on its account. 409 `duplicate_reference`, which names the first payment. */
const expectNewReference = async (trx: Trx, given: RecordedPayment, place: Place): Promise<void> => {
  if (given.method !== 'terminal' || given.reference === undefined) return
  const first = await sqlOne<{ id: string }>(
    trx,
    `select id from payment where cash_account_id = ? and reference = ? and origin = 'recorded' and method = 'terminal' and status <> 'reversed'`,
    [place.account.id, given.reference],
  )
  if (first)
    throw conflict('duplicate_reference', 'This receipt of the terminal is recorded already', [
      { field: 'paymentId', message: first.id },
    ])
}

type Made = { id: string; place: Place; businessDate: string; receivedAt: Date }

const rowOf = (
  given: RecordedPayment,
  { id, place, businessDate, receivedAt }: Made,
  allocatedAmount: number,
): New<'payment', PaymentRow> => ({
  id,
  origin: 'recorded',
  channel: given.channel ?? 'desk',
  method: given.method,
  propertyId: given.propertyId,
  targetType: given.targetType ?? null,
  targetId: given.targetId ?? null,
  amount: given.amount,
  currency: given.currency,
  status: 'captured',
  capturedAmount: given.amount,
  allocatedAmount,
  capturedAt: receivedAt,
  businessDate,
  cashAccountId: place.account.id,
  cashSessionId: place.cashSessionId,
  reference: given.reference ?? null,
  note: given.note ?? null,
})

type Allocation = { allocated: Allocated | null; late: boolean }

const allocate = async (
  trx: Trx,
  payment: Pick<PaymentRow, 'id' | 'method'>,
  {
    target,
    locked,
    amount,
    businessDate,
  }: { target: TargetRef | null; locked: Payable | null; amount: number; businessDate: string },
): Promise<Allocation> => {
  const late = locked?.expired === true
  if (!target || !locked?.open) return { allocated: null, late }
  return { allocated: await offer(trx, payment, target, amount, { businessDate, late, payable: locked.payable }), late }
}

const noteAllocated = async (trx: Trx, payment: PaymentRow, { allocated, late }: Allocation): Promise<PaymentRow> => {
  if (!allocated) return payment
  const [changed] = await prepared<PaymentRow>(
    trx,
    `update payment set allocated_amount = ?, late = ?, version = version + 1 where id = ? returning *`,
    [allocated.amount, late, payment.id],
  )
  if (!changed) throw new Error(`payment ${payment.id} is gone`)
  return changed
}

/**
 * State of a command that records money for its own record: the day and the target are locked, the place of the money is read, the record takes all of the money
 * by a statement of the command, and the command raises the postings as its last step.
 */
export type Held = { businessDate: string; target: Payable; place: Place; postings: DayPosting[] }

type Recorded = { payment: PaymentRow; allocated: Allocated | null }

/** A payment, and what its target takes of it. */
const makeOffered = async (
  trx: Trx,
  given: RecordedPayment,
  made: Made,
  { target, locked }: { target: TargetRef | null; locked: Payable | null },
): Promise<Recorded> => {
  const { amount, method } = given
  const { id, businessDate } = made
  const [inserted, allocation] = await Promise.all([
    insertWith(trx, Payment, rowOf(given, made, 0), [statusPart(trx, id, 'captured', 'command')]),
    allocate(trx, { id, method }, { target, locked, amount, businessDate }),
  ])
  return { payment: await noteAllocated(trx, inserted, allocation), allocated: allocation.allocated }
}

/** A payment of which a record takes all. */
const makeTaken = async (
  trx: Trx,
  given: RecordedPayment,
  made: Made,
  { target, held }: { target: TargetRef | null; held: Payable },
): Promise<Recorded> => {
  const { amount } = given
  if (!target || !held.open || amount > held.payable) throw new Error(`a record takes ${amount} of ${held.payable}`)
  const { allocated, part } = allocateTo(made.id, target, amount)
  const parts = [statusPart(trx, made.id, 'captured', 'command'), part]
  return { payment: await insertWith(trx, Payment, rowOf(given, made, amount), parts), allocated }
}

/**
 * Records money that came outside a gateway (R12), with its movement of cash, and allocates it to its target up to what that takes. Answers the id.
 *
 * 404 for the property; 409 `duplicate_reference`, `cash_busy`; 422 `reference_not_found`, `target_closed`, `currency_mismatch`, `session_required`, `session_closed`,
 * `account_archived`, `date_out_of_range`, errors of dates.
 */
export const recordPayment = async (trx: Trx, given: RecordedPayment, held?: Held): Promise<string> => {
  const target = refOf(given)
  const businessDate = held?.businessDate ?? (await businessDay(trx, given.propertyId))
  const locked = await lockTarget(trx, given, target, held?.target)
  const place = held?.place ?? (await placeOfMoney(trx, given))
  const receivedAt = receivedWhen(given.receivedAt, place.account.timeZone)
  await expectNewReference(trx, given, place)
  const { amount, method } = given
  const id = randomUUID()
  const made = { id, place, businessDate, receivedAt }
  const book = async (): Promise<BookedMovement> =>
    given.movement ??
    recordMovement(
      trx,
      {
        cashAccountId: place.account.id,
        amount,
        kind: 'guest_payment',
        source: { type: 'payment', id },
        description: `Payment by ${method.replaceAll('_', ' ')}`,
        propertyId: given.propertyId,
        occurredAt: receivedAt,
        ...(method === 'cash' ? { sessionId: place.cashSessionId } : {}),
        ...(given.reference === undefined ? {} : { voucher: given.reference.slice(0, 60) }),
      },
      place.account,
    )
  // A record that takes the money has all its locks: the day of the money is judged in the turn of the payment.
  const [{ payment, allocated }, movement] = held
    ? await Promise.all([makeTaken(trx, given, made, { target, held: held.target }), book()])
    : [await makeOffered(trx, given, made, { target, locked }), await book()]
  await tell(trx, payment, allocated, target)
  const postings: DayPosting[] = [
    {
      event: 'payment.payment_recorded',
      source: { id },
      payload: {
        amounts: { amount },
        accounts: { money: movement.ledgerAccountId },
        documents: { payment: id },
        context: { method },
      },
    },
    ...(allocated && target ? [postingOfAllocated(payment, target, allocated, locked?.stage)] : []),
  ]
  if (held) held.postings.push(...postings)
  else await raisePostings(trx, given.propertyId, postings)
  return id
}

const tell = async (
  trx: Trx,
  payment: PaymentRow,
  allocated: Allocated | null,
  target: TargetRef | null,
): Promise<void> => {
  await emitPayment(trx, payment, paymentCaptured)
  if (!allocated) return
  await emitPayment(trx, payment, paymentAllocated)
  if (target) await settleRefusedCaptures(trx, payment.propertyId, [target])
  if (target?.targetType === 'booking')
    await enqueue(trx, confirmPaid, { tenantId: payment.tenantId, bookingId: target.targetId }, { class: 'urgent' })
}
