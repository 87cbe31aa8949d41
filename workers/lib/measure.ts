import { setTimeout as sleep } from 'node:timers/promises'
import { log } from '../../config/log.ts'
import { queueNames } from '../../config/queues.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import {
  checksOf,
  closedGates,
  liveConcurrency,
  liveProcesses,
  pauses,
  readHealth,
  scheduleStates,
  unresolvedCalls,
  totals,
} from '../../db/jobs/index.ts'
import { jobs } from '../../jobs/all.ts'
import * as metrics from './metrics.ts'
import { memoryShare } from './redis.ts'

const everyMs = 5_000
/** However many rows there are, measuring takes at most this share of one connection. */
const mostShare = 0.05

const read = () =>
  inPlatform(async (trx) => ({
    backlog: await totals(trx, everyMs / 1_250),
    pauses: await pauses(trx),
    schedules: await scheduleStates(trx),
    processes: await liveProcesses(trx),
    concurrency: await liveConcurrency(trx),
    unresolved: await unresolvedCalls(trx),
    gates: await closedGates(trx),
    // This process cannot measure without Redis, which has alerts of its own.
    checks: checksOf(await readHealth(trx), { isConnected: true, memoryShare: null }),
  }))

const queueOf = (kind: string | null) => jobs.find((job) => job.name === kind)?.queue ?? 'all'

/** Sets gauges of all jobs from PostgreSQL. All are read first, so that a scrape in between never finds half of them. */
const measure = async (): Promise<void> => {
  const found = await read()
  const { oldestPending, pending, dispatched, running, dead } = metrics
  for (const gauge of [oldestPending, pending, dispatched, running, dead]) gauge.reset()
  for (const row of found.backlog) {
    const labels = { queue: row.queue, class: row.class }
    oldestPending.set(labels, row.oldestPendingSeconds)
    pending.set(labels, row.pending)
    dispatched.set(labels, row.dispatched)
    running.set(labels, row.running)
    dead.set(labels, row.dead)
  }
  metrics.paused.reset()
  const longest = new Map<string, { queue: string; scope: string; seconds: number }>()
  for (const { queue, kind, scope, seconds } of found.pauses) {
    const labels = { queue: queue ?? queueOf(kind), scope }
    const key = `${labels.queue} ${scope}`
    if (seconds > (longest.get(key)?.seconds ?? -1)) longest.set(key, { ...labels, seconds })
  }
  for (const { seconds, ...labels } of longest.values()) metrics.paused.set(labels, seconds)
  for (const { kind, misses, lateSeconds } of found.schedules) {
    metrics.scheduleMisses.set({ kind }, misses)
    metrics.scheduleLate.set({ kind }, lateSeconds)
  }
  for (const { process, count } of found.processes) metrics.processes.set({ process }, count)
  for (const queue of queueNames) metrics.concurrency.set({ queue }, 0)
  for (const { queue, concurrency } of found.concurrency) metrics.concurrency.set({ queue }, concurrency)
  metrics.unresolved.reset()
  for (const { provider, count } of found.unresolved) metrics.unresolved.set({ provider }, count)
  for (const { name, ok } of found.checks) metrics.failingChecks.set({ check: name }, ok ? 0 : 1)
  metrics.closedGates.reset()
  for (const { provider, outage, credentials } of found.gates) {
    metrics.closedGates.set({ provider, cause: 'outage' }, outage)
    metrics.closedGates.set({ provider, cause: 'credentials' }, credentials)
  }
}

/** Measures every five seconds beside the relay's rounds, which never wait for it; more seldom where one measure takes long. */
export const startMeasuring = (): { stop: () => Promise<void> } => {
  const stopping = new AbortController()
  const run = async () => {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      await measure().catch((error: unknown) => {
        metrics.relayFailures.inc()
        log.debug({ err: error }, 'the backlog could not be measured')
      })
      const tookMs = performance.now() - startedAt
      await sleep(Math.max(everyMs, tookMs / mostShare), undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

/** Share of Redis' memory in use; see memoryShare(). */
export const measureMemory = async (redis: Parameters<typeof memoryShare>[0]): Promise<number> => {
  const share = await memoryShare(redis)
  metrics.redisMemory.set(share)
  return share
}
