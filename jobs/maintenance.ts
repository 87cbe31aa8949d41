import { Obj, Uuid } from '../config/schema.ts'
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

/** Looks at an image where it is hosted: whether it is there, of a kind that is shown, and how large. */
export const checkImage = job({
  name: 'maintenance.check-image',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid, galleryImageId: Uuid }),
  retry: 'provider',
  tries: 4,
})

/** Asks for a look at every image that nobody has looked at for a week. */
export const requestImageChecks = job({
  name: 'maintenance.request-image-checks',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

/** Starts the close of every business day that is over, and goes on with what stopped. */
export const tickBusinessDays = job({
  name: 'maintenance.tick-business-days',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const maintenanceJobs: Job[] = [
  flushLastSeen,
  purgeSessions,
  warnExpiringKeys,
  checkImage,
  requestImageChecks,
  tickBusinessDays,
]

export const maintenanceSchedules: Schedule[] = [
  every(60, flushLastSeen),
  daily('03:10', purgeSessions),
  daily('09:20', warnExpiringKeys),
  daily('02:40', requestImageChecks),
  every(300, tickBusinessDays),
]
