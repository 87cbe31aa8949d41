import type { Action, Failure, FailureCode, PaymentSnapshot, RefundSnapshot } from '../../db/payment/index.ts'
import { verifySandbox } from '../../db/payment/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import type { Gateway, GatewayPayment, GatewayRefund } from './gateway.ts'
import { ask } from './http.ts'
import { startSandbox } from './sandbox-server.ts'

type Where = { url: string; secret: string }

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null

const amountOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null

const states = ['requires_action', 'processing', 'authorised', 'captured', 'failed', 'cancelled'] as const
const refundStates = ['processing', 'succeeded', 'failed'] as const
const failures: readonly FailureCode[] = [
  'declined',
  'insufficient_funds',
  'expired_card',
  'authentication_failed',
  'other',
]

const failureOf = (value: unknown): Failure | null => {
  const failure = record(value)
  if (!failure) return null
  return {
    code: failures.find((code) => code === failure.code) ?? 'other',
    message: typeof failure.message === 'string' ? failure.message.slice(0, 200) : '',
  }
}

/** A charge counts only when it is the one asked for: object, reference, our id, amount and currency. */
const chargeOf =
  (payment: GatewayPayment) =>
  (body: unknown): { snapshot: PaymentSnapshot; reference: string } | null => {
    const charge = record(body)
    const status = states.find((state) => state === charge?.status)
    const [authorisedAmount, capturedAmount] = [amountOf(charge?.authorisedAmount), amountOf(charge?.capturedAmount)]
    const id = charge?.id
    if (charge?.object !== 'charge' || typeof id !== 'string' || !id.startsWith('ch_') || !status) return null
    if (charge.ourId !== payment.id || charge.amount !== payment.amount || charge.currency !== payment.currency)
      return null
    if (payment.externalId !== null && payment.externalId !== id) return null
    if (authorisedAmount === null || capturedAmount === null || (status === 'captured' && capturedAmount === 0))
      return null
    return {
      reference: id,
      snapshot: {
        status,
        externalId: id,
        currency: payment.currency,
        authorisedAmount,
        capturedAmount,
        action: record(charge.action) as Action | null,
        failure: failureOf(charge.failure),
        authorisationExpiresAt: null,
      },
    }
  }

const refundOf =
  (refund: GatewayRefund) =>
  (body: unknown): { snapshot: RefundSnapshot; reference: string } | null => {
    const given = record(body)
    const status = refundStates.find((state) => state === given?.status)
    const id = given?.id
    if (given?.object !== 'refund' || typeof id !== 'string' || !id.startsWith('re_') || !status) return null
    if (given.ourId !== refund.id || given.amount !== refund.amount || given.currency !== refund.currency) return null
    return { reference: id, snapshot: { status, externalId: id, failure: failureOf(given.failure) } }
  }

/** Result of a search: none or one. */
const found =
  <S>(understand: (body: unknown) => { snapshot: S; reference: string } | null) =>
  (body: unknown): { snapshot: S | null; reference?: string } | null => {
    const list = record(body)?.data
    if (!Array.isArray(list) || list.length > 1) return null
    return list.length === 0 ? { snapshot: null } : understand(list[0])
  }

/**
 * The adapter of the sandbox gateway. `where` is a parameter so that tests can put another server in its place, and `patienceMs`, how long it waits
 * for an answer, so that they need not. It is no time of the sandbox's: a machine that is busy is no gateway that hangs.
 */
export const sandboxAt = (where: () => Promise<Where>, patienceMs = 20_000): Gateway => {
  const call = async <S>(
    method: 'GET' | 'POST',
    path: string,
    { accountRef, key, body, signal }: { accountRef: string; key?: string; body?: unknown; signal: AbortSignal },
    understand: (body: unknown) => { snapshot: S; reference?: string } | null,
  ): Promise<Outcome<S>> => {
    const { url, secret } = await where()
    return ask(
      {
        url: `${url}${path}`,
        method,
        headers: {
          authorization: `Bearer ${secret}`,
          'x-account': accountRef,
          ...(key ? { 'idempotency-key': key } : {}),
        },
        ...(body === undefined ? {} : { body }),
        timeoutMs: patienceMs,
        signal,
      },
      understand,
    )
  }
  return {
    provider: 'sandbox',
    methods: ['card', 'pix', 'boleto'],
    canSearch: true,
    submit: (payment, key, signal) => {
      const { id: ourId, accountRef, amount, currency, method, installments, cardToken, returnUrl, expiresAt } = payment
      const body = {
        ourId,
        amount,
        currency,
        method,
        installments,
        token: cardToken ?? 'success',
        returnUrl,
        expiresAt: expiresAt?.toISOString() ?? null,
      }
      return call('POST', '/charges', { accountRef, key, body, signal }, chargeOf(payment))
    },
    cancel: (payment, key, signal) =>
      call(
        'POST',
        `/charges/${payment.externalId ?? ''}/cancel`,
        { accountRef: payment.accountRef, key, body: {}, signal },
        chargeOf(payment),
      ),
    read: (payment, signal) =>
      call(
        'GET',
        `/charges/${payment.externalId ?? ''}`,
        { accountRef: payment.accountRef, signal },
        chargeOf(payment),
      ),
    find: (payment, signal) =>
      call('GET', `/charges?ourId=${payment.id}`, { accountRef: payment.accountRef, signal }, found(chargeOf(payment))),
    refund: (refund, key, signal) => {
      const { id: ourId, accountRef, paymentRef: charge, amount, currency } = refund
      return call(
        'POST',
        '/refunds',
        { accountRef, key, body: { ourId, charge, amount, currency }, signal },
        refundOf(refund),
      )
    },
    readRefund: (refund, signal) =>
      call('GET', `/refunds?ourId=${refund.id}`, { accountRef: refund.accountRef, signal }, found(refundOf(refund))),
    verify: verifySandbox,
  }
}

export const sandbox = sandboxAt(startSandbox)
