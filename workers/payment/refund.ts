import { refundCall, refundKey, settleRefundById, applyRefundSnapshot } from '../../db/payment/index.ts'
import type { RefundCall, RefundSnapshot } from '../../db/payment/index.ts'
import { readRefund, refundPayment } from '../../jobs/payment.ts'
import type { GatewayRefund, Outcome } from '../gateways/gateway.ts'
import { externalCall, readCall } from '../lib/external-call.ts'
import { processor } from '../lib/processor.ts'
import type { JobContext } from '../lib/processor.ts'
import { adapterFor, failureCode } from './outcome.ts'

type RefundContext = JobContext<{ tenantId: string; refundId: string }>

const asked = ({ refund, accountRef, paymentRef }: RefundCall): GatewayRefund => ({
  id: refund.id,
  accountRef,
  externalId: refund.externalId,
  paymentRef,
  amount: refund.amount,
  currency: refund.currency,
})

const unknown: RefundSnapshot = { status: 'unknown', externalId: null, failure: null }

const apply = async (context: RefundContext, outcome: Outcome<RefundSnapshot>, mayWait: boolean): Promise<void> => {
  const { refundId } = context.payload
  const write = (snapshot: RefundSnapshot) =>
    context.finish(async (trx) => void (await applyRefundSnapshot(trx, refundId, snapshot)))
  if (outcome.kind === 'known') return write(outcome.snapshot)
  if (outcome.kind === 'refused')
    return write({
      status: 'failed',
      externalId: null,
      failure: { code: failureCode(outcome.code), message: outcome.message.slice(0, 200) },
    })
  if (outcome.kind === 'unknown' || (mayWait && context.attempt >= 3)) return write(unknown)
  return context.retryLater(`the gateway was not reached: ${outcome.code}`, { afterMs: outcome.afterMs ?? 0 })
}

/** Sends the money back under the refund's own key; a repeated call is the same refund. */
const send = async (context: RefundContext, call: RefundCall, mayWait: boolean): Promise<void> => {
  const gateway = adapterFor(context, call.provider)
  const key = refundKey(context.payload.refundId)
  const { outcome } = await externalCall(context, { provider: call.provider, operation: 'refund', key }, () =>
    gateway.refund(asked(call), key, context.signal),
  )
  await apply(context, outcome, mayWait)
}

/** A refusal to read says nothing of the money; a refund that the gateway does not know is sent again. */
const read = async (context: RefundContext, call: RefundCall): Promise<void> => {
  const gateway = adapterFor(context, call.provider)
  const outcome = await readCall(context, { provider: call.provider, operation: 'read_refund' }, () =>
    gateway.readRefund(asked(call), context.signal),
  )
  if (outcome.kind === 'refused') return apply(context, { kind: 'unknown', code: outcome.code }, true)
  if (outcome.kind !== 'known') return apply(context, outcome, true)
  const { snapshot } = outcome
  if (snapshot) return apply(context, { kind: 'known', snapshot }, true)
  return call.refund.externalId === null
    ? send(context, call, true)
    : apply(context, { kind: 'unknown', code: 'not_found' }, true)
}

const isOpen = ({ refund }: RefundCall) => refund.status === 'requested' || refund.status === 'unknown'

export const refundProcessors = [
  processor(refundPayment, async (context) => {
    const call = await context.effect((trx) => refundCall(trx, context.payload.refundId))
    if (call && isOpen(call)) await send(context, call, false)
    else await context.finish((trx) => settleRefundById(trx, context.payload.refundId))
  }),
  processor(readRefund, async (context) => {
    const call = await context.effect((trx) => refundCall(trx, context.payload.refundId))
    if (!call || call.refund.status === 'failed')
      return context.finish((trx) => settleRefundById(trx, context.payload.refundId))
    const sameErrorTwice = call.attempt !== null && call.attempt.tries >= 2 && call.attempt.state === 'unknown'
    if (call.refund.externalId === null && isOpen(call) && !sameErrorTwice) return send(context, call, true)
    return read(context, call)
  }),
]
