import { randomUUID } from 'node:crypto'
import { conflict, forbidden, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { refundRequested } from '../../../config/events/payment.ts'
import { refundPayment } from '../../../jobs/payment.ts'
import { requestPixReturn } from '../../cash/index.ts'
import type { BookedMovement } from '../../cash/index.ts'
import { businessDay, raisePosting } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { expression, insertRow } from '../../lib/records.ts'
import type { PaymentRow, RefundRow } from '../../rows.ts'
import { gateOfAccount } from '../accounts.ts'
import { giveBack, lockTargets, postGivenBack } from '../allocations.ts'
import { closeExceptions } from '../exceptions.ts'
import { Refund } from '../models.ts'
import { tellOverReturned } from '../over-returns.ts'
import { handBack, sourceOf, wayOf } from './by-hand.ts'
import type { RefundVia, Source } from './by-hand.ts'
import { holdPayment, lockPayment, readPayment, standingAllocations } from '../payments/read.ts'
import { abilitiesOf } from '../rules/providers.ts'
import type { TargetType } from '../targets.ts'

export type RefundReason = RefundRow['reason']
export type RequestedRefund = { refundId: string; paymentId: string; amount: number }

type Terms = {
  reason: RefundReason
  note?: string | undefined
  /** The allocations that give the money back, after what is unallocated; newest first where it is left out. */
  fromAllocations?: readonly string[] | undefined
  /** The way back; where it is left out, the one that the money came. */
  via?: RefundVia | undefined
  /** The source of money that is handed back. */
  from?: Source | undefined
  /** A person asks: what the gateway cannot send back is refused. */
  byPerson?: boolean
  /** It was made at the gateway already, and has this id there. */
  externalId?: string
  /** Books the money of a refund by hand, where a bank has sent it back by itself. */
  book?: (() => Promise<BookedMovement>) | undefined
}
type OfPayment = { paymentId: string; amount?: number | undefined; expected?: number | null } & Terms
type OfTarget = { targetType: TargetType; targetId: string; amount?: number | undefined } & Terms

const exceeded = (message: string) =>
  unprocessable('amount_exceeds_refundable', message, [{ field: 'amount', message }])

const disputed = () => unprocessable('amount_disputed', 'A part of the payment is disputed')

const isRefundable = async (trx: Trx, { gatewayAccountId, method }: PaymentRow) => {
  const account = await sqlOne<{ provider: string }>(trx, `select provider from gateway_account where id = ?`, [
    gatewayAccountId,
  ])
  return abilitiesOf(account?.provider ?? '').refundable.some((one) => one === method)
}

/**
 * Reserves the amount on the payment, and gives back what of it was allocated: unallocated money first, else what `only` names.
 * The payment and the targets of its allocations are locked. A worker asks the gateway.
 */
export const reserveRefund = async (
  trx: Trx,
  payment: PaymentRow,
  amount: number,
  { reason, note, fromAllocations, via: wanted, from = {}, byPerson = false, externalId, book }: Terms,
  { businessDate, only }: { businessDate: string; only?: { targetType: TargetType; targetId: string } },
): Promise<RequestedRefund> => {
  if (payment.status !== 'captured') throw conflict('invalid_transition', 'Only captured money can be refunded')
  // A refund that the bank has made by itself is not under way any more.
  const way = book ? ({ via: 'manual' } as const) : await wayOf(trx, payment, wanted, byPerson)
  const { via } = way
  const place = via === 'manual' ? await sourceOf(trx, payment, from) : null
  if (via === 'gateway' && byPerson && !(await isRefundable(trx, payment)))
    throw unprocessable('method_unavailable', `The gateway does not send back money that came by ${payment.method}`)
  const refundable = payment.capturedAmount - payment.refundReserved
  // A bank's return is a fact, whatever is left of the payment.
  if (!book && amount > refundable) throw exceeded(`At most ${refundable} can be refunded`)
  if (!book && amount > refundable - payment.disputedAmount) throw disputed()
  const unallocated = refundable - payment.allocatedAmount
  const given = await giveBack(trx, payment, only ? amount : amount - unallocated, businessDate, only, fromAllocations)
  const returned = sum(given.map((one) => one.amount))
  if (only && returned < amount) throw exceeded(`At most ${returned} can be refunded`)
  if (fromAllocations && returned < amount - unallocated)
    throw exceeded(`At most ${unallocated + returned} can be refunded from these allocations`)
  const over = payment.allocatedAmount - returned + payment.refundReserved + amount - payment.capturedAmount
  const overReturned = book ? Math.max(0, over) : payment.overReturned
  await sql(
    trx,
    `update payment set allocated_amount = allocated_amount - ?, refund_reserved = refund_reserved + ?, over_returned = ?, version = version + 1
     where id = ?`,
    [returned, amount, overReturned, payment.id],
  )
  const refundId = randomUUID()
  await insertRow(trx, Refund, {
    id: refundId,
    paymentId: payment.id,
    gatewayAccountId: via === 'gateway' ? payment.gatewayAccountId : null,
    cashAccountId: place?.account.id ?? null,
    cashSessionId: place?.cashSessionId ?? null,
    via,
    ...(place ? { status: 'succeeded' as const, succeededAt: expression('now()') } : {}),
    propertyId: payment.propertyId,
    amount,
    currency: payment.currency,
    reason,
    note,
    requestedBy: contextOf(trx).actor,
    externalId: externalId ?? null,
    nextReadAt: via === 'gateway' ? expression(`now() + interval '10 minutes'`) : null,
  })
  await closeExceptions(trx, { type: 'payment', id: payment.id }, [
    'unallocated',
    'late_payment',
    'amount_differs',
    'duplicate_payment',
  ])
  if (overReturned !== payment.overReturned) await tellOverReturned(trx, 'payment', { ...payment, overReturned })
  const gate = await gateOfAccount(trx, payment.gatewayAccountId)
  if (externalId === undefined && via === 'gateway')
    await enqueue(trx, refundPayment, { tenantId: payment.tenantId, refundId }, { gate })
  await emit(trx, refundRequested, {
    propertyId: payment.propertyId,
    id: refundId,
    version: 1,
    data: { refundId, paymentId: payment.id, amount, currency: payment.currency, reason, via },
  })
  await postGivenBack(trx, payment, given)
  await raisePosting(trx, {
    event: 'payment.refund_requested',
    source: { id: refundId },
    propertyId: payment.propertyId,
    payload: {
      amounts: { amount },
      documents: { payment: payment.id, refund: refundId },
      context: { method: payment.method },
    },
  })
  if (way.via === 'pix_return') {
    const source = { type: 'refund', id: refundId } as const
    await requestPixReturn(trx, { pixReceiptId: way.pixReceiptId, amount, source, reason: note ?? reason })
  }
  if (place) await handBack(trx, payment, { refundId, amount, reason, place, book })
  return { refundId, paymentId: payment.id, amount }
}

const refundOfPayment = async (
  trx: Trx,
  { paymentId, amount, expected = null, ...terms }: OfPayment,
): Promise<RequestedRefund[]> => {
  const found = await readPayment(trx, paymentId)
  if (!found) throw notFound('There is no such payment')
  const businessDate = await businessDay(trx, found.propertyId)
  await lockTargets(trx, await standingAllocations(trx, paymentId))
  const payment = await holdPayment(trx, paymentId)
  if (!payment) throw notFound('There is no such payment')
  if (expected !== null && payment.version !== expected) throw versionConflict(payment.version)
  const left = payment.capturedAmount - payment.refundReserved
  const wanted = amount ?? left - payment.disputedAmount
  if (wanted <= 0) throw left > 0 ? disputed() : exceeded('Nothing is left to refund')
  return [await reserveRefund(trx, payment, wanted, terms, { businessDate })]
}

/**
 * Amounts of payments of gateways, or of recorded ones, allocated to a target, newest payment first. `free` is the part that may go back: what a guest's bank
 * disputes waits for its end.
 */
export const moneyOn = (trx: Trx, targetType: TargetType, targetId: string, origin: PaymentRow['origin'] = 'gateway') =>
  sql<{ paymentId: string; propertyId: string; amount: number; free: number }>(
    trx,
    `select a.payment_id, p.property_id, sum(a.amount)::bigint as amount,
       greatest(0, least(sum(a.amount), p.captured_amount - p.refund_reserved - p.disputed_amount))::bigint as free
     from payment_allocation a join payment p on p.tenant_id = a.tenant_id and p.id = a.payment_id
     where a.target_type = ? and a.target_id = ? and p.origin = ? and p.status = 'captured'
     group by a.payment_id, p.property_id, p.captured_at, p.captured_amount, p.refund_reserved, p.disputed_amount
     having sum(a.amount) > 0 order by p.captured_at desc, a.payment_id`,
    [targetType, targetId, origin],
  )

/** Money of gateways on a target that may go back. Minor units. */
export const freeMoneyOn = async (trx: Trx, targetType: TargetType, targetId: string): Promise<number> =>
  sum((await moneyOn(trx, targetType, targetId)).map(({ free }) => free))

const refundOfTarget = async (
  trx: Trx,
  { targetType, targetId, amount, ...terms }: OfTarget,
): Promise<RequestedRefund[]> => {
  const [first] = await moneyOn(trx, targetType, targetId)
  if (!first) {
    if (amount === undefined || amount === 0) return []
    throw exceeded('No gateway payment stands on it')
  }
  const businessDate = await businessDay(trx, first.propertyId)
  await lockTargets(trx, [{ targetType, targetId }])
  const sources = await moneyOn(trx, targetType, targetId)
  const total = sum(sources.map((one) => one.amount))
  const free = sum(sources.map((one) => one.free))
  let left = amount ?? free
  if (left > total) throw exceeded(`At most ${total} can be refunded`)
  if (left > free) throw disputed()
  const shares = new Map<string, number>()
  for (const source of sources) {
    const share = Math.min(left, source.free)
    if (share > 0) shares.set(source.paymentId, share)
    left -= share
  }
  const refunds: RequestedRefund[] = []
  for (const paymentId of [...shares.keys()].sort()) {
    const payment = await lockPayment(trx, paymentId)
    const share = shares.get(paymentId) ?? 0
    if (payment)
      refunds.push(await reserveRefund(trx, payment, share, terms, { businessDate, only: { targetType, targetId } }))
  }
  return refunds
}

/**
 * Reserves money for its way back and asks a worker to send it (R18 to R21). Of a payment: unallocated money first, then its
 * allocations, newest first. Of a target: what gateway payments put on it, newest payment first; the target's `revert` takes it off,
 * so the caller does not. Without an amount: all that is not disputed. Throws 422 `amount_exceeds_refundable`, `amount_disputed`.
 */
export const requestRefund = async (trx: Trx, wanted: OfPayment | OfTarget): Promise<RequestedRefund[]> => {
  // Also where it comes of something else, such as a cancellation.
  if (contextOf(trx).supportSessionId !== null)
    throw forbidden('forbidden', 'Insufficient permissions: no money is sent back in a support session')
  return 'paymentId' in wanted ? refundOfPayment(trx, wanted) : refundOfTarget(trx, wanted)
}
