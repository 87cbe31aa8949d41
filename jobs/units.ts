import { Day, Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Rearranges the proposed stays of a pool, so that stays without a unit may find one. */
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

/** Prepares the units of a property for a new day: conditions, tasks, sheets. Repeating it changes nothing. */
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

export const unitsJobs: Job[] = [
  repack,
  requestRepacks,
  closeBlocks,
  generateTasks,
  eraseRefusals,
  extendHorizon,
  recount,
  requestRecounts,
]

export const unitsSchedules: Schedule[] = [
  every(3600, extendHorizon),
  daily('03:25', eraseRefusals),
  daily('04:10', requestRecounts),
  daily('04:40', requestRepacks),
]
