import {
  assignUnits,
  depositsToWatch,
  erasableWaitlist,
  eraseWaitlist,
  matchWaitlistEntry,
  openWaitlist,
  purgeableQuotes,
  purgeQuotes,
  watchDeposits,
  erasableHolds,
  eraseHolds,
  purgeAccess,
  purgeableTenants,
  dueHolds,
  expireHold,
  confirmPaid,
  advanceGroup,
  dueGroups,
  dueGroupsOf,
} from '../../db/reservations/index.ts'
import { nilId } from '../../config/nil-id.ts'
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

  // One transaction per stay: one that cannot be looked at now does not keep the others.
  processor(jobs.watchDeposits, async ({ effect, inTenant, finish, log, signal }) => {
    let after = nilId
    for (;;) {
      const due = await effect((trx) => depositsToWatch(trx, after))
      for (const { tenantId, id } of due) {
        signal.throwIfAborted()
        await inTenant(tenantId, (trx) => watchDeposits(trx, id)).catch((error: unknown) =>
          log.warn({ err: error, tenantId, reservationId: id }, 'the installments of a stay could not be looked at'),
        )
        after = id
      }
      if (due.length === 0) break
    }
    await finish()
  }),

  // One transaction for each request, so that no search waits for another.
  processor(jobs.matchWaitlist, async ({ payload: { tenantId, propertyId }, effect, inTenant, finish, signal }) => {
    for (const id of await effect((trx) => openWaitlist(trx, propertyId))) {
      signal.throwIfAborted()
      await inTenant(tenantId, (trx) => matchWaitlistEntry(trx, id))
    }
    await finish()
  }),

  erasing(jobs.eraseWaitlist, erasableWaitlist, eraseWaitlist),

  // One transaction for each group.
  processor(jobs.releaseGroups, async ({ payload: { tenantId, propertyId }, effect, inTenant, finish, signal }) => {
    for (const id of await effect((trx) => dueGroupsOf(trx, propertyId))) {
      signal.throwIfAborted()
      await inTenant(tenantId, (trx) => advanceGroup(trx, id))
    }
    await finish()
  }),

  // One that cannot be moved on now does not keep the others.
  processor(jobs.sweepGroups, async ({ effect, inTenant, finish, log, signal }) => {
    for (const { tenantId, id } of await effect((trx) => dueGroups(trx))) {
      if (signal.aborted) break
      await inTenant(tenantId, (trx) => advanceGroup(trx, id)).catch((error: unknown) =>
        log.warn({ err: error, tenantId, groupId: id }, 'a group could not be moved on'),
      )
    }
    await finish()
  }),
  erasing(jobs.purgeQuotes, purgeableQuotes, purgeQuotes),

  erasing(jobs.eraseEndedHolds, erasableHolds, eraseHolds),

  processor(jobs.purgeAccessCodes, async ({ effect, inTenant, finish }) => {
    for (const { tenantId } of await effect((trx) => purgeableTenants(trx))) await inTenant(tenantId, purgeAccess)
    await finish()
  }),
]
