import { UnrecoverableError } from 'bullmq'
import { crashPoint } from '../../config/crash.ts'
import { queues } from '../../config/queues.ts'
import { child, plainLog } from '../../config/log.ts'
import { beginSpan, traceIdOf } from '../../config/tracing.ts'
import type { AnyTrx } from '../../db/lib/connection.ts'
import {
  completeJob,
  pausePoisoned,
  recordDeath,
  recordFailure,
  recordSkip,
  claim,
  lockClaimed,
  lockStart,
  mustOwn,
  releaseProbe,
  countMiss,
} from '../../db/jobs/index.ts'
import type { Fence, JobStart, Lost } from '../../db/jobs/index.ts'
import type { Job } from '../../jobs/job.ts'
import { claimOpen, observeStart, payloadOf, refusePoison } from './claim.ts'
import { databaseContext, openFor, outsideRun } from './context.ts'
import { Closed, Ghost, Returned, TimedOut, keptError } from './failure.ts'
import { forget } from './gate.ts'
import * as metrics from './metrics.ts'
import { permit, waitsForTenant } from './permit.ts'
import { persist } from './persist.ts'
import type { Processor } from './processor.ts'
import { returnJob } from './give-back.ts'
import { lostBefore, oneSuspectAtATime } from './poison.ts'
import { putBackMs, verdictOf } from './retry.ts'
import { tally } from './tally.ts'
import { timed } from './timed.ts'

/** Data that BullMQ hands over: names and ids. The payload is read from the row. */
export type Handed = { tenantId: string | null; requestId: string; traceparent: string | null }

export type Delivery = { fence: Fence; kind: string; handed: Handed }

/** One start under way. */
export type InHand = {
  delivery: Delivery
  /** Aborted at the queue's timeout, and when the process must end. */
  abort: AbortController
  /** Sends the job back, whatever its processor does meanwhile. */
  giveBack: () => void
}

export type Worker = {
  name: string
  inHand: Set<InHand>
  /** Set when the process ends: nothing waits for PostgreSQL any more. */
  isEnding: boolean
}

/** Tells BullMQ to start the job again after a while. Its message is a code: nothing personal enters Redis. */
export class WaitInRedis extends Error {
  readonly delayMs: number
  constructor(code: string, delayMs: number) {
    super(code)
    this.name = 'WaitInRedis'
    this.delayMs = delayMs
  }
}

type Start = InHand & { returned: Promise<never>; recordPending: (trx: AnyTrx) => Promise<void> }

const begin = (delivery: Delivery): Start => {
  let giveBack = () => {}
  const returned = new Promise<never>((_, reject) => {
    giveBack = () => reject(new Returned())
  })
  returned.catch(() => {})
  return { delivery, abort: new AbortController(), giveBack, returned, recordPending: () => Promise.resolve() }
}

/** Puts a start in a span of its own; the row names the span that asked for the job. */
const tracedRow = (row: JobStart, { delivery }: Start): JobStart => ({
  ...row,
  traceparent: delivery.handed.traceparent,
})

const runClaimed = async (
  each: Processor & { style: 'outside' },
  start: Start,
  worker: Worker,
  claimed: JobStart,
): Promise<void> => {
  const { timeoutMs } = queues[each.job.queue]
  const { fence } = start.delivery
  const row = tracedRow(claimed, start)
  crashPoint('job.claimed', row.kind)
  observeStart(row)
  refusePoison(row)
  const payload = payloadOf(each.job, row)
  const { context, isFinished, recordPending } = outsideRun(
    row,
    fence,
    payload,
    start.abort.signal,
    worker.name,
    each.job.feature === undefined && !waitsForTenant(each.job)
      ? undefined
      : (trx, locked) => permit(trx, each.job, payload, { ends: each.ends, locked }),
  )
  start.recordPending = recordPending
  const work = async () => {
    await each.run(context)
    if (!isFinished()) await context.finish()
  }
  const time = timed(start.abort, timeoutMs)
  const working = work()
  working.catch(() => {})
  await Promise.race([working, time.late, start.returned]).finally(time.end)
}

const runOutside = async (each: Processor & { style: 'outside' }, start: Start, worker: Worker): Promise<void> => {
  const { timeoutMs, lockMs } = queues[each.job.queue]
  const { fence } = start.delivery
  const opened = await claimOpen(fence, worker, timeoutMs + lockMs)
  if (!opened) throw new Ghost()
  const { claimed, passage } = opened
  if (passage === 'closed') throw new Closed()
  if (passage === 'open') return runClaimed(each, start, worker, claimed)
  forget(claimed.gate)
  return runClaimed(each, start, worker, claimed).finally(() =>
    persist(worker, (trx) => releaseProbe(trx, claimed)).catch(() => {}),
  )
}

const runOnDatabase = async (
  each: Processor & { style: 'database' },
  start: Start,
  worker: Worker,
  { begun, unseen }: Lost,
): Promise<void> => {
  const { timeoutMs, lockMs } = queues[each.job.queue]
  const { fence, handed } = start.delivery
  // A job that was lost before is claimed. If it is lost again, it must be known whether it really began.
  const isClaimed = begun + unseen > 0
  const claimed = isClaimed
    ? await persist<JobStart | undefined, JobStart>(
        worker,
        (_, [row]) => Promise.resolve(row),
        claim(fence, worker.name, timeoutMs + lockMs, unseen),
      )
    : undefined
  if (isClaimed && !claimed) throw new Ghost()
  const time = timed(start.abort, timeoutMs)
  const lock = isClaimed ? lockClaimed(fence, timeoutMs) : lockStart(fence, timeoutMs)
  const working = openFor<void, JobStart>({ ...handed, id: fence.jobId }, handed.tenantId, lock, async (trx, rows) => {
    const startedAt = Date.now()
    if (claimed) mustOwn(fence, rows)
    const locked = claimed ?? rows[0]
    if (!locked) throw new Ghost()
    const row = tracedRow(locked, start)
    crashPoint('job.claimed', row.kind)
    observeStart(row)
    refusePoison(row)
    const payload = payloadOf(each.job, row)
    await permit(trx, each.job, payload)
    await each.run(trx, payload, databaseContext(row, start.abort.signal))
    if (time.isLate()) throw new TimedOut(timeoutMs)
    completeJob(trx, fence, { outcome: 'done', worker: worker.name, ranMs: Date.now() - startedAt })
    crashPoint('job.completing', row.kind)
  })
  working.catch(() => {})
  // Not raced with the time: its transaction ends by itself, and the row is free only then.
  await Promise.race([working, start.returned]).finally(time.end)
  crashPoint('job.committed', each.job.name)
}

const attempt = async (each: Processor, start: Start, worker: Worker): Promise<void> => {
  const lost = await lostBefore(start.delivery.fence, each, worker)
  return oneSuspectAtATime(lost, start.returned, () =>
    each.style === 'outside' ? runOutside(each, start, worker) : runOnDatabase(each, start, worker, lost),
  )
}

const idsOf = ({ fence, handed: { requestId, traceparent } }: Delivery) => ({
  jobId: fence.jobId,
  requestId,
  traceId: traceIdOf(traceparent),
})

const settleTick = async (job: Job, worker: Worker, missed: boolean) => {
  if (job.retry !== 'tick') return
  const misses = await persist(worker, (trx) => countMiss(trx, job.name, missed))
  if (misses >= 3) child({ kind: job.name, misses }).error('a scheduled job failed three times or more in a row')
}

/** Writes how a start ended that did not commit. Answers the outcome for BullMQ, or throws what makes it start again. */
const settle = async (job: Job, start: Start, worker: Worker, startedAt: number, error: unknown): Promise<string> => {
  const { fence } = start.delivery
  const note = child({ ...idsOf(start.delivery), kind: job.name })
  const ranMs = Date.now() - startedAt
  const verdict = verdictOf(error)
  if (verdict.next === 'nothing') {
    if (verdict.outcome === 'ghost') metrics.ghosts.inc({ queue: job.queue })
    if (verdict.outcome === 'fenced') {
      metrics.lostFences.inc({ queue: job.queue })
      note.warn('a newer start owns this job; this one ends without effect')
    }
    return verdict.outcome
  }
  if (verdict.next === 'give_back')
    return returnJob(fence, worker, verdict.afterMs, verdict.isBegun ? start.recordPending : undefined)
  if (verdict.next === 'skip') {
    const skipped = await persist(worker, async (trx) => {
      const written = await recordSkip(trx, fence, { reason: verdict.reason, worker: worker.name, ranMs })
      if (written) await start.recordPending(trx)
      return written
    })
    return skipped ? 'skipped' : 'ghost'
  }
  const kept = keptError(error)
  const wait = await persist(worker, async (trx) => {
    const { lockMs } = queues[job.queue]
    const written =
      verdict.next === 'retry'
        ? await recordFailure(trx, fence, {
            kind: job,
            error: kept,
            atLeastMs: verdict.atLeastMs,
            isContended: verdict.isContended,
            worker: worker.name,
            ranMs,
            leaseMs: lockMs,
          })
        : await recordDeath(trx, fence, kept)
    if (written === null) return null
    await start.recordPending(trx)
    if (verdict.next === 'give_up' && verdict.reason === 'poison' && (await pausePoisoned(trx, job)))
      note.error('the kind is paused: ten of its jobs ended their process within ten minutes')
    return written
  })
  if (wait === null) return 'ghost'
  crashPoint('job.failed', job.name)
  if (wait.tier === 'end') {
    note.error({ err: error, outcome: wait.outcome, reason: kept.code }, 'the job is given up')
    await settleTick(job, worker, true)
    throw new UnrecoverableError(kept.code)
  }
  note.warn({ err: error, waitMs: wait.ms, tier: wait.tier }, 'the job failed and will be tried again')
  if (wait.tier === 'redis') throw new WaitInRedis(kept.code, wait.ms)
  return 'later'
}

/** A line for what came to its end, under the request that asked for it. What comes by the clock would fill the log. */
const tell = (job: Job, delivery: Delivery, outcome: string, ranMs: number) => {
  if (outcome !== 'done' && outcome !== 'skipped') return
  const line = { ...idsOf(delivery), kind: job.name, outcome, ms: ranMs }
  plainLog[job.retry === 'tick' ? 'debug' : 'info'](line, 'the job ended')
}

/**
 * One start of one job, from claim to end. Answers what became of it; throws WaitInRedis to be started again soon, and
 * UnrecoverableError for a job that is given up.
 */
export const runStart = async (each: Processor | undefined, delivery: Delivery, worker: Worker): Promise<string> => {
  // A kind that only newer code knows: its worker will come.
  if (!each) return returnJob(delivery.fence, worker, putBackMs)
  const startedAt = Date.now()
  const { fence, handed } = delivery
  const span = beginSpan('consumer', `run ${each.job.name}`, handed.traceparent, {
    'job.id': fence.jobId,
    'job.kind': each.job.name,
    'job.queue': each.job.queue,
    'job.dispatch': fence.dispatchNo,
    'job.delivery': fence.delivery,
  })
  const traced = { ...delivery, handed: { ...handed, traceparent: span.traceparent } }
  const start = begin(traced)
  worker.inHand.add(start)
  let outcome = 'failed'
  let failure: unknown
  try {
    outcome = await attempt(each, start, worker).then(
      () => 'done',
      (error: unknown) => {
        failure = error
        return settle(each.job, start, worker, startedAt, error)
      },
    )
    if (outcome === 'done') await settleTick(each.job, worker, false)
    return outcome
  } finally {
    worker.inHand.delete(start)
    const ranMs = Date.now() - startedAt
    metrics.finished.inc({ kind: each.job.name, outcome })
    tally(each.job.queue, outcome)
    metrics.lasted.observe({ kind: each.job.name }, ranMs / 1000)
    tell(each.job, traced, outcome, ranMs)
    span.note({ 'job.outcome': outcome })
    span.end(outcome === 'failed' || outcome === 'later' ? failure : undefined)
  }
}
