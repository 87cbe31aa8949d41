import {
  checkClocks,
  closableIssues,
  closeResolved,
  dueIssues,
  endFromEvent,
  endGone,
  endSettled,
  erasableIssues,
  erasableItems,
  eraseIssues,
  eraseItems,
  flagItem,
  flaggableItems,
  goneJobs,
  openForJobs,
  openFromEvent,
  settledStays,
  untoldJobs,
} from '../../db/issues/index.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import * as jobs from '../../jobs/issues.ts'
import { eraseDue } from '../lib/erasing.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { JobContext, Processor } from '../lib/processor.ts'

type Found = { tenantId: string; id: string }
type Tick = Pick<JobContext<Record<never, never>>, 'effect' | 'inTenant' | 'log' | 'signal'>

/** One transaction for each record, until nothing new is found: one that cannot be moved on now does not keep the others. */
const each = async <One extends Found>(
  { effect, inTenant, log, signal }: Tick,
  find: (trx: PlatformTrx) => Promise<One[]>,
  move: (trx: Trx, id: string, one: One) => Promise<void>,
): Promise<void> => {
  const seen = new Set<string>()
  for (;;) {
    const fresh = (await effect((trx) => find(trx))).filter(({ id }) => !seen.has(id))
    if (fresh.length === 0) return
    for (const one of fresh) {
      if (signal.aborted) return
      const { tenantId, id } = one
      seen.add(id)
      await inTenant(tenantId, (trx) => move(trx, id, one)).catch((error: unknown) =>
        log.warn({ err: error, tenantId, id }, 'an issue or item could not be moved on'),
      )
    }
  }
}

export const processors: readonly Processor[] = [
  onDatabase(jobs.openIssue, (trx, { eventId }) => openFromEvent(trx, eventId)),
  onDatabase(jobs.endIssue, (trx, { eventId }) => endFromEvent(trx, eventId)),
  processor(jobs.checkIssueClocks, async (context) => {
    await each(context, dueIssues, checkClocks)
    await each(context, settledStays, endSettled)
    await each(context, untoldJobs, (trx, _, jobsOf) => openForJobs(trx, jobsOf))
    await each(context, goneJobs, endGone)
    await context.finish()
  }),
  processor(jobs.closeIssues, async (context) => {
    await each(context, closableIssues, closeResolved)
    await context.finish()
  }),
  processor(jobs.flagLostItems, async (context) => {
    await each(context, flaggableItems, flagItem)
    await context.finish()
  }),
  processor(jobs.eraseIssueTexts, async (context) => {
    await eraseDue(context, erasableIssues, eraseIssues)
    await eraseDue(context, erasableItems, eraseItems)
    await context.finish()
  }),
]
