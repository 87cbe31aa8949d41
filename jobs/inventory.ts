import { Obj, Uuid } from '../config/schema.ts'
import { daily, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Goes on with the shortages that one arrival of stock did not settle. */
export const settleShortagesJob = job({
  name: 'inventory.settle-shortages',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, locationId: Uuid, itemId: Uuid }),
  retry: 'internal',
})

/** A task of housekeeping is done: uses up the kits whose rules name it, each once. */
export const consumeKits = job({
  name: 'inventory.consume-kit',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, eventId: Uuid }),
  retry: 'internal',
  feature: 'pos',
})

/** A business day is over: uses up the kits of the meals that its guests have had, each rule once. */
export const consumeMeals = job({
  name: 'inventory.consume-meals',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, eventId: Uuid }),
  retry: 'internal',
  feature: 'pos',
})

/** Proves that stock is the sum of its lines and worth what the ledger says, and that orders are settled; a difference is reported. */
export const verifyStock = job({
  name: 'maintenance.verify-stock',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid, propertyId: Uuid }),
  retry: 'internal',
  class: 'bulk',
  feature: 'pos',
})

/** Asks for the proof of every property that keeps stock. */
export const requestStockChecks = job({
  name: 'maintenance.request-stock-checks',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const inventoryJobs: Job[] = [settleShortagesJob, consumeKits, consumeMeals, verifyStock, requestStockChecks]
export const inventorySchedules: Schedule[] = [daily('05:20', requestStockChecks)]
