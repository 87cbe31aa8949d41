import { Obj, Uuid } from '../config/schema.ts'
import { job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Goes on with the shortages that one arrival of stock did not settle. */
export const settleShortagesJob = job({
  name: 'inventory.settle-shortages',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, locationId: Uuid, itemId: Uuid }),
  retry: 'internal',
})

export const inventoryJobs: Job[] = [settleShortagesJob]
export const inventorySchedules: Schedule[] = []
