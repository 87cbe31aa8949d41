import { Counter, Gauge, Histogram } from 'prom-client'
import { registry } from '../../config/metrics.ts'

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
export const paused = new Gauge({
  name: 'queue_paused_seconds',
  help: 'For how long the oldest pause of a queue (all: of every queue) stands; scope: what of it is paused',
  labelNames: ['queue', 'scope'],
  registers,
})
export const concurrency = new Gauge({
  name: 'queue_concurrency',
  help: 'Jobs of the queue that all live workers may run at once',
  labelNames: ['queue'],
  registers,
})
export const failingChecks = new Gauge({
  name: 'service_check_failing',
  help: '1 while a check of the overview fails, by its name',
  labelNames: ['check'],
  registers,
})
export const processes = new Gauge({
  name: 'processes_alive',
  help: 'Processes that said so lately',
  labelNames: ['process'],
  registers,
})
export const closedGates = new Gauge({
  name: 'provider_gates_closed',
  help: 'Accounts of a provider that get no calls now; cause: outage (it is down or asks for a rest) or credentials (it refuses ours)',
  labelNames: ['provider', 'cause'],
  registers,
})
export const unresolved = new Gauge({
  name: 'provider_calls_unresolved',
  help: 'Calls to the outside whose outcome nobody knows after five minutes',
  labelNames: ['provider'],
  registers,
})

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
export const foreign = new Counter({
  name: 'job_foreign_total',
  help: 'Jobs found in Redis that this service did not put there; they are not run',
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
export const providerLasted = new Histogram({
  name: 'provider_call_seconds',
  help: 'Duration of calls to the outside',
  labelNames: ['provider', 'operation'],
  buckets: seconds,
  registers,
})
export const gateClosures = new Counter({
  name: 'provider_gate_closed_total',
  help: 'Times that a call closed the gate of its account',
  labelNames: ['provider', 'sign'],
  registers,
})
export const scheduleLate = new Gauge({
  name: 'schedule_late_seconds',
  help: 'For how long a slot waits for a scheduler',
  labelNames: ['kind'],
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
export const rebuilds = new Counter({
  name: 'worker_rebuilds_total',
  help: 'Workers of a queue that were rebuilt because jobs waited and none started',
  labelNames: ['queue'],
  registers,
})
