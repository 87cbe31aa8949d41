import { nilId } from '../../config/nil-id.ts'
import {
  expireRuns,
  runSchedule,
  schedulesDue,
  sumStayDays,
  tenantsWithRunsDue,
  verifyFacts,
} from '../../db/reports/index.ts'
import { expireReportFiles, tickReportSchedules, verifyFacts as verifyFactsJob } from '../../jobs/reports.ts'
import { atOnce } from '../lib/sweep.ts'
import { processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { runReportProcessor } from './run.ts'

export const processors: readonly Processor[] = [
  runReportProcessor,
  // Sums come first, some days in each transaction: all days of a house that had none, and one day after its close.
  processor(verifyFactsJob, async ({ payload: { tenantId, propertyId }, inTenant, finish, signal }) => {
    while (!signal.aborted && (await inTenant(tenantId, (trx) => sumStayDays(trx, propertyId))) > 0);
    await finish((trx) => verifyFacts(trx, propertyId))
  }),
  processor(expireReportFiles, async ({ effect, inTenant, finish, signal }) => {
    for (const tenantId of await effect((trx) => tenantsWithRunsDue(trx)))
      while (!signal.aborted && (await inTenant(tenantId, expireRuns)) > 0);
    await finish()
  }),
  processor(tickReportSchedules, async ({ effect, inTenant, finish, log, signal }) => {
    const full = new Set<string>()
    for (let after = nilId; ;) {
      const from = after
      const due = await effect((trx) => schedulesDue(trx, from, atOnce))
      for (const { tenantId, id } of due) {
        if (signal.aborted) return
        after = id
        if (full.has(tenantId)) continue
        // One that cannot be made now does not keep the others.
        const ended = await inTenant(tenantId, (trx) => runSchedule(trx, id)).catch((error: unknown) =>
          log.warn({ err: error, tenantId, reportScheduleId: id }, 'a report schedule could not be carried out'),
        )
        if (ended === 'full') full.add(tenantId)
      }
      if (due.length < atOnce) break
    }
    await finish()
  }),
]
