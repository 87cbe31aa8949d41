import type { PaymentCall, FailureCode, PaymentSnapshot } from '../../db/payment/index.ts'
import { applyUnknown, nothingKnown, submitKey, applySnapshot } from '../../db/payment/index.ts'
import { gatewayOf } from '../gateways/index.ts'
import type { Gateway, GatewayPayment } from '../gateways/gateway.ts'
import { externalCall } from '../lib/external-call.ts'
import type { JobContext } from '../lib/processor.ts'

export type PaymentContext = JobContext<{ tenantId: string; paymentId: string }>

const codes: readonly FailureCode[] = [
  'declined',
  'insufficient_funds',
  'expired_card',
  'authentication_failed',
  'provider_unavailable',
]
export const failureCode = (code: string): FailureCode => codes.find((known) => known === code) ?? 'other'

export const adapterFor = (context: { giveUp: JobContext['giveUp'] }, provider: string): Gateway =>
  gatewayOf(provider) ?? context.giveUp('provider_not_configured', `This installation has no gateway ${provider}`)

/** Input of the adapter. It is equal on every try, since its columns do not change once the payment was sent. */
export const asked = ({ payment, accountRef, submission }: PaymentCall): GatewayPayment => ({
  id: payment.id,
  accountRef,
  externalId: payment.externalId,
  amount: payment.amount,
  currency: payment.currency,
  method: payment.method,
  installments: payment.installments,
  expiresAt: payment.expiresAt,
  ...submission,
})

export const ended = (status: 'failed' | 'cancelled', code: FailureCode | null, message = ''): PaymentSnapshot => ({
  ...nothingKnown,
  status,
  failure: code === null ? null : { code, message: message.slice(0, 200) },
})

/** Not sent: a job that acts tries again; one that reads gives way to the schedule after its tries. */
export const notSent = (context: PaymentContext, code: string, afterMs: number | undefined, mayWait: boolean) => {
  if (mayWait && context.attempt >= 3)
    return context.finish((trx) => applyUnknown(trx, context.payload.paymentId, false))
  return context.retryLater(`the gateway was not reached: ${code}`, { afterMs: afterMs ?? 0 })
}

/** Asks the gateway to take the money, under the payment's own key, and applies what came of it. */
export const submit = async (context: PaymentContext, call: PaymentCall, mayWait = false): Promise<void> => {
  const { paymentId } = context.payload
  const gateway = adapterFor(context, call.provider)
  const key = submitKey(paymentId)
  const { outcome } = await externalCall(context, { provider: call.provider, operation: 'submit', key }, () =>
    gateway.submit(asked(call), key, context.signal),
  )
  switch (outcome.kind) {
    case 'known':
      await context.finish((trx) => applySnapshot(trx, paymentId, outcome.snapshot))
      return
    case 'refused':
      await context.finish((trx) =>
        applySnapshot(trx, paymentId, ended('failed', failureCode(outcome.code), outcome.message)),
      )
      return
    case 'not_sent':
      await notSent(context, outcome.code, outcome.afterMs, mayWait)
      return
    default:
      await context.finish((trx) => applyUnknown(trx, paymentId, true))
  }
}
