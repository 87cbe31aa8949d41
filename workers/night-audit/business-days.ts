import { nilId } from '../../config/nil-id.ts'
import { daysDue, startDue } from '../../db/night-audit/index.ts'
import { tickBusinessDays } from '../../jobs/night-audit.ts'
import { processor } from '../lib/processor.ts'

const atOnce = 500

/** One transaction per property: one whose audit cannot begin now does not keep the others, and comes again with the next tick. */
export const businessDays = processor(tickBusinessDays, async ({ effect, inTenant, finish, log, signal }) => {
  for (let after = nilId; !signal.aborted;) {
    const from = after
    const due = await effect((trx) => daysDue(trx, from, atOnce))
    for (const { tenantId, propertyId } of due) {
      if (signal.aborted) break
      await inTenant(tenantId, (trx) => startDue(trx, propertyId)).catch((error: unknown) =>
        log.warn({ err: error, tenantId, propertyId }, 'a business day could not be closed'),
      )
    }
    const last = due.at(-1)
    if (!last || due.length < atOnce) break
    after = last.propertyId
  }
  await finish()
})
