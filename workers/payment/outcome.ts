import { cut } from '../../config/cut.ts'
import { shareOf } from '../../db/lib/amounts.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { Cause, Failure, FailureCode, PaymentCall, PaymentSnapshot } from '../../db/payment/index.ts'
import { applySnapshot, applyUnknown, captureKey, nothingKnown, submitKey } from '../../db/payment/index.ts'
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
  message: cut(message, 200),
})

export const adapterFor = ({ giveUp }: Pick<Asking, 'giveUp'>, provider: string): Gateway =>
  gatewayOf(provider) ?? giveUp('provider_not_configured', `This installation has no gateway ${provider}`)

/** Input of the adapter. It is equal on every try, since its columns do not change once the payment was sent. */
export const asked = ({ payment, accountRef, submission, payer }: PaymentCall): GatewayPayment => ({
  id: payment.id,
  accountRef,
  externalId: payment.externalId,
  linkId: payment.linkId,
  mode: payment.mode,
  amount: payment.amount,
  currency: payment.currency,
  method: payment.method,
  platformFee: shareOf(payment.amount, payment.platformFeeRate),
  installments: payment.installments,
  expiresAt: payment.expiresAt,
  cardToken: submission.cardToken,
  returnUrl: submission.returnUrl,
  methodRef: submission.methodRef ?? null,
  customerRef: submission.customerRef ?? null,
  save: submission.save ?? false,
  linkMethods: submission.linkMethods ?? null,
  description: payment.description,
  payer,
  createdAt: payment.createdAt,
})

export const ended = (status: 'failed' | 'cancelled', failure: Failure | null): PaymentSnapshot => ({
  ...nothingKnown,
  status,
  failure,
})

export type OfPayment = { tenantId: string; paymentId: string; cause?: 'callback' | 'read' | undefined }

/** The effect of the gateway's word on a payment, and the cause that it is known from. */
export const ofPayment = <P extends OfPayment>(cause: Cause): Applying<P, PaymentSnapshot> => {
  const causeOf = (payload: OfPayment) => payload.cause ?? cause
  return {
    known: (trx, payload, snapshot) => applySnapshot(trx as Trx, payload.paymentId, snapshot, causeOf(payload)),
    refused: (trx, payload, refusal) =>
      applySnapshot(trx as Trx, payload.paymentId, ended('failed', failureOf(refusal)), causeOf(payload)),
    unknown: (trx, payload, wasReached) => applyUnknown(trx as Trx, payload.paymentId, wasReached, causeOf(payload)),
  }
}

/** Asks the gateway to take the money, or for a page on which it can be paid, under the payment's own key. */
export const submit = (asking: Asking, call: PaymentCall): Promise<Outcome<PaymentSnapshot>> => {
  const key = submitKey(call.payment.id)
  const gateway = adapterFor(asking, call.provider)
  return asking.act({ provider: call.provider, operation: 'submit', key }, () =>
    call.payment.channel === 'link'
      ? gateway.openLink(asked(call), key, asking.signal)
      : gateway.submit(asked(call), key, asking.signal),
  )
}

/** Takes what was authorised, in full or in part. A gateway captures once, so a repeated call does no harm at any time. */
export const capture = (asking: Asking, call: PaymentCall): Promise<Outcome<PaymentSnapshot>> => {
  const { payment, provider } = call
  const key = captureKey(payment.id, payment.captureRefusals)
  const amount = payment.captureRequested ?? payment.authorisedAmount
  const fee = shareOf(amount, payment.platformFeeRate)
  const gateway = adapterFor(asking, provider)
  return asking.act({ provider, operation: 'capture', key }, () =>
    gateway.capture(asked(call), amount, fee, key, asking.signal),
  )
}
