import { Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

const ofEvent = Obj({ tenantId: Uuid, eventId: Uuid })

/** Opens the issue that an event calls for, or counts it on the one that is open for its key. */
export const openIssue = job({
  name: 'maintenance.open-issue',
  queue: 'maintenance',
  payload: ofEvent,
  retry: 'internal',
})

/** Ends the issue that an earlier event has opened. */
export const endIssue = job({
  name: 'maintenance.end-issue',
  queue: 'maintenance',
  payload: ofEvent,
  retry: 'internal',
})

/** Notes the deadlines of issues that were missed, escalates them, and ends those of stays that are in order again. */
export const checkIssueClocks = job({
  name: 'maintenance.check-issue-clocks',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Closes issues that were resolved some days ago. */
export const closeIssues = job({
  name: 'maintenance.close-issues',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Tells of found items that need not be kept any longer. */
export const flagLostItems = job({
  name: 'maintenance.flag-lost-items',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Erases the texts of issues and items that were closed long ago. */
export const eraseIssueTexts = job({
  name: 'privacy.erase-issue-texts',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
})

export const issuesJobs: Job[] = [openIssue, endIssue, checkIssueClocks, closeIssues, flagLostItems, eraseIssueTexts]
export const issuesSchedules: Schedule[] = [
  every(30, checkIssueClocks),
  every(3600, closeIssues),
  daily('03:10', flagLostItems),
  daily('03:15', eraseIssueTexts),
]
