import { speakingQueues, suspendedWaitMs } from '../../config/queues.ts'
import { hasFeature } from '../../db/lib/features.ts'
import { preparedOne } from '../../db/lib/connection.ts'
import type { AnyTrx, Trx } from '../../db/lib/connection.ts'
import type { Locked } from '../../db/jobs/index.ts'
import type { Job } from '../../jobs/job.ts'
import { tenantOf } from './context.ts'
import { PutBack, Skipped } from './failure.ts'
import type { Ends } from './processor.ts'

const speaking: ReadonlySet<string> = new Set(speakingQueues)

/** Tells whether a job may have to wait for its tenant. */
export const waitsForTenant = ({ queue }: Pick<Job, 'queue'>): boolean => speaking.has(queue)

const statusOf = async (trx: AnyTrx, tenantId: string): Promise<string | null> =>
  (await preparedOne<{ status: string }>(trx, `select status from tenant where id = ?`, [tenantId]))?.status ?? null

const standsStill = async (trx: AnyTrx, payload: unknown, locked: Locked | undefined): Promise<void> => {
  const tenantId = tenantOf(payload)
  if (tenantId === null) return
  const status = locked ? locked.tenantStatus : await statusOf(trx, tenantId)
  if (status === 'deleted') throw new Skipped('tenant_deleted')
  if (status === 'suspended' || status === 'deleting') throw new PutBack(suspendedWaitMs)
}

/**
 * Ends a job as skipped whose feature is not active for its tenant: it may have been asked for before the feature ended. One rule for all
 * jobs of all modules, in the transaction of their effect.
 * @param locked what the lock of the job has said of its tenant, so that it is not asked again.
 */
export const permit = async (
  trx: AnyTrx,
  job: Job,
  payload: unknown,
  { ends, locked }: { ends?: Ends | undefined; locked?: Locked | undefined } = {},
): Promise<void> => {
  const { feature } = job
  if (waitsForTenant(job)) await standsStill(trx, payload, locked)
  if (feature === undefined || (await hasFeature(trx as Trx, feature))) return
  if (ends && (await ends(trx as Trx, payload as never))) return
  throw new Skipped('feature_not_enabled')
}
