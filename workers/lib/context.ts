import { crashPoint } from '../../config/crash.ts'
import { child } from '../../config/log.ts'
import { traceIdOf } from '../../config/tracing.ts'
import { inPlatform, inTenant, TenantMoved } from '../../db/lib/connection.ts'
import type { AnyTrx, Context, OpenOptions, Statement, Trx } from '../../db/lib/connection.ts'
import { purgeTenant } from '../../jobs/admin.ts'
import { completeJob, lockFence, mustOwn } from '../../db/jobs/index.ts'
import type { Fence, JobStart, Locked } from '../../db/jobs/index.ts'
import { GivenUp, PutBack, RetryLater, Skipped } from './failure.ts'
import type { DatabaseContext, JobContext } from './processor.ts'

/**
 * Opens what a job works in: its tenant, or the platform. The request that asked for the job goes with it.
 * @param first locks the job; `work` is given its rows.
 */
export const openFor = <T, Row = Record<string, unknown>>(
  start: Pick<JobStart, 'requestId' | 'traceparent'> & { id?: string },
  tenantId: string | null,
  first: Statement,
  work: (trx: AnyTrx, rows: Row[]) => Promise<T>,
  options: OpenOptions = {},
): Promise<T> => {
  const context: Partial<Context> = {
    requestId: start.requestId,
    traceparent: start.traceparent,
    ...(start.id === undefined ? {} : { jobId: start.id }),
  }
  return tenantId === null
    ? inPlatform(work, context, { first })
    : inTenant(tenantId, work, context, { ...options, first })
}

/** Jobs that end a tenant here though it has moved elsewhere. */
const evenMoved: ReadonlySet<string> = new Set([purgeTenant.name])

export const tenantOf = (payload: unknown): string | null =>
  typeof payload === 'object' && payload !== null && 'tenantId' in payload && typeof payload.tenantId === 'string'
    ? payload.tenantId
    : null

export const databaseContext = (row: JobStart, signal: AbortSignal): DatabaseContext => ({
  tenantId: tenantOf(row.payload),
  jobId: row.id,
  kind: row.kind,
  requestId: row.requestId,
  askedAt: row.createdAt,
  gate: row.gate,
  attempt: row.attempts + 1,
  signal,
  traceparent: row.traceparent,
  // Made where it is asked for: most jobs say nothing.
  get log() {
    return child({ jobId: row.id, kind: row.kind, requestId: row.requestId, traceId: traceIdOf(row.traceparent) })
  },
  giveUp: (reason, message) => {
    throw new GivenUp(reason, message)
  },
  skip: (reason) => {
    throw new Skipped(reason)
  },
  putBack: (afterMs) => {
    throw new PutBack(afterMs)
  },
  retryLater: (message, { afterMs = 0 } = {}) => {
    throw new RetryLater(message, afterMs)
  },
})

export type OutsideRun = {
  context: JobContext
  isFinished: () => boolean
  /** Writes what waits for the next transaction. */
  recordPending: (trx: AnyTrx) => Promise<void>
}

/**
 * The context of a claimed job, with the fence before every effect. `permit` throws where the job may not go on; what came of a call that was made
 * is written all the same.
 */
export const outsideRun = (
  row: JobStart,
  fence: Fence,
  payload: unknown,
  signal: AbortSignal,
  worker: string,
  permit: (trx: AnyTrx, locked?: Locked) => Promise<void> = () => Promise.resolve(),
): OutsideRun => {
  const base = databaseContext(row, signal)
  const startedAt = Date.now()
  let pending: ((trx: AnyTrx) => Promise<unknown>)[] = []
  let isFinished = false
  const recordPending = async (trx: AnyTrx) => {
    for (const record of pending) await record(trx)
  }
  const effect = async <T>(work: (trx: never) => Promise<T>, endsWith: (value: T) => boolean): Promise<T> => {
    if (isFinished) throw new Error(`${row.kind}: the job has ended; nothing can follow finish()`)
    let ends = false
    const whole = async (trx: AnyTrx, rows: Locked[]): Promise<T> => {
      mustOwn(fence, rows)
      if (pending.length === 0) await permit(trx, rows[0])
      await recordPending(trx)
      const value = await work(trx as never)
      ends = endsWith(value)
      if (ends) completeJob(trx, fence, { outcome: 'done', worker, ranMs: Date.now() - startedAt })
      crashPoint(ends ? 'job.completing' : 'effect.writing', row.kind)
      return value
    }
    const result = await openFor(row, base.tenantId, lockFence(fence), whole, { evenMoved: evenMoved.has(row.kind) })
    pending = []
    isFinished ||= ends
    crashPoint(ends ? 'job.committed' : 'effect.committed', row.kind)
    return result
  }
  const context: JobContext = {
    ...base,
    payload,
    effect: (work) => effect(work, () => false),
    finishWhere: (work, endsWith) => effect(work, endsWith),
    inTenant: async (tenantId, work) => {
      const part = async (trx: Trx) => {
        if (tenantId === base.tenantId) await permit(trx)
        const value = await work(trx)
        crashPoint('part.writing', row.kind)
        return value
      }
      const value = await inTenant(tenantId, part, { requestId: row.requestId, traceparent: row.traceparent }).catch(
        (error: unknown) => {
          // A sweep goes on with the others: the rows of a tenant that has moved are not this installation's work any more.
          if (base.tenantId === null && error instanceof TenantMoved) return undefined as never
          throw error
        },
      )
      crashPoint('part.committed', row.kind)
      return value
    },
    finish: <T>(work?: (trx: never) => Promise<T>) =>
      effect(work ?? (() => Promise.resolve(undefined as T)), () => true),
    withNext: (record) => void pending.push(record),
  }
  return { context, isFinished: () => isFinished, recordPending }
}
