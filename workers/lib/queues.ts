import { Queue } from 'bullmq'
import type { JobsOptions, WorkerOptions } from 'bullmq'
import { queues, retryClasses } from '../../config/queues.ts'
import type { QueueName } from '../../config/queues.ts'
import { queuePrefix } from '../../config/redis.ts'
import type { RedisConnection } from '../../config/redis.ts'
import type { Candidate, Fence } from '../../db/jobs/index.ts'
import { tenantOf } from './context.ts'
import type { Handed } from './run-job.ts'
import { WaitInRedis } from './run-job.ts'

/** Ids name the row and its dispatch, so a second hand-over changes nothing. BullMQ refuses ':' in them. */
export const bullId = (id: string, dispatchNo: number) => `j-${id}-${dispatchNo}`

/** The fence of a delivery; null for an id that is none of ours. */
export const fenceOf = (bullJobId: string | undefined, delivery: number): Fence | null => {
  const match = /^j-([0-9a-f-]{36})-(\d+)$/.exec(bullJobId ?? '')
  return match?.[1] === undefined ? null : { jobId: match[1], dispatchNo: Number(match[2]), delivery }
}

/** The part of a job that goes to Redis: its tenant, and the request to trace it to. */
export const handedOf = ({
  payload,
  requestId,
  traceparent,
}: Pick<Candidate, 'payload' | 'requestId' | 'traceparent'>): Handed => ({
  tenantId: tenantOf(payload),
  requestId,
  traceparent,
})

/** Tells whether Redis still has what was handed over. */
export const isHanded = (data: unknown): data is Handed =>
  typeof data === 'object' &&
  data !== null &&
  'requestId' in data &&
  typeof data.requestId === 'string' &&
  'tenantId' in data

const backoff = 'row'
const mostTries = Math.max(...Object.values(retryClasses).map((rule) => rule.tries))

/** The row counts and decides; BullMQ only must not give up before it does. A few ended jobs stay for the dashboard. */
export const jobOptions = (id: string, dispatchNo: number, delayMs: number): JobsOptions => ({
  jobId: bullId(id, dispatchNo),
  delay: delayMs,
  attempts: mostTries + 3,
  backoff: { type: backoff },
  removeOnComplete: { count: 100, age: 3_600 },
  removeOnFail: { count: 500, age: 86_400 },
  stackTraceLimit: 0,
})

export const workerOptions = (
  queue: QueueName,
  connection: RedisConnection,
  concurrency: number,
  name: string,
): WorkerOptions => ({
  connection,
  prefix: queuePrefix(queue),
  name,
  concurrency,
  autorun: false,
  lockDuration: queues[queue].lockMs,
  stalledInterval: queues[queue].stalledMs,
  // With the defaults of 1 and unlimited, two crashes would fail a job in Redis.
  maxStalledCount: 1000,
  maxStartedAttempts: mostTries + 3,
  drainDelay: 2,
  runRetryDelay: 500,
  settings: { backoffStrategy: (_attempts, _type, error) => (error instanceof WaitInRedis ? error.delayMs : 1_000) },
})

export const openQueue = (queue: QueueName, connection: RedisConnection): Queue<Handed> =>
  new Queue<Handed>(queue, { connection, prefix: queuePrefix(queue) })
