import { notFound } from '../../config/errors.ts'
import { readPayment, readRefund } from '../../jobs/payment.ts'
import { audit } from '../lib/audit.ts'
import { enterTenant, sqlOne, wakeAfterCommit } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { gateOfAccount } from './accounts.ts'

type Call = { tenantId: string | null; operation: string; idempotencyKey: string }

const uuid = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
const ofPayment = new RegExp(`^pay-${uuid}(?:-cancel)?$`)
const ofRefund = new RegExp(`^ref-${uuid}$`)

/**
 * Asks the gateway now what became of a call, on an operator's word, rather than when its schedule comes to it. Answers the job, or null where
 * one is asking already. 404 for a call that is settled, or is none of a payment or refund.
 */
export const askNow = async (trx: PlatformTrx, callId: string, reason: string): Promise<string | null> => {
  const call = await sqlOne<Call>(
    trx,
    `select tenant_id, operation, idempotency_key from external_call where id = ? and state in ('started', 'unknown')`,
    [callId],
  )
  const paymentId = ofPayment.exec(call?.idempotencyKey ?? '')?.[1]
  const refundId = ofRefund.exec(call?.idempotencyKey ?? '')?.[1]
  if (!call?.tenantId || (paymentId === undefined && refundId === undefined))
    throw notFound('There is no such call of a payment without an outcome')
  const { tenantId } = call
  await audit(trx, {
    action: 'provider.ask',
    subjectType: refundId === undefined ? 'Payment' : 'Refund',
    subjectId: refundId ?? paymentId ?? '',
    reason,
  })
  const inside = await enterTenant(trx, tenantId)
  const record = await sqlOne<{ gatewayAccountId: string | null }>(
    inside,
    `select gateway_account_id from ${refundId === undefined ? 'payment' : 'refund'} where id = ?`,
    [refundId ?? paymentId ?? ''],
  )
  const gate = await gateOfAccount(inside, record?.gatewayAccountId ?? null)
  const options = { uniqueKey: `ask-${callId}`, gate }
  const jobId =
    refundId === undefined
      ? await enqueue(inside, readPayment, { tenantId, paymentId: paymentId ?? '' }, options)
      : await enqueue(inside, readRefund, { tenantId, refundId }, options)
  wakeAfterCommit(trx)
  return jobId
}
