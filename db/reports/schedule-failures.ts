import { reportScheduleDisabled } from '../../config/events/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { ReportSchedule } from './models.ts'

const mostFailures = 5

/** Switches a schedule off, and tells so. */
export const disableSchedule = async (
  trx: Trx,
  { id, report, version }: { id: string; report: ReportKey; version: number },
  because: string,
): Promise<void> => {
  await changeRow(trx, ReportSchedule, id, { active: false, nextRunAt: null, disabledBecause: because.slice(0, 100) })
  await emit(trx, reportScheduleDisabled, {
    propertyId: null,
    id,
    version: version + 1,
    data: { reportScheduleId: id, report },
  })
}

/** Counts a failure of a schedule; with the fifth in a row it is switched off. */
export const countFailure = async (trx: Trx, id: string, because: string): Promise<void> => {
  const row = await sqlOne<{ failures: number }>(
    trx,
    `update report_schedule set failures = least(failures + 1, ${mostFailures}), version = version + 1 where tenant_id = ? and id = ? and active returning failures`,
    [contextOf(trx).tenantId, id],
  )
  if (row && row.failures >= mostFailures) await disableSchedule(trx, await readRow(trx, ReportSchedule, id), because)
}
