import { Obj } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Writes down when sessions and API keys were last used: the api notes it in Redis, never in a request's transaction. */
export const flushLastSeen = job({
  name: 'maintenance.flush-last-seen',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Deletes sessions, mailed tokens, mails to staff, counted failures and kept replies whose time is over. */
export const purgeSessions = job({
  name: 'maintenance.purge-sessions',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

/** Tells of API keys that expire within 30 and within 7 days. */
export const warnExpiringKeys = job({
  name: 'maintenance.warn-expiring-keys',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

export const authJobs: Job[] = [flushLastSeen, purgeSessions, warnExpiringKeys]

export const authSchedules: Schedule[] = [
  every(60, flushLastSeen),
  daily('03:10', purgeSessions),
  daily('09:20', warnExpiringKeys),
]
