import { nilId } from '../../config/nil-id.ts'
import { applyRateChange, resumeRates, stuckRates } from '../../db/properties/rate-queue.ts'
import { assignUnits } from '../../db/reservations/assign.ts'
import { erasableHolds, eraseHolds, purgeAccess, purgeableTenants } from '../../db/reservations/erase.ts'
import { dueHolds, expireHold } from '../../db/reservations/expire.ts'
import { confirmPaid } from '../../db/reservations/paid.ts'
import * as jobs from '../../jobs/inventory.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import { counters } from './counters.ts'
import { erasing } from '../lib/erasing.ts'
import { housekeeping } from './housekeeping.ts'
import { units } from './units.ts'
import type { Processor } from '../lib/processor.ts'

export const processors: readonly Processor[] = [
  onDatabase(jobs.expireHold, (trx, { bookingId }) => expireHold(trx, bookingId)),
  onDatabase(jobs.confirmPaid, (trx, { bookingId }) => confirmPaid(trx, bookingId)),
  onDatabase(jobs.applyRateChange, (trx, { rateChangeId }, { attempt }) => applyRateChange(trx, rateChangeId, attempt)),
  onDatabase(jobs.assignUnit, (trx, { reservationId }) => assignUnits(trx, reservationId)),

  // One transaction per hold: one that cannot be ended now does not keep the others.
  processor(jobs.sweepHolds, async ({ effect, inTenant, finish, log, signal }) => {
    for (const { tenantId, id } of await effect((trx) => dueHolds(trx))) {
      if (signal.aborted) break
      await inTenant(tenantId, (trx) => expireHold(trx, id)).catch((error: unknown) =>
        log.warn({ err: error, tenantId, bookingId: id }, 'a hold could not be ended'),
      )
    }
    await finish()
  }),

  erasing(jobs.eraseEndedHolds, erasableHolds, eraseHolds),

  processor(jobs.purgeAccessCodes, async ({ effect, inTenant, finish }) => {
    for (const { tenantId } of await effect((trx) => purgeableTenants(trx))) await inTenant(tenantId, purgeAccess)
    await finish()
  }),

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

  ...counters,
  ...housekeeping,
  ...units,
]
