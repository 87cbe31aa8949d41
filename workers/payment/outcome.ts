import type { Failure, FailureCode, PaymentCall, PaymentSnapshot } from '../../db/payment/index.ts'
import { applySnapshot, applyUnknown, nothingKnown, submitKey } from '../../db/payment/index.ts'
import { gatewayOf } from '../gateways/index.ts'
import type { Gateway, GatewayPayment } from '../gateways/gateway.ts'
import type { Applying, Asking, Outcome } from '../lib/gateway-job.ts'

const codes: readonly FailureCode[] = [
  'declined',
  'insufficient_funds',
  'expired_card',
  'authentication_failed',
  'provider_unavailable',
]
/** A refusal of a gateway as a failure of the record; codes of its own are `other`. */
export const failureOf = ({ code, message }: { code: string; message: string }): Failure => ({
  code: codes.find((known) => known === code) ?? 'other',
  message: message.slice(0, 200),
})

export const adapterFor = ({ giveUp }: Pick<Asking, 'giveUp'>, provider: string): Gateway =>
  gatewayOf(provider) ?? giveUp('provider_not_configured', `This installation has no gateway ${provider}`)

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

export const ended = (status: 'failed' | 'cancelled', failure: Failure | null): PaymentSnapshot => ({
  ...nothingKnown,
  status,
  failure,
})

export type OfPayment = { tenantId: string; paymentId: string }

export const ofPayment: Applying<OfPayment, PaymentSnapshot> = {
  known: (trx, { paymentId }, snapshot) => applySnapshot(trx, paymentId, snapshot),
  refused: (trx, { paymentId }, refusal) => applySnapshot(trx, paymentId, ended('failed', failureOf(refusal))),
  unknown: (trx, { paymentId }, wasReached) => applyUnknown(trx, paymentId, wasReached),
}

/** Asks the gateway to take the money, under the payment's own key. */
export const submit = (asking: Asking, call: PaymentCall): Promise<Outcome<PaymentSnapshot>> => {
  const key = submitKey(call.payment.id)
  const gateway = adapterFor(asking, call.provider)
  return asking.act({ provider: call.provider, operation: 'submit', key }, () =>
    gateway.submit(asked(call), key, asking.signal),
  )
}
