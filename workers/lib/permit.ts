import { hasFeature } from '../../db/lib/features.ts'
import type { AnyTrx, Trx } from '../../db/lib/connection.ts'
import type { Job } from '../../jobs/job.ts'
import { Skipped } from './failure.ts'
import type { Ends } from './processor.ts'

/**
 * Ends a job as skipped whose feature is not active for its tenant: it may have been asked for before the feature ended. One rule for all
 * jobs of all modules, in the transaction of their effect.
 */
export const permit = async (trx: AnyTrx, { feature }: Job, payload: unknown, ends?: Ends): Promise<void> => {
  if (feature === undefined || (await hasFeature(trx as Trx, feature))) return
  if (ends && (await ends(trx as Trx, payload as never))) return
  throw new Skipped('feature_not_enabled')
}
