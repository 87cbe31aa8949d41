import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/** Prometheus of this process. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })

const registers = [registry]
const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

/** Written by the relay from PostgreSQL's truth. */
export const oldestPending = new Gauge({
  name: 'job_oldest_pending_seconds',
  help: 'Age of the oldest due job',
  labelNames: ['queue', 'class'],
  registers,
})
export const pending = new Gauge({
  name: 'job_pending',
  help: 'Jobs due and not handed over',
  labelNames: ['queue', 'class'],
  registers,
})
export const dispatched = new Gauge({
  name: 'job_dispatched',
  help: 'Jobs handed over',
  labelNames: ['queue', 'class'],
  registers,
})
export const running = new Gauge({
  name: 'job_running',
  help: 'Jobs in hand',
  labelNames: ['queue', 'class'],
  registers,
})
export const dead = new Gauge({ name: 'job_dead', help: 'Jobs given up', labelNames: ['queue', 'class'], registers })
export const redisMemory = new Gauge({ name: 'redis_memory_share', help: 'Share of Redis memory in use', registers })

export const started = new Counter({ name: 'job_started_total', help: 'Starts', labelNames: ['kind'], registers })
export const finished = new Counter({
  name: 'job_finished_total',
  help: 'Ends of starts',
  labelNames: ['kind', 'outcome'],
  registers,
})
export const waited = new Histogram({
  name: 'job_wait_seconds',
  help: 'From due to start',
  labelNames: ['queue'],
  buckets: seconds,
  registers,
})
export const lasted = new Histogram({
  name: 'job_duration_seconds',
  help: 'From start to end',
  labelNames: ['kind'],
  buckets: seconds,
  registers,
})
export const ghosts = new Counter({
  name: 'job_ghosts_total',
  help: 'Starts of jobs that were over or owned by a newer start',
  labelNames: ['queue'],
  registers,
})
export const lostFences = new Counter({
  name: 'job_lost_fences_total',
  help: 'Effects refused to a start that was overtaken',
  labelNames: ['queue'],
  registers,
})
export const redispatched = new Counter({
  name: 'job_redispatched_total',
  help: 'Jobs handed over again',
  labelNames: ['reason'],
  registers,
})
export const handedOver = new Counter({
  name: 'relay_dispatched_total',
  help: 'Jobs handed to BullMQ',
  labelNames: ['queue'],
  registers,
})
export const relayCycle = new Histogram({
  name: 'relay_cycle_seconds',
  help: 'One round of the relay',
  buckets: seconds,
  registers,
})
export const relayFailures = new Counter({
  name: 'relay_failures_total',
  help: 'Rounds of the relay that failed',
  registers,
})
export const providerCalls = new Counter({
  name: 'provider_calls_total',
  help: 'Calls to the outside',
  labelNames: ['provider', 'operation', 'outcome'],
  registers,
})
export const scheduleMisses = new Gauge({
  name: 'schedule_misses',
  help: 'Slots in a row that failed',
  labelNames: ['kind'],
  registers,
})
export const scheduleFired = new Counter({
  name: 'schedule_fired_total',
  help: 'Slots that became jobs',
  labelNames: ['kind'],
  registers,
})
