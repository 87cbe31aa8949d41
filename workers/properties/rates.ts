import { nilId } from '../../config/nil-id.ts'
import { applyRateChange, resumeRates, stuckRates } from '../../db/properties/index.ts'
import * as jobs from '../../jobs/properties.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

/** Bulk changes of prices and restrictions. */
export const rates: readonly Processor[] = [
  onDatabase(jobs.applyRateChange, (trx, { rateChangeId }, { attempt }) => applyRateChange(trx, rateChangeId, attempt)),

  processor(jobs.resumeRates, async ({ effect, inTenant, finish, log, signal }) => {
    for (let after: string | undefined = nilId; after !== undefined && !signal.aborted;) {
      const from: string = after
      const stuck = await effect((trx) => stuckRates(trx, from, 200))
      for (const { tenantId, propertyId } of stuck)
        await inTenant(tenantId, (trx) => resumeRates(trx, propertyId)).catch((error: unknown) =>
          log.warn({ err: error, tenantId, propertyId }, 'changes of rates could not go on'),
        )
      after = stuck.at(-1)?.propertyId
    }
    await finish()
  }),
]
