import { Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

const ofBooking = Obj({ tenantId: Uuid, bookingId: Uuid })

/** A hold has come to its end, unless it was moved or paid meanwhile. */
export const expireHold = job({
  name: 'inventory.expire-hold',
  queue: 'inventory',
  payload: ofBooking,
  retry: 'internal',
})

/** Ends holds whose own job was lost. */
export const sweepHolds = job({ name: 'inventory.sweep-holds', queue: 'inventory', payload: Obj({}), retry: 'tick' })

/** Money of a booking has arrived or was authorised: confirms it, or sends back what cannot buy it any more. */
export const confirmPaid = job({
  name: 'inventory.confirm-paid',
  queue: 'inventory',
  payload: ofBooking,
  retry: 'internal',
  class: 'urgent',
})

/** Proposes a unit for a reservation that lacks one. */
export const assignUnit = job({
  name: 'inventory.assign',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, reservationId: Uuid }),
  retry: 'internal',
})

/** Looks for installments that have fallen due, and for stays whose grace is over. */
export const watchDeposits = job({
  name: 'inventory.watch-deposits',
  queue: 'inventory',
  payload: Obj({}),
  retry: 'tick',
})

/** Looks through the waitlist of a property: requests that can be offered a room now, whose hold came to nothing, and whose arrival is past. */
export const matchWaitlist = job({
  name: 'inventory.match-waitlist',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, propertyId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

/** Erases the contact and the note of waitlist entries, 30 days after they were closed. */
export const eraseWaitlist = job({
  name: 'privacy.erase-waitlist',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
})

/** The business day of a house has closed: options that ended, cut-off dates and groups that have left. */
export const releaseGroups = job({
  name: 'inventory.release-groups',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, propertyId: Uuid }),
  retry: 'internal',
})

/** Options that ended during the day, and groups whose own job was lost. */
export const sweepGroups = job({ name: 'inventory.sweep-groups', queue: 'inventory', payload: Obj({}), retry: 'tick' })

/** Deletes quotes that expired 180 days ago and were never used. */
export const purgeQuotes = job({
  name: 'maintenance.purge-quotes',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Erases the personal data of holds that ended unconfirmed 30 days ago. */
export const eraseEndedHolds = job({
  name: 'privacy.erase-ended-holds',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
})

/** Deletes access codes over a day old and strikes over a week old. */
export const purgeAccessCodes = job({
  name: 'maintenance.purge-access-codes',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const reservationsJobs: Job[] = [
  expireHold,
  sweepHolds,
  confirmPaid,
  assignUnit,
  watchDeposits,
  matchWaitlist,
  eraseWaitlist,
  releaseGroups,
  sweepGroups,
  purgeQuotes,
  eraseEndedHolds,
  purgeAccessCodes,
]

export const reservationsSchedules: Schedule[] = [
  every(15, sweepHolds),
  every(3600, watchDeposits),
  every(600, sweepGroups),
  daily('03:20', eraseEndedHolds),
  daily('03:22', eraseWaitlist),
  daily('03:35', purgeQuotes),
  daily('03:30', purgeAccessCodes),
]
