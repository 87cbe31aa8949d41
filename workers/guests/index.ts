import {
  completeErasure,
  deleteOldExports,
  deleteOldImages,
  destroyOldKeys,
  dueTenants,
  eraseStep,
  erasureSteps,
  forgetBlocks,
  makeExport,
  matchGuests,
  proposeErasures,
  tellDueDates,
} from '../../db/guests/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { rewrapKeys, tenantsToRewrap } from '../../db/lib/sealing/index.ts'
import * as jobs from '../../jobs/guests.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { registrations } from './registrations.ts'

/** Each in a transaction of its own, again until it finds nothing more: one that fails does not keep the others. */
const limits = [deleteOldImages, deleteOldExports, tellDueDates, destroyOldKeys, forgetBlocks] as const

export const processors: readonly Processor[] = [
  onDatabase(jobs.matchGuest, (trx, { guestId }) => matchGuests(trx, guestId)),

  processor(jobs.rewrapTenantKeys, async ({ effect, finish, signal }) => {
    while (!signal.aborted && (await effect((trx) => rewrapKeys(trx))) > 0);
    await finish()
  }),
  processor(jobs.sweepKeys, async ({ finish }) => {
    await finish(async (trx) => {
      for (const tenantId of await tenantsToRewrap(trx))
        await enqueue(trx, jobs.rewrapTenantKeys, { tenantId }, { uniqueKey: tenantId })
    })
  }),

  onDatabase(jobs.exportGuest, (trx, { privacyRequestId }) => makeExport(trx, privacyRequestId)),
  processor(jobs.eraseGuest, async ({ payload, effect, finish, signal }) => {
    const { privacyRequestId } = payload
    for (const table of erasureSteps)
      while (!(await effect((trx) => eraseStep(trx, privacyRequestId, table)))) signal.throwIfAborted()
    await finish((trx) => completeErasure(trx, privacyRequestId))
  }),
  processor(jobs.keepLimits, async ({ effect, inTenant, finish, signal, log }) => {
    for (const { tenantId } of await effect((trx) => dueTenants(trx))) {
      const keep = (limit: (trx: Trx) => Promise<number>): Promise<number> =>
        inTenant(tenantId, limit).catch((error: unknown) => {
          log.error({ err: error, tenantId, limit: limit.name }, 'a limit of personal data could not be kept')
          return 0
        })
      for (const limit of limits) while (!signal.aborted && (await keep(limit)) > 0);
      // Once a day: a person decides on each.
      if (!signal.aborted) await keep(proposeErasures)
    }
    await finish()
  }),

  ...registrations,
]
