import { retryClasses } from '../../../config/queues.ts'
import type { RetryClass } from '../../../config/queues.ts'

export type Wait =
  | { tier: 'redis' | 'postgres'; ms: number }
  | { tier: 'end'; outcome: 'dead' | 'expired' | 'failed' | 'missed' }

/** Waits over this stay in PostgreSQL, where a loss of Redis does not touch them. */
const longestInRedisMs = 60_000

/**
 * Decides the wait after failure number `attempts` (from 1) of a job, or its end. `workers/lib/retry.ts` decides whether a failure is
 * tried again at all. The short tier waits with full jitter; the long tier, whose waits
 * are the horizon of an outage, between half and the whole of its wait. `tries` of a kind is all it gets.
 * @param atLeastMs what the other side asked for (Retry-After).
 * @param random from 0 to 1.
 */
export const nextWait = (
  retry: RetryClass,
  attempts: number,
  {
    tries,
    atLeastMs = 0,
    random = Math.random(),
  }: { tries?: number | undefined; atLeastMs?: number; random?: number } = {},
): Wait => {
  const rule = retryClasses[retry]
  const short = Math.min(tries ?? rule.tries, rule.tries)
  if (attempts < short) {
    const [first, most] = rule.backoffMs
    const ms = Math.max(atLeastMs, Math.round(random * Math.min(most, first * 2 ** (attempts - 1))))
    return { tier: ms > longestInRedisMs ? 'postgres' : 'redis', ms }
  }
  const later: number | undefined =
    tries === undefined || tries > rule.tries ? rule.laterMs[attempts - short] : undefined
  if (later === undefined || (tries !== undefined && attempts >= tries)) return { tier: 'end', outcome: rule.end }
  return { tier: 'postgres', ms: Math.max(atLeastMs, Math.round(later * (0.5 + random / 2))) }
}

/**
 * Decides the wait of a job after another change of the same records came first, for the `times`th time. It has no end, since the job
 * did nothing wrong: after the waits of the class `internal` it looks again once a minute.
 */
export const nextAfterContention = (times: number, given: { atLeastMs?: number; random?: number } = {}): Wait => {
  const { tries, laterMs } = retryClasses.internal
  return nextWait('internal', Math.min(times, tries + laterMs.length - 1), given)
}
