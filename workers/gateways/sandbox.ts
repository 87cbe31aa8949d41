import type { Outcome } from '../lib/gateway-job.ts'
import type { Gateway, GatewayPayment } from './gateway.ts'
import { ask } from './http.ts'
import { partOf, payoutsOf, idsOf, onboardingOf } from './sandbox-lists.ts'
import { chargeOf, linkOf, refundOf, accountOf, methodOf, disputeOf } from './sandbox-replies.ts'
import { record } from './sandbox-values.ts'
import type { Where, Understood } from './sandbox-values.ts'
import { startSandbox } from './sandbox-server.ts'

const done =
  (object: string) =>
  (body: unknown): Understood<true> =>
    record(body)?.['object'] === object ? { snapshot: true } : null

/** Result of a search: none or one. */
const found =
  <S>(understand: (body: unknown) => Understood<S>) =>
  (body: unknown): { snapshot: S | null; reference?: string } | null => {
    const list = record(body)?.['data']
    if (!Array.isArray(list) || list.length > 1) return null
    return list.length === 0 ? { snapshot: null } : understand(list[0])
  }

/** Turns a refusal with 404 into the knowledge that the object is not there. */
const orNothing = <S>(outcome: Outcome<S>): Outcome<S | null> =>
  outcome.kind === 'refused' && outcome.httpStatus === 404
    ? { kind: 'known', snapshot: null, httpStatus: 404 }
    : outcome

/**
 * The adapter of the sandbox gateway. `where` is a parameter so that tests can put another server in its place, and `patienceMs`, how long it waits
 * for an answer, so that they need not. It is no time of the sandbox's: a machine that is busy is no gateway that hangs.
 */
export const sandboxAt = (where: () => Promise<Where>, patienceMs = 20_000): Gateway => {
  type Asked = { accountRef: string; key?: string; body?: unknown; signal: AbortSignal }
  const call = async <S>(
    method: 'GET' | 'POST',
    path: string,
    { accountRef, key, body, signal }: Asked,
    understand: (body: unknown) => Understood<S>,
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
  const chargeBody = (payment: GatewayPayment) => {
    const {
      id: ourId,
      amount,
      currency,
      method,
      installments,
      cardToken,
      returnUrl,
      expiresAt,
      mode,
      platformFee,
    } = payment
    return {
      ourId,
      amount,
      currency,
      method,
      mode,
      installments,
      platformFee,
      token: cardToken ?? 'success',
      returnUrl,
      expiresAt: expiresAt?.toISOString() ?? null,
      savedMethod: payment.methodRef,
      customer: payment.customerRef,
      save: payment.save,
    }
  }
  return {
    provider: 'sandbox',
    methods: ['card', 'pix', 'boleto'],
    openAccount: (account, key, signal) => {
      const body = { ourId: account.id, token: account.testToken ?? 'active', country: account.country }
      return call('POST', '/accounts', { accountRef: 'platform', key, body, signal }, accountOf(account))
    },
    readAccount: async (account, signal) => {
      const asked = { accountRef: account.externalId ?? 'platform', signal }
      return account.externalId === null
        ? call('GET', `/accounts?ourId=${account.id}`, asked, found(accountOf(account)))
        : orNothing(await call('GET', `/accounts/${account.externalId}`, asked, accountOf(account)))
    },
    onboardingLink: (ref, returnUrl, key, signal) =>
      call('POST', `/accounts/${ref}/onboarding`, { accountRef: ref, key, body: { returnUrl }, signal }, onboardingOf),
    closeAccount: (ref, key, signal) =>
      call('POST', `/accounts/${ref}/close`, { accountRef: ref, key, body: {}, signal }, done('account')),
    startMethod: (method, keys, signal) => {
      const { id: ourId, accountRef, customerRef: customer, cardToken, returnUrl } = method
      const body = { ourId, customer, token: cardToken ?? 'success', returnUrl }
      return call('POST', '/methods', { accountRef, key: keys.method, body, signal }, methodOf(method))
    },
    readMethod: async (method, signal) => {
      const ref = method.externalId ?? method.setupId
      const asked = { accountRef: method.accountRef, signal }
      return ref === null
        ? call('GET', `/methods?ourId=${method.id}`, asked, found(methodOf(method)))
        : orNothing(await call('GET', `/methods/${ref}`, asked, methodOf(method)))
    },
    detachMethod: (method, key, signal) =>
      call(
        'POST',
        `/methods/${method.externalId ?? ''}/detach`,
        { accountRef: method.accountRef, key, body: {}, signal },
        done('method'),
      ),
    submit: (payment, key, signal) =>
      call(
        'POST',
        '/charges',
        { accountRef: payment.accountRef, key, body: chargeBody(payment), signal },
        chargeOf(payment),
      ),
    openLink: (payment, key, signal) => {
      const body = { ...chargeBody(payment), methods: payment.linkMethods }
      return call('POST', '/links', { accountRef: payment.accountRef, key, body, signal }, linkOf(payment))
    },
    closeLink: (payment, key, signal) =>
      call(
        'POST',
        `/links/${payment.linkId ?? ''}/close`,
        { accountRef: payment.accountRef, key, body: {}, signal },
        linkOf(payment),
      ),
    capture: (payment, amount, platformFee, key, signal) =>
      call(
        'POST',
        `/charges/${payment.externalId ?? ''}/capture`,
        { accountRef: payment.accountRef, key, body: { amount, platformFee }, signal },
        chargeOf(payment),
      ),
    cancel: (payment, key, signal) =>
      call(
        'POST',
        `/charges/${payment.externalId ?? ''}/cancel`,
        { accountRef: payment.accountRef, key, body: {}, signal },
        chargeOf(payment),
      ),
    read: (payment, signal) =>
      payment.externalId === null && payment.linkId !== null
        ? call('GET', `/links/${payment.linkId}`, { accountRef: payment.accountRef, signal }, linkOf(payment))
        : call(
            'GET',
            `/charges/${payment.externalId ?? ''}`,
            { accountRef: payment.accountRef, signal },
            chargeOf(payment),
          ),
    find: (payment, signal) =>
      payment.linkMethods === null
        ? call(
            'GET',
            `/charges?ourId=${payment.id}`,
            { accountRef: payment.accountRef, signal },
            found(chargeOf(payment)),
          )
        : call('GET', `/links?ourId=${payment.id}`, { accountRef: payment.accountRef, signal }, found(linkOf(payment))),
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
    respondDispute: ({ accountRef, externalId, action, evidence }, key, signal) =>
      call(
        'POST',
        `/disputes/${externalId}/respond`,
        { accountRef, key, body: { action, evidence }, signal },
        disputeOf(externalId),
      ),
    readDispute: async (accountRef, ref, signal) =>
      orNothing(await call('GET', `/disputes/${ref}`, { accountRef, signal }, disputeOf(ref))),
    transactions: (accountRef, since, cursor, signal) => {
      const place = cursor === null ? '' : `&after=${cursor}`
      return call('GET', `/transactions?since=${since.toISOString()}${place}`, { accountRef, signal }, partOf)
    },
    payouts: (accountRef, signal) => call('GET', '/payouts', { accountRef, signal }, payoutsOf),
    paidOut: (accountRef, ref, signal) => call('GET', `/payouts/${ref}/transactions`, { accountRef, signal }, idsOf),
  }
}

export const sandbox = sandboxAt(startSandbox)
