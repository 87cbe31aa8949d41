import { Count, Day, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { reportKeys } from '../reports.ts'
import { event } from './event.ts'
import type { Event } from './event.ts'

const run = {
  entity: 'report_run',
  subject: 'ReportRun',
  data: Obj({
    reportRunId: Uuid,
    report: OneOf([...reportKeys]),
    from: Nullable(Day),
    to: Nullable(Day),
    rowCount: Count,
  }),
} as const
export const reportRunSucceeded = event({ type: 'report_run.succeeded', ...run })
export const reportRunFailed = event({ type: 'report_run.failed', ...run })

const schedule = {
  entity: 'report_schedule',
  subject: 'ReportSchedule',
  data: Obj({ reportScheduleId: Uuid, report: OneOf([...reportKeys]) }),
} as const
export const reportScheduleCreated = event({ type: 'report_schedule.created', ...schedule })
export const reportScheduleChanged = event({ type: 'report_schedule.changed', ...schedule })
export const reportScheduleDisabled = event({ type: 'report_schedule.disabled', ...schedule })

export const reportsDriftFound = event({
  type: 'reports.drift_found',
  entity: 'property',
  subject: 'OperationalReport',
  data: Obj({ report: OneOf([...reportKeys]), from: Day, to: Day }),
})

export const reportsEvents: Event[] = [
  reportRunSucceeded,
  reportRunFailed,
  reportScheduleCreated,
  reportScheduleChanged,
  reportScheduleDisabled,
  reportsDriftFound,
]
