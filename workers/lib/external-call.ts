import { crashPoint } from '../../config/crash.ts'
import { beginSpan } from '../../config/tracing.ts'
import { beginCall, endCall } from '../../db/jobs/index.ts'
import type { CallKey, CallState } from '../../db/jobs/index.ts'
import { tellGate } from './gate.ts'
import { providerCalls, providerLasted } from './metrics.ts'
import type { AnyTrx } from '../../db/lib/connection.ts'
import type { JobContext } from './processor.ts'

/** Common fields of every answer of an adapter; adapters add their own. */
export type CallOutcome = {
  kind: 'known' | 'accepted' | 'refused' | 'not_sent' | 'unknown'
  /** `credentials_refused` of a call that was not sent says that the other side does not take our credentials. */
  code?: string | undefined
  httpStatus?: number | undefined
  /** The other side's id. */
  reference?: string | undefined
  /** The time for which the other side asked to be left alone. */
  afterMs?: number | undefined
}

export type PriorState = CallState | null

const stateOf: Record<CallOutcome['kind'], CallState> = {
  known: 'succeeded',
  accepted: 'succeeded',
  refused: 'failed',
  not_sent: 'not_sent',
  unknown: 'unknown',
}

type Call = CallKey & { requestHash?: Buffer }
type Calling = Pick<JobContext, 'jobId' | 'tenantId' | 'traceparent' | 'gate' | 'signal'>

/** Makes a call, and lets metrics and traces see it. */
const observed = async <O extends CallOutcome>(
  context: Calling,
  { provider, operation }: Pick<CallKey, 'provider' | 'operation'>,
  call: () => Promise<O>,
): Promise<O> => {
  const ended = providerLasted.startTimer({ provider, operation })
  const span = beginSpan('client', `${provider} ${operation}`, context.traceparent, { 'job.id': context.jobId })
  try {
    const outcome = await call()
    span.note({ 'call.outcome': outcome.kind })
    span.end()
    providerCalls.inc({ provider, operation, outcome: outcome.kind })
    return outcome
  } catch (error) {
    span.end(error)
    providerCalls.inc({ provider, operation, outcome: 'unknown' })
    throw error
  } finally {
    ended()
  }
}

/** Outcome of a call whose adapter threw. */
export const thrown = (error: unknown): CallOutcome => ({
  kind: 'unknown',
  code: error instanceof Error ? error.name : 'thrown',
  httpStatus:
    error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined,
})

/** A call as it is journalled before it is made: in a transaction of its own, or in one that writes what the call is for. Answers the state that `call` is told. */
export const journalCall = (
  trx: AnyTrx,
  { jobId, tenantId }: Pick<JobContext, 'jobId' | 'tenantId'>,
  { requestHash, ...name }: Call,
): Promise<PriorState> => beginCall(trx, { ...name, jobId, tenantId, requestHash: requestHash ?? null })

/**
 * Journals a call to the outside, makes it, and journals its outcome in the transaction of the next `effect` or `finish`. The key comes
 * from the record, never from the attempt. `call` learns in which state an earlier try left the same key: where that is `started` or
 * `unknown` the other side may have acted, so read or search before repeating. An adapter that throws leaves `unknown` behind.
 * Its outcome opens or closes the gate of the job's account. `begun` is what `journalCall` answered, where that has committed already.
 */
export const externalCall = async <O extends CallOutcome, P>(
  context: Calling & Pick<JobContext<P>, 'payload' | 'withNext' | 'effect'>,
  { begun, ...named }: Call & { begun?: PriorState },
  call: (prior: PriorState) => Promise<O>,
): Promise<{ outcome: O; priorState: PriorState }> => {
  const { provider, operation, key } = named
  const name = { provider, operation, key }
  const prior = begun === undefined ? await context.effect((trx) => journalCall(trx, context, named)) : begun
  crashPoint('call.started', operation)
  const journal = async (outcome: CallOutcome) => {
    const { code, httpStatus, reference } = outcome
    context.withNext(async (trx) => endCall(trx, name, { state: stateOf[outcome.kind], code, httpStatus, reference }))
    await tellGate(context, outcome)
  }
  try {
    const outcome = await observed(context, name, () => call(prior))
    crashPoint('call.answered', operation)
    await journal(outcome)
    return { outcome, priorState: prior }
  } catch (error) {
    await journal(thrown(error))
    throw error
  }
}

/** A call that changes nothing over there and needs no journal, such as the reading of a payment. */
export const readCall = async <O extends CallOutcome>(
  context: Calling,
  name: Pick<CallKey, 'provider' | 'operation'>,
  call: () => Promise<O>,
): Promise<O> => {
  try {
    const outcome = await observed(context, name, call)
    await tellGate(context, outcome)
    return outcome
  } catch (error) {
    await tellGate(context, thrown(error))
    throw error
  }
}
