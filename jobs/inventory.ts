import { Day, Obj, Uuid } from '../config/schema.ts'
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

/** Rearranges the proposed stays of a pool, so that who has no unit may find one. */
export const repack = job({
  name: 'inventory.repack',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, unitPoolId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

/** Asks for the repacking of every pool that has something to move. */
export const requestRepacks = job({
  name: 'maintenance.request-repacks',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** A business day is over: blocks that went as far as it give their units back. */
export const closeBlocks = job({
  name: 'inventory.close-blocks',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, propertyId: Uuid, businessDate: Day }),
  retry: 'internal',
})

/** Writes a bulk change of prices and restrictions that was too large to be waited for. A hundred thousand cells take longer than the inventory has. */
export const applyRateChange = job({
  name: 'inventory.apply-rate-change',
  queue: 'reports',
  payload: Obj({ tenantId: Uuid, rateChangeId: Uuid }),
  retry: 'internal',
})

/** Goes on with changes of rates whose job was lost or died. */
export const resumeRates = job({
  name: 'inventory.resume-rates',
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

/** What the beginning of a day does to the units of a property: conditions, tasks, sheets. Asked for again, it changes nothing. */
export const generateTasks = job({
  name: 'inventory.generate-tasks',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, propertyId: Uuid, businessDate: Day }),
  retry: 'internal',
})

/** Erases how it was known that guests refused service, 90 days after. */
export const eraseRefusals = job({
  name: 'privacy.erase-refusals',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
})

/** Adds the night that has come into reach to every pool, and drops those long past. */
export const extendHorizon = job({
  name: 'inventory.extend-horizon',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Compares the counters of a property with what they stand for; a difference is repaired and reported. */
export const recount = job({
  name: 'inventory.recount',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid, propertyId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

/** Asks for the recount of every property. */
export const requestRecounts = job({
  name: 'maintenance.request-recounts',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const inventoryJobs: Job[] = [
  expireHold,
  sweepHolds,
  confirmPaid,
  assignUnit,
  repack,
  requestRepacks,
  closeBlocks,
  applyRateChange,
  resumeRates,
  eraseEndedHolds,
  generateTasks,
  eraseRefusals,
  purgeAccessCodes,
  extendHorizon,
  recount,
  requestRecounts,
]
export const inventorySchedules: Schedule[] = [
  every(15, sweepHolds),
  every(900, resumeRates),
  every(3600, extendHorizon),
  daily('03:20', eraseEndedHolds),
  daily('03:25', eraseRefusals),
  daily('03:30', purgeAccessCodes),
  daily('04:10', requestRecounts),
  daily('04:40', requestRepacks),
]
