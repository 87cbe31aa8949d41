import { log } from '../../config/log.ts'
import {
  applyPlanVersion,
  askForProvisions,
  askForPurges,
  chainsAfter,
  closePeriod,
  expireGrantsOf,
  expireOldExports,
  flagOverdueOf,
  holdersToTell,
  linkChain,
  linkedAtOnce,
  parkFailed,
  provisionParts,
  runToday,
  signHeads,
  snapshotStorageOf,
  startCollection,
  tellHolder,
  tenantsAfter,
  tenantsOfPlan,
  tenantsPastDue,
  tenantsWithExpired,
  unchained,
  verifyChain,
  wrongFeatures,
} from '../../db/admin/index.ts'
import { endSupportSession, overSupportSessions } from '../../db/auth/index.ts'
import { isUnreachable } from '../../db/lib/connection.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { nilId } from '../../config/nil-id.ts'
import type { Schema } from '../../config/schema.ts'
import * as jobs from '../../jobs/admin.ts'
import type { Job } from '../../jobs/job.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { JobContext, Processor } from '../lib/processor.ts'
import { collectProcessors } from './collect.ts'
import { exportProcessor, purgeProcessor } from './leaving.ts'

const atOnce = 200

type Find = (trx: PlatformTrx, after: string, most: number) => Promise<{ tenantId: string }[]>

/** A job by the clock that goes through tenants: each in a transaction of its own, so that one that fails keeps no other. */
const eachTenant = <S extends Schema>(job: Job<S>, find: Find, act: (trx: Trx, tenantId: string) => Promise<unknown>) =>
  processor(job, async (context) => {
    const { effect, inTenant, finish, signal } = context as unknown as JobContext<Record<never, never>>
    let failure: unknown = null
    for (let after = nilId; !signal.aborted;) {
      const from = after
      const found = await effect((trx) => find(trx, from, atOnce))
      for (const { tenantId } of found)
        await inTenant(tenantId, (trx) => act(trx, tenantId)).catch((error: unknown) => {
          failure = error
          context.log.error({ err: error, tenantId }, 'a tenant was left out')
        })
      if (found.length < atOnce) break
      after = found.at(-1)?.tenantId ?? ''
    }
    if (failure !== null) throw failure as Error
    await finish()
  })

/** After so many tries a tenant whose close fails is set aside. */
const triesBeforeParking = 3

const closeProcessor = processor(jobs.closeBillingPeriod, async (context) => {
  const { tenantId, periodStart, billingRunId: runId, force } = context.payload
  try {
    await context.finish((trx) => closePeriod(trx, { tenantId, periodStart, runId, force }))
  } catch (error) {
    const isOurs = error instanceof Error && !isUnreachable(error) && error.name !== 'FenceLost'
    if (!isOurs || context.attempt < triesBeforeParking) throw error
    context.log.error({ err: error }, 'a period could not be closed; its tenant is set aside')
    await context.finish((trx) => parkFailed(trx, { tenantId, periodStart, runId }, error.message))
  }
})

const movePlan = processor(jobs.movePlan, async ({ payload, effect, inTenant, finish }) => {
  const { planVersionId, after } = payload
  const found = await effect((trx) => tenantsOfPlan(trx, planVersionId, after))
  for (const { tenantId } of found) await inTenant(tenantId, (trx) => applyPlanVersion(trx, tenantId, planVersionId))
  const last = found.at(-1)
  await finish(async (trx) => {
    if (last) await enqueue(trx, jobs.movePlan, { planVersionId, after: last.tenantId })
  })
})

const tellHolders = processor(jobs.tellHoldersOfPrice, async ({ payload, effect, inTenant, finish }) => {
  const { priceId, after } = payload
  const found = await effect((trx) => holdersToTell(trx, priceId, after))
  for (const { tenantId, ...words } of found) await inTenant(tenantId, (trx) => tellHolder(trx, priceId, words))
  const last = found.at(-1)
  await finish(async (trx) => {
    if (last) await enqueue(trx, jobs.tellHoldersOfPrice, { priceId, after: last.tenantId })
  })
})

const chainProcessor = processor(jobs.chainAudit, async ({ effect, finish, signal }) => {
  for (const chain of await effect(unchained))
    while (!signal.aborted && (await effect((trx) => linkChain(trx, chain))) === linkedAtOnce);
  await finish()
})

/** The last 35 days each night, and all of it on the first of a month. */
const verifyProcessor = processor(jobs.verifyAudit, async ({ effect, finish, signal, log: jobLog }) => {
  const days = new Date().getUTCDate() === 1 ? null : 35
  for (let after = ''; !signal.aborted;) {
    const from = after
    const found = await effect((trx) => chainsAfter(trx, from, 100))
    for (const { chain } of found) {
      const { problem } = await effect((trx) => verifyChain(trx, chain, days))
      if (problem !== null) jobLog.error({ chain, problem, alert: 'audit_chain_broken' }, 'the audit trail was changed')
    }
    if (found.length < 100) break
    after = found.at(-1)?.chain ?? ''
  }
  await finish(async (trx) => {
    log.info({ ...(await signHeads(trx)), audit: 'heads' }, 'the heads of the audit trail')
  })
})

export const processors: readonly Processor[] = [
  onDatabase(jobs.runBilling, (trx) => runToday(trx)),
  closeProcessor,
  movePlan,
  tellHolders,
  eachTenant(jobs.expireGrants, tenantsWithExpired, expireGrantsOf),
  eachTenant(jobs.flagOverdue, tenantsPastDue, flagOverdueOf),
  eachTenant(jobs.snapshotStorage, tenantsAfter, snapshotStorageOf),
  ...collectProcessors,
  onDatabase(jobs.retryInvoice, (trx, { invoiceId }) => startCollection(trx, invoiceId)),
  processor(jobs.endSupportSessions, async ({ effect, finish }) => {
    for (const { id, cause } of await effect(overSupportSessions))
      await effect((trx) => endSupportSession(trx, id, cause))
    await finish()
  }),
  chainProcessor,
  verifyProcessor,
  onDatabase(jobs.verifyEntitlements, async (trx, _, context) => {
    for (const { tenantId } of await wrongFeatures(trx))
      context.log.error({ tenantId, alert: 'features_differ' }, 'the features of a tenant are not those of its grants')
  }),
  exportProcessor,
  onDatabase(jobs.expireExports, (trx) => expireOldExports(trx)),
  onDatabase(jobs.sweepPurges, (trx) => askForPurges(trx)),
  purgeProcessor,
  onDatabase(jobs.sweepProvisions, (trx) => askForProvisions(trx)),
  onDatabase(jobs.provisionTenant, (trx) => provisionParts(trx)),
]
