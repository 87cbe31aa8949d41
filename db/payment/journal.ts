import { settleCalls } from '../jobs/index.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { PaymentRow, RefundRow } from '../rows.ts'
import { readPayment } from './payments/read.ts'
import { readRefund } from './refunds/read.ts'
import { isLive } from './rules/states.ts'

export type LastAttempt = {
  tries: number
  state: string
  code: string | null
  httpStatus: number | null
  startedAt: Date
}

/** The last call to the gateway under a key, by its journal. */
export const lastAttempt = (trx: Trx, key: string): Promise<LastAttempt | null> =>
  sqlOne<LastAttempt>(
    trx,
    `select tries, state, code, http_status, started_at from external_call
     where tenant_id = ? and idempotency_key = ? order by started_at desc limit 1`,
    [contextOf(trx).tenantId, key],
  )

export const submitKey = (paymentId: string) => `pay-${paymentId}`
export const cancelKey = (paymentId: string) => `pay-${paymentId}-cancel`
/** Each capture that was refused is followed by one under another key: gateways answer a key as they did before. */
export const captureKey = (paymentId: string, refusals = 0) =>
  `pay-${paymentId}-capture${refusals === 0 ? '' : `-${refusals}`}`
export const accountKey = (accountId: string) => `acc-${accountId}`
export const methodKey = (methodId: string) => `mth-${methodId}`
export const refundKey = (refundId: string) => `ref-${refundId}`

/** Settles the calls of a payment: a known payment settles its submission, an ended one also its closing. */
export const settlePayment = async (
  trx: Trx,
  { id, status, captureRefusals }: Pick<PaymentRow, 'id' | 'status' | 'captureRefusals'>,
): Promise<void> => {
  if (status === 'created' || status === 'unknown') return
  await settleCalls(
    trx,
    isLive(status) ? [submitKey(id)] : [submitKey(id), cancelKey(id), captureKey(id, captureRefusals)],
  )
}

/** A search has told that the gateway never had the payment: nothing came of asking for it. */
export const settleNotFound = (trx: Trx, paymentId: string) =>
  settleCalls(trx, [submitKey(paymentId)], { state: 'failed', code: 'not_found_at_gateway' })

export const settleRefund = async (trx: Trx, { id, status }: Pick<RefundRow, 'id' | 'status'>): Promise<void> => {
  if (status !== 'requested' && status !== 'unknown') await settleCalls(trx, [refundKey(id)])
}

/** For a start that finds nothing left to ask: the one before it may have died between the call and its journal. */
export const settlePaymentById = async (trx: Trx, paymentId: string): Promise<void> => {
  const payment = await readPayment(trx, paymentId)
  if (payment) await settlePayment(trx, payment)
}
export const settleRefundById = async (trx: Trx, refundId: string): Promise<void> => {
  const refund = await readRefund(trx, refundId)
  if (refund) await settleRefund(trx, refund)
}
