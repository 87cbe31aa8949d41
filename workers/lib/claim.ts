import { compile } from '../../config/validator.ts'
import { putBack, claim, gateSeen, mayPass } from '../../db/jobs/index.ts'
import type { Fence, GateSeen, JobStart } from '../../db/jobs/index.ts'
import { upcast } from '../../jobs/job.ts'
import type { Job } from '../../jobs/job.ts'
import { GivenUp, Newer } from './failure.ts'
import { forget } from './gate.ts'
import * as metrics from './metrics.ts'
import { persist } from './persist.ts'
import type { Worker } from './run-job.ts'

/** So many starts that neither ended nor came back: their process died. */
const poisonDeaths = 3

/** The payload as this code wants it. Throws Newer for a version it does not know yet, and gives up on what does not fit. */
export const payloadOf = (job: Job, row: JobStart): unknown => {
  if (row.version > job.version) throw new Newer()
  const payload = upcast(job, row.payload, row.version)
  const problems = compile(job.payload)(payload)
  if (problems)
    throw new GivenUp(
      'payload_invalid',
      problems
        .map((problem) => `${problem.field} ${problem.message}`)
        .join('; ')
        .slice(0, 500),
    )
  return payload
}

export const refusePoison = (row: JobStart): void => {
  if (row.starts - row.attempts - 1 >= poisonDeaths)
    throw new GivenUp('poison', `the process died or was lost in ${row.starts - row.attempts - 1} starts of this job`)
}

export const observeStart = (row: JobStart): void => {
  metrics.started.inc({ kind: row.kind })
  metrics.waited.observe({ queue: row.queue }, Math.max(0, (Date.now() - row.runAt.getTime()) / 1000))
}

/**
 * Claims a job that may call its account; one whose gate was closed since it was handed over goes back, and its start does not count.
 * Null: a ghost.
 */
export const claimOpen = (
  fence: Fence,
  worker: Worker,
  leaseMs: number,
): Promise<{ claimed: JobStart; passage: 'open' | 'probe' | 'closed' } | null> =>
  persist<{ claimed: JobStart; passage: 'open' | 'probe' | 'closed' } | null, JobStart & GateSeen>(
    worker,
    async (trx, [claimed]) => {
      if (!claimed) return null
      if (claimed.gate === '') return { claimed, passage: 'open' }
      // A success means more then: it is written at once.
      if (claimed.isGateFailing) forget(claimed.gate)
      const passage = await mayPass(trx, claimed)
      if (passage === 'closed') await putBack(trx, fence, 0)
      return { claimed, passage }
    },
    claim(fence, worker.name, leaseMs, 0, gateSeen),
  )
