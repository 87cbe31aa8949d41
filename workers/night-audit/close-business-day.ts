import { ApiError } from '../../config/errors.ts'
import { isUnreachable } from '../../db/lib/connection.ts'
import { fromDatabase } from '../../db/lib/errors.ts'
import { FenceLost } from '../../db/jobs/index.ts'
import { advanceNightAudit, failNightAudit, handOver } from '../../db/night-audit/index.ts'
import { closeBusinessDay } from '../../jobs/night-audit.ts'
import { processor } from '../lib/processor.ts'

/** One start works for so long, well within what the queue allows, and then hands over to a job of its own. */
const workMs = 25_000
/** A failure that may pass is tried so often before the audit has failed. */
const mostTries = 5
const waitMs = 5_000

const refusals = new Set([400, 403, 404, 422])

/** The failure that the audit reports to people, without secrets. Null if it may pass by itself. */
const failureOf = (error: unknown, attempt: number): string | null => {
  const known = error instanceof ApiError ? error : fromDatabase(error)
  if (attempt < mostTries && !(known && refusals.has(known.status))) return null
  return known ? `${known.code}: ${known.message}` : 'unexpected: what happened is in the log of the worker'
}

/** Closes a business day, one short transaction after the other; each of them stands, whatever happens to the next. */
export const closeDay = processor(
  closeBusinessDay,
  async ({ payload: { nightAuditId }, effect, finish, retryLater, jobId, attempt, signal, log }) => {
    const startedAt = Date.now()
    try {
      for (let state = 'more'; state === 'more' && Date.now() - startedAt < workMs && !signal.aborted;) {
        state = await effect((trx) => advanceNightAudit(trx, nightAuditId, jobId))
        if (state === 'busy') return retryLater('another runner has the audit', { afterMs: waitMs })
        if (state === 'over') return undefined
      }
    } catch (error) {
      if (error instanceof FenceLost || isUnreachable(error) || signal.aborted) throw error
      const failure = failureOf(error, attempt)
      if (failure === null) throw error
      log.error({ err: error, nightAuditId }, 'a night audit has failed')
      return finish((trx) => failNightAudit(trx, nightAuditId, jobId, failure))
    }
    return finish((trx) => handOver(trx, nightAuditId, jobId))
  },
)
