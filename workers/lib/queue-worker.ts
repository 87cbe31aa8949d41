import { Worker as BullWorker } from 'bullmq'
import { log } from '../../config/log.ts'
import type { QueueName } from '../../config/queues.ts'
import { fenceOf, isHanded, workerOptions } from './queues.ts'
import * as metrics from './metrics.ts'
import { connectRedis, isReady, withDuplicates } from './redis.ts'
import { returnJob } from './give-back.ts'
import { runStart } from './run-job.ts'
import type { Handed, Worker } from './run-job.ts'
import type { Processor } from './processor.ts'

/** close() of BullMQ stops the renewal of locks last, so never while Redis is away. */
class QueueWorker extends BullWorker<Handed> {
  endRenewal() {
    return this.lockManager.close()
  }
}

/** The BullMQ worker of one queue, with connections of its own: it can be replaced without touching other queues. */
export type Line = {
  readonly queue: QueueName
  /** Starts so far. */
  starts: () => number
  /** Tells whether it could start another job now. */
  hasRoom: () => boolean
  isReady: () => boolean
  /** Takes nothing more; resolves once what it has in hand has ended and Redis was told so, hence never while Redis is away. */
  close: () => Promise<unknown>
  /** Ends its connections, whatever is under way. */
  cut: () => Promise<void>
}

export const openLine = (
  queue: QueueName,
  concurrency: number,
  processors: ReadonlyMap<string, Processor>,
  self: Worker,
): Line => {
  const redis = connectRedis('queues')
  const disconnect = withDuplicates(redis)
  let starts = 0
  let inHand = 0
  const note = log.child({ worker: self.name, queue })
  const worker = new QueueWorker(
    queue,
    async (job) => {
      starts += 1
      inHand += 1
      try {
        const fence = fenceOf(job.id, job.attemptsStarted)
        if (fence === null) {
          metrics.foreign.inc({ queue })
          note.warn({ job: String(job.id).slice(0, 60) }, 'a job in Redis is none of ours; it is not run')
          return 'foreign'
        }
        // Redis lost the job's own record and kept its place in the line.
        if (!isHanded(job.data)) return await returnJob(fence, self)
        return await runStart(processors.get(job.name), { fence, kind: job.name, handed: job.data }, self)
      } finally {
        inHand -= 1
      }
    },
    workerOptions(queue, redis, concurrency, self.name),
  )
  worker.on('error', (error) => note.debug({ err: error }, 'bullmq'))
  worker.run().catch((error: unknown) => note.error({ err: error }, 'the worker of a queue ended'))
  return {
    queue,
    starts: () => starts,
    hasRoom: () => inHand < concurrency,
    isReady: () => isReady(redis),
    close: () => worker.close(),
    cut: async () => {
      await worker.endRenewal()
      disconnect()
    },
  }
}
