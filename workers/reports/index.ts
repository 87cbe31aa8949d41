import { expireRuns, tenantsWithRunsDue } from '../../db/reports/index.ts'
import { expireReportFiles } from '../../jobs/reports.ts'
import { processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { runReportProcessor } from './run.ts'

export const processors: readonly Processor[] = [
  runReportProcessor,
  processor(expireReportFiles, async ({ effect, inTenant, finish, signal }) => {
    for (const tenantId of await effect((trx) => tenantsWithRunsDue(trx)))
      while (!signal.aborted && (await inTenant(tenantId, expireRuns)) > 0);
    await finish()
  }),
]
