import { setTimeout as wait } from 'node:timers/promises'
import { UnrecoverableError } from 'bullmq'
import { queueNames } from '../../config/queues.ts'
import type { QueueName } from '../../config/queues.ts'
import { inPlatform, prepared } from '../../db/lib/connection.ts'
import { isProbeDue, markDispatched, pausedIn } from '../../db/jobs/index.ts'
import type { Candidate } from '../../db/jobs/index.ts'
import { processors } from '../processors.ts'
import { handedOf } from './queues.ts'
import { runStart, WaitInRedis } from './run-job.ts'
import type { Delivery, Worker } from './run-job.ts'

export type Ran = { kind: string; jobId: string; outcome: string }

export type RunDueOptions = {
  /** Takes jobs that fall due this much later as due now. */
  aheadMs?: number
  /** Only these kinds; the others stay where they are. */
  kinds?: readonly string[]
  /** Only these queues; the others stay where they are. */
  queues?: readonly QueueName[]
  /** Ends after so many starts: a job that always asks for another would never end. */
  starts?: number
  /** Tries of the short tier are made at once, so many of them. */
  deliveries?: number
  /** Runs so many jobs at the same time, in place of one after the other. */
  atOnce?: number
}

type Chosen = Pick<RunDueOptions, 'kinds' | 'queues'> & { aheadMs: number }

const takeDue = ({ aheadMs, kinds, queues }: Chosen) =>
  inPlatform(async (trx) => {
    // By the indexes of jobs that are ready and of those that wait: those of stays to come are many, and none of them is due.
    // As with the relay, what is paused or waits at a closed gate is not due before the gate asks for a probe.
    const isDue = `status = 'pending' and run_at <= (select clock_timestamp() + make_interval(secs => cast(:aheadMs as float8) / 1000.0))
      and (cast(:kinds as text[]) is null or kind = any(:kinds)) and queue = any(cast(:queues as text[]))
      and not exists (select from provider_gate g where g.gate = jobs.gate and g.state = 'closed' and not ${isProbeDue})
      and not ${pausedIn({ queue: 'jobs.queue', kind: 'jobs.kind', tenantId: 'jobs.tenant_id', gate: 'jobs.gate' })}`
    const due = await prepared<Candidate>(
      trx,
      `select id, queue, kind, tenant_id, payload, dispatch_no + 1 as dispatch_no, request_id, traceparent, 0 as delay_ms from jobs
       where status = 'pending' and id in (select id from jobs where ready and ${isDue} union all select id from jobs where not ready and ${isDue})
       order by array_position(array['urgent', 'normal', 'bulk'], class), run_at, seq limit 50 for update skip locked`,
      { aheadMs, kinds: kinds ?? null, queues: queues ?? queueNames },
    )
    if (due.length > 0)
      markDispatched(
        trx,
        due.map((job) => job.id),
      )
    return due
  })

/**
 * Hands every due job to its processor in this process until none is due: the real claim, fence and
 * completion, with neither relay nor Redis in between. For the demo's seed and for tests. Answers which jobs started and how each ended.
 */
export const runDue = async ({
  aheadMs = 0,
  kinds,
  queues,
  starts = 500,
  deliveries = 10,
  atOnce = 1,
}: RunDueOptions = {}): Promise<Ran[]> => {
  const worker: Worker = { name: 'in-process', inHand: new Set(), isEnding: false }
  const done: Ran[] = []
  const again: Delivery[] = []
  const start = async (delivery: Delivery) => {
    const note = (outcome: string) => done.push({ kind: delivery.kind, jobId: delivery.fence.jobId, outcome })
    try {
      note(
        await runStart(
          processors.find((each) => each.job.name === delivery.kind),
          delivery,
          worker,
        ),
      )
    } catch (error) {
      if (error instanceof WaitInRedis) {
        note('again')
        const { fence } = delivery
        if (fence.delivery < deliveries) again.push({ ...delivery, fence: { ...fence, delivery: fence.delivery + 1 } })
      } else if (error instanceof UnrecoverableError) note('dead')
      else throw error
    }
  }
  for (let quiet = 0; ;) {
    const due = await takeDue({ aheadMs, ...(kinds ? { kinds } : {}), ...(queues ? { queues } : {}) })
    const handed = again.splice(0)
    if (due.length + handed.length === 0) {
      // A command may have asked for work "now" by a clock a moment ahead.
      if ((quiet += 1) > 1) return done
      await wait(5)
      continue
    }
    quiet = 0
    const waiting = [
      ...due.map((job) => ({
        fence: { jobId: job.id, dispatchNo: job.dispatchNo, delivery: 1 },
        kind: job.kind,
        handed: handedOf(job),
      })),
      ...handed,
    ].values()
    const runSome = async () => {
      for (const delivery of waiting) await start(delivery)
    }
    await Promise.all(Array.from({ length: atOnce }, runSome))
    if (done.length > starts)
      throw new Error(
        `jobs do not come to an end: ${done
          .slice(-5)
          .map((one) => `${one.kind} ${one.outcome}`)
          .join(', ')}`,
      )
  }
}
