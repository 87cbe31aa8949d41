import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { child } from '../config/log.ts'
import { queueNames, queues } from '../config/queues.ts'
import type { QueueName } from '../config/queues.ts'
import { startBeating } from './lib/heartbeat.ts'
import { openLine } from './lib/queue-worker.ts'
import type { Line } from './lib/queue-worker.ts'
import * as metrics from './lib/metrics.ts'
import { connectRedis, isReady, refuseEviction, whenReady } from './lib/redis.ts'
import type { Worker } from './lib/run-job.ts'
import type { Processor } from './lib/processor.ts'
import { startWatchdog } from './lib/watchdog.ts'
import type { Patience } from './lib/watchdog.ts'
import { wakeThrough } from './lib/wake.ts'
import { jobs } from '../jobs/all.ts'
import { processors as declared } from './processors.ts'
import { registerModules } from '../db/register.ts'

export type WorkersOptions = {
  /** Names, or names with their concurrency (the places of the queue unless said). All queues when left out. */
  queues?: QueueName[] | Partial<Record<QueueName, number>>
  /** In place of those of workers/processors.ts. */
  processors?: readonly Processor[]
  name?: string
  patience?: Patience
}

export type RunningWorkers = {
  name: string
  isReady: () => boolean
  /** Resolves when the process had better be started anew: jobs wait, and nothing here makes them start. */
  failed: Promise<Error>
  /** Stops taking, lets what runs finish, and gives back what does not within the time. */
  stop: (options?: { deadlineMs?: number }) => Promise<void>
}

/** Maps kinds to processors. Throws a message for the operator unless every declared job has exactly one processor. */
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
  registerModules()
  const given = options.queues ?? queueNames
  const concurrency = Array.isArray(given)
    ? Object.fromEntries(given.map((queue) => [queue, queues[queue].places]))
    : given
  const taken = queueNames.filter((queue) => (concurrency[queue] ?? 0) > 0)
  const processors = byKind(options.processors ?? declared, options.processors ? [] : taken)
  const name = options.name ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  const note = child({ worker: name })
  const redis = connectRedis('queues')
  // However long it takes: without Redis there is nothing to work on, and what it would evict must be known first.
  await whenReady(redis)
  await refuseEviction(redis).catch((error: unknown) => {
    redis.disconnect()
    throw error
  })
  const stopWaking = wakeThrough(redis)
  const self: Worker = { name, inHand: new Set(), isEnding: false }

  const open = (queue: QueueName) => openLine(queue, concurrency[queue] ?? 1, processors, self)
  let lines = taken.map(open)
  const leaving = new Set<Line>()
  // The jobs in hand of the old line may end. Its connections go after that, or when its time is over.
  const retire = async (line: Line) => {
    leaving.add(line)
    await Promise.race([line.close(), sleep(queues[line.queue].timeoutMs, undefined, { ref: false })])
    await line.cut()
    leaving.delete(line)
  }
  const rebuild = (line: Line) => {
    metrics.rebuilds.inc({ queue: line.queue })
    lines = lines.map((each) => (each === line ? open(line.queue) : each))
    retire(line).catch((error: unknown) => note.error({ err: error }, 'the old worker of a queue did not end'))
  }
  let fail: (error: Error) => void = () => {}
  const failed = new Promise<Error>((resolve) => {
    fail = resolve
  })
  const stopWatching = startWatchdog(
    () => lines,
    rebuild,
    (queue) => fail(new Error(`no job of ${queue} starts`)),
    options.patience,
  )
  const beating = startBeating('worker', name, () => ({
    queues: Object.fromEntries(taken.map((queue) => [queue, concurrency[queue] ?? 1])),
    running: self.inHand.size,
    current: [...self.inHand]
      .slice(0, 50)
      .map(({ delivery }) => ({ jobId: delivery.fence.jobId, kind: delivery.kind })),
  }))
  note.info({ queues: concurrency }, 'working')

  let stopping: Promise<void> | null = null
  const stop = async (deadlineMs: number) => {
    const end = Date.now() + deadlineMs
    const left = (share = 1) => Math.max(0, (end - Date.now()) * share)
    stopWatching()
    stopWaking()
    const closed = Promise.allSettled(lines.map((line) => line.close())).then(() => true)
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
    // Redis is told last; it finds out by itself when the locks lapse.
    await Promise.race([closed, sleep(Math.min(isReady(redis) ? 2_000 : 200, left()))])
    await beating.stop()
    for (const line of [...lines, ...leaving]) await line.cut()
    redis.disconnect()
  }
  return {
    name,
    isReady: () => stopping === null && lines.every((line) => line.isReady()),
    failed,
    stop: ({ deadlineMs = 25_000 } = {}) => (stopping ??= stop(deadlineMs)),
  }
}
