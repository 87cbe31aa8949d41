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

/** Deletes calls to the outside whose job's time in the archive is over, too. */
export const purgeExternalCalls = job({
  name: 'maintenance.purge-external-calls',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

/** Adds up the changes of the counts of lists, and those of the nights on the books. */
export const foldListCounts = job({
  name: 'maintenance.fold-list-counts',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
  class: 'bulk',
})

export const jobsJobs: Job[] = [rollPartitions, purgeExternalCalls, foldListCounts]

export const jobsSchedules: Schedule[] = [
  daily('01:10', rollPartitions),
  daily('03:50', purgeExternalCalls),
  every(60, foldListCounts),
]
