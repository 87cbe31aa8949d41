import type {
  AccountSnapshot,
  Action,
  BalanceEntry,
  DisputeSnapshot,
  Failure,
  FailureCode,
  MethodSnapshot,
  OnboardingLink,
  PaymentSnapshot,
  PayoutEntry,
  RefundSnapshot,
} from '../../db/payment/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import type { Gateway, GatewayAccountOpening, GatewayMethod, GatewayPayment, GatewayRefund, Part } from './gateway.ts'
import { ask } from './http.ts'
import { startSandbox } from './sandbox-server.ts'

type Where = { url: string; secret: string }
type Understood<S> = { snapshot: S; reference?: string } | null

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null

const whole = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null
const amountOf = (value: unknown): number | null => {
  const amount = whole(value)
  return amount !== null && amount >= 0 ? amount : null
}
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const instantOf = (value: unknown): Date | null => {
  const at = typeof value === 'string' ? new Date(value) : null
  return at && !Number.isNaN(at.getTime()) ? at : null
}

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
    code: failures.find((code) => code === failure['code']) ?? 'other',
    message: typeof failure['message'] === 'string' ? failure['message'].slice(0, 200) : '',
  }
}

/** A charge counts only when it is the one asked for: object, reference, our id, amount and currency. */
const chargeOf =
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
      },
    }
  }

/** A page that is paid tells of its charge; until then it is a place to send the payer to. */
const linkOf =
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

const refundOf =
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

const accountOf =
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

const methodOf =
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

const disputeOf =
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

const kinds: readonly BalanceEntry['kind'][] = [
  'charge',
  'refund',
  'refund_failure',
  'dispute',
  'dispute_reversal',
  'payout',
  'platform_fee_refund',
]
const sources = { charge: 'payment', refund: 'refund', dispute: 'dispute', payout: 'payout' } as const

const entryOf = (value: unknown): BalanceEntry | null => {
  const given = record(value)
  const [externalId, currency] = [textOf(given?.['id']), textOf(given?.['currency'])]
  const [gross, fee, platformFee, net] = ['gross', 'fee', 'platformFee', 'net'].map((name) => whole(given?.[name]))
  const [occurredAt, availableAt] = [instantOf(given?.['occurredAt']), instantOf(given?.['availableAt'])]
  const kind = kinds.find((one) => one === given?.['kind'])
  if (!externalId || !currency || !occurredAt || !availableAt || !kind) return null
  if (
    typeof gross !== 'number' ||
    typeof fee !== 'number' ||
    typeof platformFee !== 'number' ||
    typeof net !== 'number'
  )
    return null
  if (net !== gross - fee - platformFee) return null
  const source = record(given?.['source'])
  const object = textOf(source?.['object'])
  const reference = textOf(source?.['id'])
  const type = object !== null && object in sources ? sources[object as keyof typeof sources] : null
  return {
    externalId,
    kind,
    gross,
    fee,
    platformFee,
    net,
    currency,
    occurredAt,
    availableAt,
    source: type && reference ? { type, reference } : null,
  }
}

const partOf = (body: unknown): Understood<Part<BalanceEntry>> => {
  const list = record(body)
  if (!Array.isArray(list?.['data'])) return null
  const entries = list['data'].map(entryOf)
  if (!entries.every((entry) => entry !== null)) return null
  return { snapshot: { entries, next: entries.at(-1)?.externalId ?? null, hasMore: list['hasMore'] === true } }
}

const payoutStates = ['pending', 'in_transit', 'paid', 'failed', 'cancelled'] as const

const payoutsOf = (body: unknown): Understood<PayoutEntry[]> => {
  const list = record(body)?.['data']
  if (!Array.isArray(list)) return null
  const payouts = list.map((value): PayoutEntry | null => {
    const given = record(value)
    const status = payoutStates.find((one) => one === given?.['status'])
    const [externalId, currency, arrivesOn] = [given?.['id'], given?.['currency'], given?.['arrivesOn']].map(textOf)
    const [amount, createdAt] = [whole(given?.['amount']), instantOf(given?.['createdAt'])]
    if (!externalId || !currency || !status || amount === null || !createdAt) return null
    return {
      externalId,
      amount,
      currency,
      status,
      arrivesOn: arrivesOn ?? null,
      complete: given?.['complete'] === true,
      failure: failureOf(given?.['failure']),
      createdAt,
    }
  })
  return payouts.every((one) => one !== null) ? { snapshot: payouts } : null
}

const idsOf = (body: unknown): Understood<string[]> => {
  const list = record(body)?.['data']
  return Array.isArray(list) && list.every((one) => typeof one === 'string') ? { snapshot: list } : null
}

const onboardingOf = (body: unknown): Understood<OnboardingLink> => {
  const given = record(body)
  const [url, expiresAt] = [textOf(given?.['url']), instantOf(given?.['expiresAt'])]
  return given?.['object'] === 'onboarding' && url && expiresAt ? { snapshot: { url, expiresAt } } : null
}

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
