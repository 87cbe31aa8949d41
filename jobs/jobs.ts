import { Obj } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Makes the partitions of the time to come and drops those whose time is over: archived jobs by week, events and audit by month. */
export const rollPartitions = job({
  name: 'maintenance.roll-partitions',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

/** Drops the first replies to Idempotency-Keys whose 72 hours are over. */
export const purgeKeptReplies = job({
  name: 'maintenance.purge-kept-replies',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

export const jobsJobs: Job[] = [rollPartitions, purgeKeptReplies]

export const jobsSchedules: Schedule[] = [daily('01:10', rollPartitions), every(600, purgeKeptReplies)]
