import {
  assignUnits,
  erasableHolds,
  eraseHolds,
  purgeAccess,
  purgeableTenants,
  dueHolds,
  expireHold,
  confirmPaid,
} from '../../db/reservations/index.ts'
import * as jobs from '../../jobs/reservations.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import { erasing } from '../lib/erasing.ts'
import type { Processor } from '../lib/processor.ts'

export const processors: readonly Processor[] = [
  onDatabase(jobs.expireHold, (trx, { bookingId }) => expireHold(trx, bookingId)),
  onDatabase(jobs.confirmPaid, (trx, { bookingId }) => confirmPaid(trx, bookingId)),
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
]
