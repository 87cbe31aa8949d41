import { addDays, daysBetween } from '../../config/time.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { closeBlocks, poolsToRepack, repackPools, repackRange } from '../../db/units/index.ts'
import * as jobs from '../../jobs/units.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { askForAll } from '../lib/sweep.ts'

const nightsAtOnce = 31

/** Jobs that keep the unit of each stay, beside the assignment itself. */
export const assignments: readonly Processor[] = [
  onDatabase(jobs.closeBlocks, (trx, { propertyId }) => closeBlocks(trx, propertyId)),

  processor(jobs.requestRepacks, (context) =>
    askForAll(
      context,
      poolsToRepack,
      (one) => one.poolId,
      (trx, { tenantId, poolId }) => enqueue(trx, jobs.repack, { tenantId, unitPoolId: poolId }, { uniqueKey: poolId }),
    ),
  ),

  // A short transaction for the arrivals of a month each, since each holds the lock that assignments of the pool wait for.
  processor(jobs.repack, async ({ payload: { tenantId, unitPoolId }, inTenant, finish, retryLater, signal }) => {
    const range = await inTenant(tenantId, (trx) => repackRange(trx, unitPoolId))
    const { from, until, automatic } = range ?? { from: '', until: '', automatic: false }
    for (let night = 0; range && night < daysBetween(from, until); night += nightsAtOnce) {
      if (signal.aborted) retryLater('the repacking was interrupted')
      const arrivals = { from: addDays(from, night), to: addDays(from, night + nightsAtOnce) }
      await inTenant(tenantId, (trx) => repackPools(trx, { poolIds: [unitPoolId], ...arrivals, unassigned: automatic }))
    }
    await finish()
  }),
]
