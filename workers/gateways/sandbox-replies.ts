import type {
  AccountSnapshot,
  Action,
  DisputeSnapshot,
  MethodSnapshot,
  PaymentSnapshot,
  RefundSnapshot,
} from '../../db/payment/index.ts'
import type { GatewayAccountOpening, GatewayMethod, GatewayPayment, GatewayRefund } from './gateway.ts'
import { record, whole, amountOf, textOf, instantOf, states, refundStates, failureOf } from './sandbox-values.ts'
import type { Understood } from './sandbox-values.ts'

/** A charge counts only when it is the one asked for: object, reference, our id, amount and currency. */
export const chargeOf =
  (payment: GatewayPayment) =>
  (body: unknown): Understood<PaymentSnapshot> => {
    const charge = record(body)
    const status = states.find((state) => state === charge?.['status'])
    const [authorisedAmount, capturedAmount] = [
      amountOf(charge?.['authorisedAmount']),
      amountOf(charge?.['capturedAmount']),
    ]
    const id = charge?.['id']
    if (charge?.['object'] !== 'charge' || typeof id !== 'string' || !id.startsWith('ch_') || !status) return null
    if (
      charge['ourId'] !== payment.id ||
      charge['amount'] !== payment.amount ||
      charge['currency'] !== payment.currency
    )
      return null
    if (payment.externalId !== null && payment.externalId !== id) return null
    if (authorisedAmount === null || capturedAmount === null || (status === 'captured' && capturedAmount === 0))
      return null
    if (status === 'authorised' && authorisedAmount === 0) return null
    return {
      reference: id,
      snapshot: {
        status,
        externalId: id,
        currency: payment.currency,
        authorisedAmount,
        capturedAmount,
        action: record(charge['action']) as Action | null,
        failure: failureOf(charge['failure']),
        authorisationExpiresAt: instantOf(charge['authorisationExpiresAt']),
        savedMethodRef: textOf(charge['savedMethod']),
        savedCustomerRef: textOf(charge['customer']),
        card: cardOf(record(charge['card'])),
      },
    }
  }

const cardOf = (given: Record<string, unknown> | null) => {
  const [brand, last4] = [textOf(given?.['brand']), textOf(given?.['last4'])]
  return brand === null || last4 === null ? null : { brand, last4 }
}

/** A page that is paid tells of its charge; until then it is a place to send the payer to. */
export const linkOf =
  (payment: GatewayPayment) =>
  (body: unknown): Understood<PaymentSnapshot> => {
    const link = record(body)
    const [id, url] = [textOf(link?.['id']), textOf(link?.['url'])]
    if (link?.['object'] !== 'link' || !id?.startsWith('pl_') || url === null) return null
    if (link['ourId'] !== payment.id || link['amount'] !== payment.amount || link['currency'] !== payment.currency)
      return null
    if (payment.linkId !== null && payment.linkId !== id) return null
    if (link['status'] === 'paid') {
      const paid = chargeOf(payment)(link['charge'])
      return paid && { ...paid, snapshot: { ...paid.snapshot, linkId: id } }
    }
    if (link['status'] !== 'open' && link['status'] !== 'closed') return null
    return {
      reference: id,
      snapshot: {
        status: link['status'] === 'open' ? 'requires_action' : 'cancelled',
        externalId: null,
        currency: payment.currency,
        authorisedAmount: 0,
        capturedAmount: 0,
        action: link['status'] === 'open' ? { type: 'redirect', url } : null,
        failure: null,
        authorisationExpiresAt: null,
        linkId: id,
      },
    }
  }

export const refundOf =
  (refund: GatewayRefund) =>
  (body: unknown): Understood<RefundSnapshot> => {
    const given = record(body)
    const status = refundStates.find((state) => state === given?.['status'])
    const id = given?.['id']
    if (given?.['object'] !== 'refund' || typeof id !== 'string' || !id.startsWith('re_') || !status) return null
    if (given['ourId'] !== refund.id || given['amount'] !== refund.amount || given['currency'] !== refund.currency)
      return null
    if (refund.externalId !== null && refund.externalId !== id) return null
    return { reference: id, snapshot: { status, externalId: id, failure: failureOf(given['failure']) } }
  }

const capabilityOf = (value: unknown) => (value === 'active' || value === 'pending' ? value : 'inactive')

export const accountOf =
  (account: Pick<GatewayAccountOpening, 'externalId'>) =>
  (body: unknown): Understood<AccountSnapshot> => {
    const given = record(body)
    const id = textOf(given?.['id'])
    if (given?.['object'] !== 'account' || !id?.startsWith('sbx_')) return null
    if (account.externalId !== null && account.externalId !== id) return null
    const capabilities = record(given['capabilities'])
    const balance = record(given['balance'])
    const [available, pending] = [whole(balance?.['available']), whole(balance?.['pending'])]
    const requirements = Array.isArray(given['requirements']) ? given['requirements'] : []
    return {
      reference: id,
      snapshot: {
        externalId: id,
        detailsSubmitted: given['detailsSubmitted'] === true,
        chargesEnabled: given['chargesEnabled'] === true,
        payoutsEnabled: given['payoutsEnabled'] === true,
        capabilities: {
          card: capabilityOf(capabilities?.['card']),
          pix: capabilityOf(capabilities?.['pix']),
          boleto: capabilityOf(capabilities?.['boleto']),
        },
        requirements: requirements.flatMap((one) => {
          const code = textOf(record(one)?.['code'])
          return code ? [{ code, dueAt: instantOf(record(one)?.['dueAt'])?.toISOString() ?? null }] : []
        }),
        balance: available !== null && pending !== null ? { available, pending } : null,
      },
    }
  }

export const methodOf =
  (method: GatewayMethod) =>
  (body: unknown): Understood<MethodSnapshot> => {
    const given = record(body)
    const id = textOf(given?.['id'])
    if (given?.['object'] !== 'method' || !id?.startsWith('pm_')) return null
    if (method.externalId !== null && method.externalId !== id) return null
    const status = (['pending', 'active', 'detached'] as const).find((one) => one === given['status'])
    if (!status) return null
    const card = record(given['card'])
    const [brand, last4, expMonth, expYear] = [
      textOf(card?.['brand']),
      textOf(card?.['last4']),
      whole(card?.['expMonth']),
      whole(card?.['expYear']),
    ]
    return {
      reference: id,
      snapshot: {
        status,
        externalId: id,
        setupId: id,
        externalCustomerId: textOf(given['customer']),
        card:
          brand !== null && last4 !== null && expMonth !== null && expYear !== null
            ? { brand, last4, expMonth, expYear, fingerprint: textOf(card?.['fingerprint']) }
            : null,
        action: record(given['action']) as Action | null,
        failure: null,
      },
    }
  }

export const disputeOf =
  (ref: string) =>
  (body: unknown): Understood<DisputeSnapshot> => {
    const given = record(body)
    const status = (['needs_response', 'under_review', 'won', 'lost'] as const).find((one) => one === given?.['status'])
    const phase = (['inquiry', 'dispute', 'appeal'] as const).find((one) => one === given?.['phase'])
    const [amount, currency, charge] = [
      amountOf(given?.['amount']),
      textOf(given?.['currency']),
      textOf(given?.['charge']),
    ]
    const openedAt = instantOf(given?.['openedAt'])
    if (given?.['object'] !== 'dispute' || given['id'] !== ref || !status || !phase || !amount || !currency || !charge)
      return null
    return {
      reference: ref,
      snapshot: {
        externalId: ref,
        paymentRef: charge,
        phase,
        status,
        amount,
        currency,
        reason: textOf(given['reason']) ?? 'general',
        responseDueAt: instantOf(given['responseDueAt']),
        openedAt: openedAt ?? new Date(),
      },
    }
  }
