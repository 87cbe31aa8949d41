import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../config/errors.ts'
import { inPlatform, isUnreachable } from '../../db/lib/connection.ts'
import type { PlatformTrx, Statement } from '../../db/lib/connection.ts'

/**
 * Repeats while PostgreSQL is away: a start waits for it, rather than count a failure that is none of the job's.
 * @param first sent with the beginning of the transaction; `work` is given its rows.
 */
export const persist = async <T, Row = Record<string, unknown>>(
  worker: { isEnding: boolean },
  work: (trx: PlatformTrx, rows: Row[]) => Promise<T>,
  first?: Statement,
): Promise<T> => {
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await inPlatform(work, {}, { first })
    } catch (error) {
      const contended = error instanceof ApiError && (error.status === 409 || error.status === 503)
      if (worker.isEnding || !(contended || isUnreachable(error))) throw error
      await sleep(waitMs)
    }
  }
}
