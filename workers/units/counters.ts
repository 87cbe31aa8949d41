import { nilId } from '../../config/nil-id.ts'
import { byTenant } from '../../db/lib/by-tenant.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import {
  extendNights,
  poolsShortOfHorizon,
  propertiesWithCounters,
  recountNights,
  recountRange,
} from '../../db/units/index.ts'
import * as jobs from '../../jobs/units.ts'
import { processor } from '../lib/processor.ts'
import { askForAll, atOnce } from '../lib/sweep.ts'
import type { Processor } from '../lib/processor.ts'

/** The upkeep of the counters: their horizon, and their proof. */
export const counters: readonly Processor[] = [
  processor(jobs.extendHorizon, async ({ effect, inTenant, finish, log, signal }) => {
    for (let after = nilId; !signal.aborted;) {
      const from = after
      const short = await effect((trx) => poolsShortOfHorizon(trx, from, atOnce))
      const last = short.at(-1)
      if (!last) break
      after = last.poolId
      for (const [tenantId, pools] of byTenant(short)) {
        const poolIds = pools.map((pool) => pool.poolId)
        await inTenant(tenantId, (trx) => extendNights(trx, poolIds)).catch((error: unknown) =>
          log.warn({ err: error, tenantId }, 'nights could not be added'),
        )
      }
    }
    await finish()
  }),

  processor(jobs.requestRecounts, (context) =>
    askForAll(
      context,
      propertiesWithCounters,
      (one) => one.propertyId,
      (trx, { tenantId, propertyId }) =>
        enqueue(trx, jobs.recount, { tenantId, propertyId }, { uniqueKey: propertyId }),
    ),
  ),

  // A short transaction for each stretch of nights, since each holds the locks that bookings wait for.
  processor(jobs.recount, async ({ payload: { tenantId, propertyId }, inTenant, finish, retryLater, signal }) => {
    for (const { from, until } of await inTenant(tenantId, (trx) => recountRange(trx, propertyId))) {
      if (signal.aborted) retryLater('the recount was interrupted')
      await inTenant(tenantId, (trx) => recountNights(trx, propertyId, from, until))
    }
    await finish()
  }),
]
