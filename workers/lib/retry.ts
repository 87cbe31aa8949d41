import { ApiError } from '../../config/errors.ts'
import { FenceLost } from '../../db/jobs/index.ts'
import { suspendedWaitMs } from '../../config/queues.ts'
import { isUnreachable, TenantMoved } from '../../db/lib/connection.ts'
import { isContended } from '../../db/lib/errors.ts'
import { AtGate, Closed, Ghost, GivenUp, Newer, PutBack, RetryLater, Returned, Skipped } from './failure.ts'

/** A kind or a version that only newer code knows waits so long for its worker. */
export const putBackMs = 60_000
const awayMs = 2_000

/** The next step after a start that did not commit. How long a retry waits, and which one is the last, is said by `db/jobs/rules/retry.ts`. */
export type Verdict =
  | { next: 'nothing'; outcome: 'ghost' | 'fenced' | 'gated' }
  /** The start does not count. `isBegun`: the processor may have made calls outside, which are kept. */
  | { next: 'give_back'; afterMs: number; isBegun: boolean }
  | { next: 'skip'; reason: string }
  /** Another try cannot pass. */
  | { next: 'give_up'; reason: string }
  /** `isContended`: another change of the same records came first, which uses up no try. */
  | { next: 'retry'; atLeastMs: number; isContended: boolean }

/** Decides whether a job whose start ended with an error is tried again. */
export const verdictOf = (error: unknown): Verdict => {
  if (error instanceof Ghost) return { next: 'nothing', outcome: 'ghost' }
  if (error instanceof FenceLost) return { next: 'nothing', outcome: 'fenced' }
  if (error instanceof Closed) return { next: 'nothing', outcome: 'gated' }
  if (error instanceof Returned) return { next: 'give_back', afterMs: 0, isBegun: false }
  if (error instanceof PutBack) return { next: 'give_back', afterMs: error.afterMs, isBegun: true }
  if (error instanceof Newer) return { next: 'give_back', afterMs: putBackMs, isBegun: false }
  // The gate holds it longer; this is for the job whose row names the gate of another account.
  if (error instanceof AtGate) return { next: 'give_back', afterMs: putBackMs, isBegun: true }
  // PostgreSQL went away under it: that is no failure of the job, whose tries are for its own.
  if (isUnreachable(error)) return { next: 'give_back', afterMs: awayMs, isBegun: true }
  if (error instanceof TenantMoved) return { next: 'give_back', afterMs: suspendedWaitMs, isBegun: false }
  if (error instanceof Skipped) return { next: 'skip', reason: error.reason }
  const reason = finalReason(error)
  if (reason !== null) return { next: 'give_up', reason }
  return { next: 'retry', atLeastMs: askedMs(error), isContended: error instanceof ApiError && isContended(error) }
}

// Failures that another try of the same job cannot mend: validation, refusals, records that are gone. A refusal that says when to ask again passes.
const final = new Set([400, 401, 403, 404, 422])

const finalReason = (error: unknown): string | null => {
  if (error instanceof GivenUp) return error.reason
  return error instanceof ApiError && final.has(error.status) && error.retryAfterSeconds === undefined
    ? error.code
    : null
}

/** The wait that the other side, or the processor, asked for. */
const askedMs = (error: unknown): number => {
  if (error instanceof RetryLater) return error.afterMs
  return error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
}
