import { closePeriod, runToday } from '../../db/admin/index.ts'
import { closeBillingPeriod, runBilling } from '../../jobs/admin.ts'
import { onDatabase } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

export const processors: readonly Processor[] = [
  onDatabase(runBilling, (trx) => runToday(trx)),
  onDatabase(closeBillingPeriod, (trx, { tenantId, periodStart, billingRunId, force }) =>
    closePeriod(trx, { tenantId, periodStart, runId: billingRunId, force }),
  ),
]
