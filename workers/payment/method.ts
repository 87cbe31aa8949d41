import {
  applyMethodSnapshot,
  methodCall,
  methodKey,
  methodUnheard,
  notFoundAfterMs,
  repeatForMs,
} from '../../db/payment/index.ts'
import type { MethodCall, MethodSnapshot } from '../../db/payment/index.ts'
import { detachMethod, readMethod, startMethod } from '../../jobs/payment.ts'
import type { GatewayMethod } from '../gateways/gateway.ts'
import { gatewayJob, unheard } from '../lib/gateway-job.ts'
import type { Answer, Applying, Asking, Outcome } from '../lib/gateway-job.ts'
import { adapterFor, failureOf } from './outcome.ts'

type OfMethod = { tenantId: string; paymentMethodId: string }

const asked = ({ method, accountRef, submission }: MethodCall): GatewayMethod => ({
  id: method.id,
  accountRef,
  externalId: method.externalId,
  setupId: method.setupId,
  customerRef: method.externalCustomerId,
  customerKey: `cus-${method.guestId ?? method.customerId ?? method.bookingId ?? ''}-${method.gatewayAccountId}`,
  cardToken: submission.cardToken,
  returnUrl: submission.returnUrl,
  createdAt: method.createdAt,
})

const nothing: MethodSnapshot = {
  status: 'failed',
  externalId: null,
  setupId: null,
  externalCustomerId: null,
  card: null,
  action: null,
  failure: null,
}

const ofMethod: Applying<OfMethod, MethodSnapshot> = {
  known: (trx, { paymentMethodId }, snapshot) => applyMethodSnapshot(trx, paymentMethodId, snapshot),
  refused: (trx, { paymentMethodId }, refusal) =>
    applyMethodSnapshot(trx, paymentMethodId, { ...nothing, failure: failureOf(refusal) }),
  unknown: (trx, { paymentMethodId }) => methodUnheard(trx, paymentMethodId),
}

const start = (asking: Asking, call: MethodCall): Promise<Outcome<MethodSnapshot>> => {
  const given = asked(call)
  const keys = { customer: given.customerKey, method: methodKey(call.method.id) }
  return asking.act({ provider: call.provider, operation: 'start_method', key: keys.method }, () =>
    adapterFor(asking, call.provider).startMethod(given, keys, asking.signal),
  )
}

const isKnown = ({ method }: MethodCall): boolean => method.setupId !== null || method.externalId !== null

/** Tells whether a method is started rather than read. */
const isToStart = (call: MethodCall): boolean =>
  !isKnown(call) &&
  call.method.submission !== null &&
  call.now.getTime() - call.method.createdAt.getTime() < repeatForMs

/** Reads a method that is being saved. One without a reference is asked for again under its key, and looked for once the key is old. */
const pursue = async (asking: Asking, call: MethodCall): Promise<Answer<OfMethod, MethodSnapshot>> => {
  const { method, now, attempt, provider } = call
  if (isToStart(call)) return start(asking, call)
  if (!isKnown(call) && method.submission === null) return { kind: 'unknown', code: 'not_saved_yet' }
  const outcome = unheard(
    await asking.read({ provider, operation: 'read_method' }, () =>
      adapterFor(asking, provider).readMethod(asked(call), asking.signal),
    ),
  )
  if (outcome.kind !== 'known') return outcome
  if (outcome.snapshot) return { kind: 'known', snapshot: outcome.snapshot }
  const isSure = isKnown(call) || now.getTime() - (attempt?.startedAt.getTime() ?? 0) > notFoundAfterMs
  return isSure ? { kind: 'known', snapshot: nothing } : { kind: 'unknown', code: 'not_found' }
}

const pending = async (call: Promise<MethodCall | null>) => {
  const loaded = await call
  return loaded?.method.status === 'pending' ? loaded : null
}

export const methodProcessors = [
  gatewayJob(startMethod, {
    load: (trx, { paymentMethodId }) => pending(methodCall(trx, paymentMethodId)),
    ask: pursue,
    apply: ofMethod,
    isScheduled: false,
  }),
  gatewayJob(readMethod, {
    load: (trx, { paymentMethodId }) => pending(methodCall(trx, paymentMethodId)),
    ask: pursue,
    apply: ofMethod,
    isScheduled: true,
    ends: async (trx, { paymentMethodId }) => {
      const call = await methodCall(trx, paymentMethodId)
      return call !== null && (call.attempt !== null || !isToStart(call))
    },
  }),
  gatewayJob<typeof detachMethod.payload, MethodCall, true>(detachMethod, {
    load: async (trx, { paymentMethodId }) => {
      const call = await methodCall(trx, paymentMethodId)
      return call?.method.externalId ? call : null
    },
    ask: (asking, call) => {
      const key = `${methodKey(call.method.id)}-detach`
      return asking.act({ provider: call.provider, operation: 'detach_method', key }, () =>
        adapterFor(asking, call.provider).detachMethod(asked(call), key, asking.signal),
      )
    },
    apply: {
      known: () => Promise.resolve(),
      refused: () => Promise.resolve(),
      unknown: () => Promise.reject(new Error('the gateway did not say whether the method is forgotten')),
    },
    isScheduled: false,
  }),
]
