import { refundFailed, refundProcessingStarted, refundSucceeded } from '../../../config/events/payment.ts'
import { businessDay, raisePosting } from '../../financial/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import { emit } from '../../lib/events.ts'
import type { PaymentRow, RefundRow } from '../../rows.ts'
import { openException } from '../exceptions.ts'
import { settleRefund } from '../journal.ts'
import { tellOverReturned } from '../over-returns.ts'
import { lockPayment } from '../payments/read.ts'
import type { Failure } from '../payments/snapshot.ts'
import { readRefundAfterMs, refundMayFollow } from '../rules/states.ts'
import type { RefundStatus } from '../rules/states.ts'
import { lockRefund, readRefund } from './read.ts'

/** A gateway's statement about a refund; `unknown` stands for a missing one. */
export type RefundSnapshot = {
  status: Exclude<RefundStatus, 'requested'>
  externalId: string | null
  failure: Failure | null
}

const nextRead = (status: RefundStatus, reads: number) => nextReadAt(readRefundAfterMs(status, reads))

const eventOf: Partial<Record<RefundStatus, typeof refundSucceeded>> = {
  processing: refundProcessingStarted,
  succeeded: refundSucceeded,
  failed: refundFailed,
}

const emitRefund = (trx: Trx, { id, propertyId, version, status, ...refund }: RefundRow) => {
  const event = eventOf[status]
  const { paymentId, amount, currency, reason, via } = refund
  return event
    ? emit(trx, event, { propertyId, id, version, data: { refundId: id, paymentId, amount, currency, reason, via } })
    : null
}

/** The only writer of what a gateway or a bank says of a refund (R21). Answers whether it changed anything. */
export const applyRefundSnapshot = async (
  trx: Trx,
  refundId: string,
  snapshot: RefundSnapshot,
  /** The account that the money has left, where that is not the gateway's. */
  ledgerAccountId?: string,
): Promise<boolean> => {
  const seen = await readRefund(trx, refundId)
  if (!seen) throw new Error(`there is no refund ${refundId}`)
  const ends = snapshot.status === 'succeeded' || snapshot.status === 'failed'
  if (ends && refundMayFollow(seen.status, snapshot.status)) await businessDay(trx, seen.propertyId)
  const payment = await lockPayment(trx, seen.paymentId)
  const refund = await lockRefund(trx, refundId)
  if (!refund || !payment) throw new Error(`there is no refund ${refundId}`)
  if (!refundMayFollow(refund.status, snapshot.status)) {
    // It had been read because the gateway told of it, such as that the bank sent the money back: it is read again until it is known.
    const isUnheard = refund.status === 'succeeded' && snapshot.status === 'unknown'
    await sql(
      trx,
      `update refund set read_count = read_count + 1, next_read_at = ?, external_id = coalesce(external_id, ?) where id = ?`,
      [nextRead(isUnheard ? 'unknown' : refund.status, refund.readCount + 1), snapshot.externalId, refundId],
    )
    await settleRefund(trx, refund)
    return false
  }
  const [changed] = await sql<RefundRow>(
    trx,
    `update refund set status = :status, external_id = coalesce(external_id, :externalId), failure = :failure::jsonb,
       succeeded_at = case when :status = 'succeeded' then now() else succeeded_at end, next_read_at = :nextReadAt, read_count = 0,
       version = version + 1, updated_at = now()
     where id = :id returning *`,
    {
      id: refundId,
      status: snapshot.status,
      externalId: snapshot.externalId,
      failure: snapshot.failure ? JSON.stringify(snapshot.failure) : null,
      nextReadAt: nextRead(snapshot.status, 0),
    },
  )
  if (!changed) throw new Error(`refund ${refundId} is gone`)
  if (refund.status === 'unknown') await settleRefund(trx, changed)
  const documents = { payment: refund.paymentId, refund: refundId }
  const from =
    ledgerAccountId === undefined
      ? { context: { money: 'gateway', method: payment.method } as const }
      : { accounts: { money: ledgerAccountId }, context: { method: payment.method } }
  if (snapshot.status === 'succeeded')
    await sql(trx, `update payment set refunded_amount = refunded_amount + ?, version = version + 1 where id = ?`, [
      refund.amount,
      payment.id,
    ])
  const returned = refund.status === 'succeeded' ? refund.amount : 0
  if (snapshot.status === 'failed') {
    const [after] = await sql<PaymentRow>(
      trx,
      `update payment set refund_reserved = refund_reserved - ?, refunded_amount = refunded_amount - ?, version = version + 1 where id = ? returning *`,
      [refund.amount, returned, payment.id],
    )
    if (after && payment.overReturned > 0) await tellOverReturned(trx, 'payment', after)
    await openException(
      trx,
      'refund_failed',
      { type: 'refund', id: refundId, propertyId: refund.propertyId, currency: refund.currency },
      refund.amount,
    )
  }
  await emitRefund(trx, changed)
  if (snapshot.status === 'succeeded')
    await raisePosting(trx, {
      event: 'payment.refund_succeeded',
      source: { id: refundId },
      propertyId: refund.propertyId,
      payload: { amounts: { amount: refund.amount }, documents, ...from },
    })
  if (snapshot.status === 'failed')
    await raisePosting(trx, {
      event: 'payment.refund_failed',
      source: { id: refundId, seq: 1 },
      propertyId: refund.propertyId,
      payload: { amounts: { amount: refund.amount, returned }, documents, ...from },
    })
  return true
}
