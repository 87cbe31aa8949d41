import { crashPoint } from '../../config/crash.ts'
import { beginCall, endCall } from '../../db/jobs/external-calls.ts'
import type { CallKey, CallState } from '../../db/jobs/external-calls.ts'
import { providerCalls, providerLasted } from './metrics.ts'
import type { JobContext } from './processor.ts'

/** What every answer of an adapter says of itself; adapters add their own fields. */
export type CallOutcome = {
  kind: 'known' | 'accepted' | 'refused' | 'not_sent' | 'unknown'
  code?: string | undefined
  httpStatus?: number | undefined
  /** The other side's id. */
  reference?: string | undefined
}

export type PriorState = CallState | null

const stateOf: Record<CallOutcome['kind'], CallState> = {
  known: 'succeeded',
  accepted: 'succeeded',
  refused: 'failed',
  not_sent: 'not_sent',
  unknown: 'unknown',
}

/**
 * Journals a call to the outside, makes it, and journals its outcome in the transaction of the next `effect` or `finish`. The key comes
 * from the record, never from the attempt. `call` learns in which state an earlier try left the same key: where that is `started` or
 * `unknown` the other side may have acted, so read or search before repeating. An adapter that throws leaves `unknown` behind.
 */
export const externalCall = async <O extends CallOutcome, P>(
  context: Pick<JobContext<P>, 'payload' | 'jobId' | 'tenantId' | 'withNext' | 'effect'>,
  { provider, operation, key, requestHash }: CallKey & { requestHash?: Buffer },
  call: (prior: PriorState) => Promise<O>,
): Promise<{ outcome: O; priorState: PriorState }> => {
  const name = { provider, operation, key }
  const prior = await context.effect((trx) =>
    beginCall(trx, { ...name, jobId: context.jobId, tenantId: context.tenantId, requestHash: requestHash ?? null }),
  )
  crashPoint('call.started', operation)
  const ended = providerLasted.startTimer({ provider, operation })
  try {
    const outcome = await call(prior)
    crashPoint('call.answered', operation)
    providerCalls.inc({ provider, operation, outcome: outcome.kind })
    const { code, httpStatus, reference } = outcome
    context.withNext((trx) => endCall(trx, name, { state: stateOf[outcome.kind], code, httpStatus, reference }))
    return { outcome, priorState: prior }
  } catch (error) {
    providerCalls.inc({ provider, operation, outcome: 'unknown' })
    context.withNext((trx) =>
      endCall(trx, name, { state: 'unknown', code: error instanceof Error ? error.name : 'thrown' }),
    )
    throw error
  } finally {
    ended()
  }
}
