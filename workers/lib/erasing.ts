import type { Job } from '../../jobs/job.ts'
import { byTenant } from '../../db/lib/by-tenant.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import { ofTenantsHere } from '../../db/lib/moved-out.ts'
import { processor } from './processor.ts'
import type { JobContext, Processor } from './processor.ts'

type Due = { tenantId: string; id: string }
type Find = (trx: PlatformTrx) => Promise<Due[]>
type Erase = (trx: Trx, ids: readonly string[]) => Promise<unknown>

/**
 * Erases what is due, of every tenant: what `find` answers, tenant by tenant, until it answers nothing. Throws where nothing of what it answers is new: `erase` did
 * not do those, and another try would not either.
 */
export const eraseDue = async (
  { effect, inTenant, signal }: Pick<JobContext<Record<never, never>>, 'effect' | 'inTenant' | 'signal'>,
  find: Find,
  erase: Erase,
): Promise<void> => {
  const look = () => effect(async (trx) => ofTenantsHere(trx, await find(trx)))
  const erased = new Set<string>()
  for (let due = await look(); due.length > 0 && !signal.aborted; due = await look()) {
    const fresh = due.filter(({ tenantId, id }) => !erased.has(`${tenantId} ${id}`))
    if (fresh.length === 0)
      throw new Error(`${due.length} records were erased and are due all the same, the first is ${due[0]?.id ?? ''}`)
    for (const [tenantId, mine] of byTenant(fresh))
      await inTenant(tenantId, (trx) =>
        erase(
          trx,
          mine.map((one) => one.id),
        ),
      )
    for (const { tenantId, id } of fresh) erased.add(`${tenantId} ${id}`)
  }
}

export const erasing = (asked: Job, find: Find, erase: Erase): Processor =>
  processor(asked, async (context) => {
    await eraseDue(context, find, erase)
    await context.finish()
  })
