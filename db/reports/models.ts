import type { ReportFormat, ReportKey, ReportLocale } from '../../config/reports.ts'
import { model } from '../lib/models.ts'
import type { Asked } from './reading.ts'
import type { Trigger } from './rules/schedule.ts'

export const runStatuses = ['queued', 'running', 'succeeded', 'failed', 'expired'] as const
export type RunStatus = (typeof runStatuses)[number]

export const ReportSchedule = model<
  'report_schedule',
  {
    report: ReportKey
    parameters: Asked
    format: ReportFormat
    locale: ReportLocale
    trigger: Trigger
  }
>('report_schedule')

export const ReportRun = model<
  'report_run',
  { report: ReportKey; parameters: Asked; format: ReportFormat; locale: ReportLocale; status: RunStatus }
>('report_run')
