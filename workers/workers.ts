import { Worker as BullWorker } from 'bullmq'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { child } from '../config/log.ts'
import { queueNames } from '../config/queues.ts'
import type { QueueName } from '../config/queues.ts'
import { startBeating } from './lib/beat.ts'
import { fenceOf, isHanded, workerOptions } from './lib/queues.ts'
import { connectRedis, isReady, refuseEviction, whenReady, withDuplicates } from './lib/redis.ts'
import { returnJob, runStart } from './lib/start.ts'
import type { Handed, Worker } from './lib/start.ts'
import type { Processor } from './lib/processor.ts'
import { wakeThrough } from './lib/wake.ts'
import { jobs } from '../jobs/all.ts'
import { processors as declared } from './processors.ts'

/** close() of BullMQ stops the renewal of locks last, so never while Redis is away. */
class QueueWorker extends BullWorker<Handed> {
  endRenewal() {
    return this.lockManager.close()
  }
}

export type WorkersOptions = {
  /** Names, or names with their concurrency (5 unless said). All queues when left out. */
  queues?: QueueName[] | Partial<Record<QueueName, number>>
  /** In place of those of workers/processors.ts. */
  processors?: readonly Processor[]
  name?: string
}

export type RunningWorkers = {
  name: string
  isReady: () => boolean
  /** Stops taking, lets what runs finish, and gives back what does not within the time. */
  stop: (options?: { deadlineMs?: number }) => Promise<void>
}

/** Every declared job has exactly one processor; a message for whoever starts the process otherwise. */
export const byKind = (processors: readonly Processor[], queues: readonly QueueName[]): Map<string, Processor> => {
  const found = new Map<string, Processor>()
  for (const each of processors) {
    if (found.has(each.job.name)) throw new Error(`${each.job.name} has two processors`)
    found.set(each.job.name, each)
  }
  const lacking = jobs.filter((job) => queues.includes(job.queue) && !found.has(job.name)).map((job) => job.name)
  if (lacking.length > 0) throw new Error(`no processor for ${lacking.join(', ')}`)
  return found
}

/** Runs the jobs of some queues in this process. openDatabase() comes first. Throws when it could lose jobs; see R4 of jobs.md. */
export const startWorkers = async (options: WorkersOptions = {}): Promise<RunningWorkers> => {
  const given = options.queues ?? queueNames
  const concurrency = Array.isArray(given) ? Object.fromEntries(given.map((queue) => [queue, 5])) : given
  const taken = queueNames.filter((queue) => (concurrency[queue] ?? 0) > 0)
  const processors = byKind(options.processors ?? declared, options.processors ? [] : taken)
  const name = options.name ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  const note = child({ worker: name })
  const redis = connectRedis('queues')
  const disconnect = withDuplicates(redis)
  // However long it takes: without Redis there is nothing to work on, and what it would evict must be known first.
  await whenReady(redis)
  await refuseEviction(redis).catch((error: unknown) => {
    disconnect()
    throw error
  })
  const stopWaking = wakeThrough(redis)
  const self: Worker = { name, inHand: new Set(), isEnding: false }

  const workers = taken.map((queue) => {
    const worker = new QueueWorker(
      queue,
      (job) => {
        const fence = fenceOf(job.id, job.attemptsStarted)
        if (fence === null) return Promise.resolve('foreign')
        // Redis lost the job's own record and kept its place in the line.
        if (!isHanded(job.data)) return returnJob(fence, self)
        return runStart(processors.get(job.name), { fence, kind: job.name, handed: job.data }, self)
      },
      workerOptions(queue, redis, concurrency[queue] ?? 1, name),
    )
    worker.on('error', (error) => note.debug({ err: error, queue }, 'bullmq'))
    worker.run().catch((error: unknown) => note.error({ err: error, queue }, 'the worker of a queue ended'))
    return worker
  })
  const beating = startBeating('worker', name, () => ({
    queues: Object.fromEntries(taken.map((queue) => [queue, concurrency[queue] ?? 1])),
    running: self.inHand.size,
  }))
  note.info({ queues: concurrency }, 'working')

  let stopping: Promise<void> | null = null
  const stop = async (deadlineMs: number) => {
    const end = Date.now() + deadlineMs
    const left = (share = 1) => Math.max(0, (end - Date.now()) * share)
    stopWaking()
    const closed = Promise.allSettled(workers.map((worker) => worker.close())).then(() => true)
    // close() waits for Redis; what matters is that nothing is in hand any more.
    const idle = async () => {
      while (self.inHand.size > 0) await sleep(10)
    }
    await Promise.race([idle(), sleep(left(0.7))])
    if (self.inHand.size > 0) {
      note.warn({ jobs: self.inHand.size }, 'jobs are given back')
      for (const start of self.inHand) start.abort.abort(new Error('the process ends'))
      await Promise.race([idle(), sleep(Math.min(1_000, left(0.3)))])
      for (const start of self.inHand) start.giveBack()
      await Promise.race([idle(), sleep(left(0.7))])
    }
    self.isEnding = true
    await Promise.race([closed, sleep(isReady(redis) ? left() : Math.min(200, left()))])
    await beating.stop()
    for (const worker of workers) await worker.endRenewal()
    disconnect()
  }
  return {
    name,
    isReady: () => stopping === null && isReady(redis),
    stop: ({ deadlineMs = 25_000 } = {}) => (stopping ??= stop(deadlineMs)),
  }
}
