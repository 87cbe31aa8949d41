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
  eraseEndedHolds,
  purgeAccessCodes,
]

export const reservationsSchedules: Schedule[] = [
  every(15, sweepHolds),
  daily('03:20', eraseEndedHolds),
  daily('03:30', purgeAccessCodes),
]
