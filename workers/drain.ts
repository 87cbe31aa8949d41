import { setTimeout as sleep } from 'node:timers/promises'
import { inPlatform } from '../db/lib/connection.ts'
import { unfinished } from '../db/jobs/index.ts'

/**
 * Waits until no job is under way or due within `withinMs`, so that what tests and scripts asked for has happened, follow-up jobs and
 * short retries too. A relay and workers must be running. Throws with the jobs that are left when it takes longer than `timeoutMs`.
 */
export const drain = async ({
  timeoutMs = 60_000,
  withinMs = 1_500,
}: { timeoutMs?: number; withinMs?: number } = {}): Promise<void> => {
  for (const end = Date.now() + timeoutMs; ;) {
    const left = await inPlatform((trx) => unfinished(trx, withinMs))
    if (left.length === 0) return
    if (Date.now() > end) {
      const lines = left.map(
        (job) =>
          `${job.kind} ${job.status} ${job.runAt.toISOString()} ${job.lastError?.code ?? ''} ${job.lastError?.message ?? ''}`,
      )
      throw new Error(`jobs are left after ${timeoutMs} ms:\n${lines.join('\n')}`)
    }
    await sleep(10)
  }
}
