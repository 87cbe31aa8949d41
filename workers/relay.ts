import type { Queue } from 'bullmq'
import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../config/crash.ts'
import { child, log } from '../config/log.ts'
import { settings } from '../config/env.ts'
import type { QueueName } from '../config/queues.ts'
import type { RedisConnection } from '../config/redis.ts'
import { beginSpan } from '../config/tracing.ts'
import { inPlatform, platformRows } from '../db/lib/connection.ts'
import {
  filling,
  leadQueue,
  lookForWork,
  markDispatched,
  walkIndexes,
  pickFair,
  takeBackPaused,
  beginEpoch,
} from '../db/jobs/index.ts'
import type { Candidate, Pick, Work } from '../db/jobs/index.ts'
import { startBeating } from './lib/heartbeat.ts'
import { measureMemory, startMeasuring } from './lib/measure.ts'
import * as metrics from './lib/metrics.ts'
import { isEntry, runProcess } from './lib/process.ts'
import { keepPace, nextDepth, paceMs, soonestMs } from './lib/relay-pace.ts'
import type { Depth, Pace } from './lib/relay-pace.ts'
import { handedOf, jobOptions, openQueue } from './lib/queues.ts'
import { connectRedis, isReady } from './lib/redis.ts'
import type { Handed } from './lib/run-job.ts'
import { wakeChannel } from './lib/wake.ts'
import { reconcile } from './lib/reconcile.ts'

const pollEveryMs = 250
const mostRestMs = 20
const reconcileEveryMs = 30_000
const measureEveryMs = 5_000
/** So many queues are filled at once; its connections are one more. */
const atOnce = 3
/** Above this share of Redis' memory nothing more goes in. */
const memoryLimit = 0.7

export type RelayOptions = {
  /** The choice of what goes next, in place of db/jobs/fair.ts. */
  pick?: Pick
  /** Called between the hand-over and the commit; tests break things there. */
  afterAdd?: (jobs: readonly Candidate[]) => Promise<void>
  reconcileEveryMs?: number
  pollMs?: number
}

export type RunningRelay = {
  isReady: () => boolean
  /** Looks for work now. */
  wake: () => void
  stop: () => Promise<void>
}

const epochKey = () => `${settings.redisPrefix}:epoch`

type Relay = {
  redis: RedisConnection
  queues: Map<QueueName, Queue<Handed>>
  options: RelayOptions
  /** Pace at which each queue drained lately. */
  depths: Map<QueueName, Depth & { pace: Pace | null }>
  /** The time by which jobs of the next look should be there, unless something wakes the relay before. */
  nextMs: number
  /** The recent duration of a turn. */
  turnMs: number
}

const queueOf = (relay: Relay, name: QueueName): Queue<Handed> => {
  const open = relay.queues.get(name)
  if (open) return open
  const queue = openQueue(name, relay.redis)
  queue.on('error', (error) => log.debug({ err: error, queue: name }, 'bullmq'))
  relay.queues.set(name, queue)
  return queue
}

/** Opens them anew next time. They listen to the connection until they are closed, which leaves it as it is. */
const forgetQueues = (relay: Relay): void => {
  for (const queue of relay.queues.values()) queue.close().catch(() => {})
  relay.queues.clear()
}

const add = (relay: Relay, name: QueueName, jobs: readonly Candidate[]) =>
  queueOf(relay, name).addBulk(
    jobs.map((job) => ({
      name: job.kind,
      data: handedOf(job),
      opts: jobOptions(job.id, job.dispatchNo, job.delayMs),
    })),
  )

/**
 * Hands over one batch of a queue: rows are locked, given to BullMQ, marked and committed. A crash in between gives the same ids
 * again, which BullMQ ignores. Answers how many, and whether more may follow at once.
 */
const fill = (relay: Relay, name: QueueName): Promise<{ count: number; more: boolean }> =>
  inPlatform(
    async (trx) => {
      const look = await leadQueue(trx, name)
      if (!look) return { count: 0, more: false }
      const before = relay.depths.get(name)
      const room = {
        ...look,
        depth: nextDepth(before, look),
        due: Math.max(0, look.window - look.held),
        waiting: Math.max(0, look.window - look.heldWaiting),
      }
      const picked = await (relay.options.pick ?? pickFair)(trx, name, room)
      const isFull = look.readyClasses.length > 0 && (picked.isHeldBack || picked.jobs.length >= room.due)
      const pace = isFull
        ? keepPace(before?.pace ?? null, look, look.held + picked.jobs.length, performance.now())
        : null
      relay.depths.set(name, { depth: room.depth, wasHeldBack: picked.isHeldBack, pace })
      if (pace) relay.nextMs = Math.min(relay.nextMs, paceMs(pace, look))
      const { jobs } = picked
      if (jobs.length === 0) return { count: 0, more: false }
      crashPoint('relay.picked', name)
      const spans = jobs.map((job) =>
        beginSpan('internal', `dispatch ${job.kind}`, job.traceparent, {
          'job.id': job.id,
          'job.dispatch': job.dispatchNo,
        }),
      )
      await add(relay, name, jobs)
      crashPoint('relay.added', name)
      await relay.options.afterAdd?.(jobs)
      markDispatched(
        trx,
        jobs.map((job) => job.id),
      )
      for (const span of spans) span.end()
      return { count: jobs.length, more: picked.more }
    },
    {},
    { local: filling },
  )

/** Redis forgets its epoch with everything else: what was handed over comes back, and is handed over again. */
const beginAnew = async (relay: Relay, seen: string): Promise<void> => {
  // Another relay may have begun it between the two reads.
  if ((await relay.redis.get(epochKey())) === seen) return
  const back = await inPlatform((trx) =>
    beginEpoch(trx, seen, async (epoch) => {
      await relay.redis.set(epochKey(), epoch)
      crashPoint('relay.epoch')
    }),
  )
  if (back === null) return
  if (back > 0) metrics.redispatched.inc({ reason: 'redis_lost' }, back)
  log.warn({ jobs: back }, 'redis does not know the last epoch: a new one begins, and what was dispatched goes again')
}

/** Several queues at once: PostgreSQL chooses for one while Redis takes in what another gets. All have ended when one has failed. */
const fillAll = async (relay: Relay, names: readonly QueueName[]): Promise<void> => {
  const left = [...names]
  const lane = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift())
      for (let more = true; more;) {
        const filled = await fill(relay, name)
        if (filled.count > 0) metrics.handedOver.inc({ queue: name }, filled.count)
        crashPoint('relay.committed', name)
        more = filled.more
      }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(atOnce, names.length) }, lane))
  for (const each of ended) if (each.status === 'rejected') throw each.reason
}

const cycle = async (relay: Relay): Promise<void> => {
  const look = async () =>
    (await platformRows<Work>(lookForWork, { local: walkIndexes }))[0] ?? { epoch: '', queues: [] }
  const [known, seen] = await Promise.all([relay.redis.get(epochKey()), look()])
  if (known !== seen.epoch) await beginAnew(relay, seen.epoch)
  await fillAll(relay, known === seen.epoch ? seen.queues : (await look()).queues)
}

/** Hands jobs from PostgreSQL to BullMQ. Any number may run; a queue is filled by one at a time. openDatabase() comes first. */
export const startRelay = async (options: RelayOptions = {}): Promise<RunningRelay> => {
  const note = child({ process: 'relay' })
  const redis = connectRedis('commands')
  const listener = connectRedis('queues')
  const relay: Relay = {
    redis,
    queues: new Map(),
    options,
    depths: new Map(),
    nextMs: options.pollMs ?? pollEveryMs,
    turnMs: 0,
  }
  let stopped = false
  let isWoken = false
  let failedMs = 0
  let wakeUp = () => {}
  const wake = () => {
    isWoken = true
    wakeUp()
  }
  listener.on('message', wake)
  listener.subscribe(wakeChannel()).catch(() => {})
  redis.on('ready', wake)

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  let reconciledAt = Date.now()
  let measuredAt = 0
  let hasRoom = true
  const turn = async () => {
    const startedAt = performance.now()
    relay.nextMs = relay.options.pollMs ?? pollEveryMs
    if (Date.now() - measuredAt > measureEveryMs) {
      measuredAt = Date.now()
      const had = hasRoom
      hasRoom = (await measureMemory(redis)) < memoryLimit
      if (had && !hasRoom) note.error('redis is nearly full: nothing more is dispatched')
      await inPlatform(takeBackPaused)
    }
    if (Date.now() - reconciledAt > (options.reconcileEveryMs ?? reconcileEveryMs)) {
      reconciledAt = Date.now()
      await reconcile((name) => queueOf(relay, name))
    }
    const end = metrics.relayCycle.startTimer()
    if (hasRoom) await cycle(relay)
    end()
    relay.turnMs = (relay.turnMs + performance.now() - startedAt) / 2
  }
  const run = async () => {
    while (!stopped) {
      isWoken = false
      const startedAt = performance.now()
      if (!isReady(redis)) {
        await pause(100)
        continue
      }
      try {
        await turn()
        failedMs = 0
      } catch (error) {
        metrics.relayFailures.inc()
        if (failedMs === 0) note.warn({ err: error }, 'a round of the relay failed')
        failedMs = Math.min(1_000, failedMs * 2 || 50)
        forgetQueues(relay)
        await sleep(failedMs)
      }
      if (stopped) break
      // Where commits come one after the other it rests three times as long as it worked, so that more of them go with each round.
      if (isWoken) await sleep(Math.min(mostRestMs, 3 * (performance.now() - startedAt)))
      else await pause(Math.max(soonestMs, relay.nextMs - relay.turnMs))
    }
  }
  const running = run()
  const measuring = startMeasuring()
  const beating = startBeating('relay', 'relay', () => ({ queues: {}, running: 0 }))
  let stopping: Promise<void> | null = null
  const stop = async () => {
    stopped = true
    wake()
    await running
    await measuring.stop()
    await beating.stop()
    redis.disconnect()
    listener.disconnect()
  }
  return { isReady: () => stopping === null && isReady(redis), wake, stop: () => (stopping ??= stop()) }
}

if (isEntry(import.meta.url)) await runProcess('relay', 4, startRelay)
