import type { Job } from '../../jobs/job.ts'
import { inTenant } from '../../db/connection.ts'
import type { PlatformTrx, Trx } from '../../db/connection.ts'
import { processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

type Due = { tenantId: string; id: string }

/** Erases what is due, of every tenant: what `find` answers, tenant by tenant, until it answers nothing. What `erase` has done, `find` must not answer again. */
export const erasing = (
  asked: Job,
  find: (trx: PlatformTrx) => Promise<Due[]>,
  erase: (trx: Trx, ids: readonly string[]) => Promise<void>,
): Processor =>
  processor(asked, async ({ effect, finish, signal }) => {
    const look = () => effect((trx) => find(trx))
    for (let due = await look(); due.length > 0 && !signal.aborted; due = await look())
      for (const tenantId of new Set(due.map((one) => one.tenantId)))
        await inTenant(tenantId, (trx) =>
          erase(
            trx,
            due.filter((one) => one.tenantId === tenantId).map((one) => one.id),
          ),
        )
    await finish()
  })
