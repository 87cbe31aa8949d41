import {
  chargeStatus,
  declineOf,
  planCharge,
  planRefund,
  refundStatus,
  troubleOf,
} from '../../../workers/gateways/sandbox-plan.ts'
import type { Charge, Refund } from '../../../workers/gateways/sandbox-plan.ts'

/** The test tokens of the sandbox, played by a peer that speaks as Stripe does: the same suites run over both gateways. */
export type Plans = {
  /** The token of a payment of ours, by its id; one without plays no part here. */
  tokens: Map<string, string>
  secondMs: () => number
  charges: Map<string, Charge>
  refunds: Map<string, Refund>
}

export const makePlans = (): Plans => ({
  tokens: new Map(),
  secondMs: () => 40,
  charges: new Map(),
  refunds: new Map(),
})

type Form = Record<string, unknown>

export const declineFor = (token: string) => {
  const decline = declineOf(token)
  if (!decline) return null
  const code = decline.code === 'declined' ? 'generic_decline' : decline.code
  return { error: { type: 'card_error', code: 'card_declined', decline_code: code, message: decline.message } }
}

export { troubleOf }

const methodOf = (body: Form): string => String((body['allowed_payment_method_types'] as string[] | undefined)?.[0])

/** Plans what becomes of an intent that was just made. */
export const planIntent = (plans: Plans, id: string, ourId: string, body: Form): void => {
  const token = plans.tokens.get(ourId)
  if (token === undefined) return
  const now = Date.now()
  const [amount, method] = [Number(body['amount']), methodOf(body)]
  const pix = (body['payment_method_options'] as { pix?: { expires_after_seconds?: string } } | undefined)?.pix
  const expiresAt = pix ? now + Number(pix.expires_after_seconds) * 1_000 : null
  plans.charges.set(id, {
    id,
    ourId,
    accountRef: '',
    amount,
    currency: String(body['currency']),
    method,
    token,
    returnUrl: null,
    createdAt: now,
    expiresAt,
    cancelledAt: null,
    mode: body['capture_method'] === 'manual' ? 'authorise' : 'charge',
    platformFee: 0,
    captured: null,
    savedMethod: null,
    customer: null,
    linkId: null,
    ...planCharge(token, method, amount, now, expiresAt, plans.secondMs()),
  })
}

const statuses = {
  captured: 'succeeded',
  processing: 'processing',
  authorised: 'requires_capture',
  cancelled: 'canceled',
  requires_action: 'requires_action',
} as const

const nextAction = ({ method, id, expiresAt, createdAt }: Charge) => {
  const until = Math.floor((expiresAt ?? createdAt + 1_800_000) / 1_000)
  if (method === 'pix')
    return { type: 'pix_display_qr_code', pix_display_qr_code: { data: `0002${id}`, expires_at: until } }
  if (method === 'boleto')
    return {
      type: 'boleto_display_details',
      boleto_display_details: { number: '00190', expires_at: until, hosted_voucher_url: 'https://stripe.example/v' },
    }
  return { type: 'redirect_to_url', redirect_to_url: { url: 'https://stripe.example/authenticate' } }
}

/** An intent or refund as it stands now. */
export const asOfNow = <T extends Form & { id: string }>(plans: Plans, kept: T): T => {
  const now = Date.now()
  const charge = plans.charges.get(kept.id)
  if (charge) {
    const status = chargeStatus(charge, now)
    Object.assign(kept, {
      status: statuses[status],
      amount_received: status === 'captured' ? charge.paidAmount : 0,
      next_action: status === 'requires_action' ? nextAction(charge) : null,
      client_secret: `${kept.id}_secret`,
    })
  }
  const refund = plans.refunds.get(kept.id)
  if (refund) {
    const status = refundStatus(refund, now)
    Object.assign(kept, {
      status: status === 'processing' ? 'pending' : status,
      ...(status === 'failed' ? { failure_reason: 'declined' } : {}),
    })
  }
  return kept
}

/** Closes an intent. Null where it is paid: Stripe refuses that. */
export const closeIntent = (plans: Plans, id: string): 'closed' | 'paid' | 'unplanned' => {
  const charge = plans.charges.get(id)
  if (!charge) return 'unplanned'
  if (chargeStatus(charge, Date.now()) === 'captured') return 'paid'
  charge.cancelledAt ??= Date.now()
  return 'closed'
}

/** Plans what becomes of a refund of an intent. */
export const planRefundOf = (plans: Plans, id: string, intentId: string, amount: number): void => {
  const charge = plans.charges.get(intentId)
  if (!charge) return
  const now = Date.now()
  const { ourId, accountRef, currency, token } = charge
  plans.refunds.set(id, {
    id,
    ourId,
    accountRef,
    charge: intentId,
    amount,
    currency,
    createdAt: now,
    ...planRefund(token, now, plans.secondMs()),
  })
}
