import { Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

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

/** Looks at an image where it is hosted: whether it is there, of a kind that is shown, and how large. */
export const checkImage = job({
  name: 'maintenance.check-image',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid, galleryImageId: Uuid }),
  retry: 'provider',
  tries: 4,
})

/** Asks for a check of every image whose last check is over a week old. */
export const requestImageChecks = job({
  name: 'maintenance.request-image-checks',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

export const propertiesJobs: Job[] = [applyRateChange, resumeRates, checkImage, requestImageChecks]

export const propertiesSchedules: Schedule[] = [every(900, resumeRates), daily('02:40', requestImageChecks)]
