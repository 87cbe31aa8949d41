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

export const reportsEvents: Event[] = [reportRunSucceeded, reportRunFailed]
