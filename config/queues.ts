/**
 * Queues, split by failure domain and latency. `lockMs` and `stalledMs` are BullMQ's; `timeoutMs` ends one start. `tenantShare` is how
 * much of what Redis holds of the queue may be one tenant's while others wait: less where one job may take minutes. `places` is how many jobs a process
 * runs at once where `WORKER_QUEUES` names no number: many where a job may wait for a receiver that hangs, and holds nothing but its place meanwhile.
 */
export const queues = {
  inventory: { timeoutMs: 8_000, lockMs: 10_000, stalledMs: 5_000, money: false, tenantShare: 0.25, places: 5 },
  payments: { timeoutMs: 25_000, lockMs: 10_000, stalledMs: 5_000, money: true, tenantShare: 0.25, places: 5 },
  ledger: { timeoutMs: 60_000, lockMs: 10_000, stalledMs: 5_000, money: true, tenantShare: 0.25, places: 5 },
  billing: { timeoutMs: 25_000, lockMs: 10_000, stalledMs: 5_000, money: true, tenantShare: 0.25, places: 5 },
  messages: { timeoutMs: 20_000, lockMs: 10_000, stalledMs: 5_000, money: false, tenantShare: 0.25, places: 5 },
  channels: { timeoutMs: 20_000, lockMs: 10_000, stalledMs: 5_000, money: false, tenantShare: 0.25, places: 5 },
  webhooks: { timeoutMs: 15_000, lockMs: 15_000, stalledMs: 5_000, money: false, tenantShare: 0.25, places: 100 },
  reports: { timeoutMs: 600_000, lockMs: 60_000, stalledMs: 30_000, money: false, tenantShare: 0.05, places: 5 },
  privacy: { timeoutMs: 600_000, lockMs: 60_000, stalledMs: 30_000, money: false, tenantShare: 0.05, places: 5 },
  maintenance: { timeoutMs: 300_000, lockMs: 60_000, stalledMs: 30_000, money: false, tenantShare: 0.05, places: 5 },
} as const

export type QueueName = keyof typeof queues
export const queueNames = Object.keys(queues) as QueueName[]

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/**
 * Retry classes. `tries` with `backoffMs` (first, most; full jitter) is the short tier, run by BullMQ; `laterMs` is the long
 * tier, run by PostgreSQL: one wait per further round. `end` is what becomes of the job when both are used up.
 */
export const retryClasses = {
  internal: { tries: 8, backoffMs: [50, 5 * second], laterMs: Array<number>(30).fill(minute), end: 'dead' },
  provider: {
    tries: 5,
    backoffMs: [second, 60 * second],
    laterMs: [5 * minute, 15 * minute, hour, 3 * hour, 6 * hour, 12 * hour],
    end: 'dead',
  },
  message: {
    tries: 4,
    backoffMs: [2 * second, 2 * minute],
    laterMs: [10 * minute, 30 * minute, 2 * hour],
    end: 'expired',
  },
  webhook: {
    tries: 1,
    backoffMs: [0, 0],
    laterMs: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
    end: 'failed',
  },
  report: { tries: 2, backoffMs: [second, 5 * second], laterMs: [], end: 'dead' },
  tick: { tries: 1, backoffMs: [0, 0], laterMs: [], end: 'missed' },
} as const satisfies Record<
  string,
  { tries: number; backoffMs: readonly [number, number]; laterMs: readonly number[]; end: string }
>

export type RetryClass = keyof typeof retryClasses
export type JobClass = 'urgent' | 'normal' | 'bulk'

/** Queues whose jobs speak for a tenant: they wait while it is suspended. What moves money, or tells channels that nothing is for sale, goes on. */
export const speakingQueues: readonly QueueName[] = ['messages', 'webhooks']
/** The time that a job waits before it looks again whether its tenant is active. */
export const suspendedWaitMs = 5 * 60_000
