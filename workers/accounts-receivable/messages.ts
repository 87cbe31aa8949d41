import { beginRun, booksToDun, endRun, handOver, startDue, writeNotices } from '../../db/accounts-receivable/index.ts'
import * as jobs from '../../jobs/fiscal.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

/** The time that a sending waits before it looks again for its Pix codes. */
const pixWaitMs = 5_000

/** Invoices and reminders on their way to customers. */
export const processors: readonly Processor[] = [
  onDatabase(jobs.sendReceivable, async (trx, { sendingId }, { putBack }) => {
    if ((await handOver(trx, sendingId)) === 'wait') putBack(pixWaitMs)
  }),
  // Some customers in each transaction: a restart goes on with those who have no message yet.
  processor(jobs.runDunning, async ({ payload: { dunningRunId }, effect, finish, signal }) => {
    if (!(await effect((trx) => beginRun(trx, dunningRunId)))) return finish()
    const writeAfter = (last: string | null) => effect((trx) => writeNotices(trx, dunningRunId, last))
    for (let last = await writeAfter(null); last !== null; last = await writeAfter(last)) signal.throwIfAborted()
    return finish((trx) => endRun(trx, dunningRunId))
  }),
  processor(jobs.tickDunning, async ({ effect, inTenant, finish, log }) => {
    for (const { tenantId, bookId } of await effect((trx) => booksToDun(trx)))
      await inTenant(tenantId, (trx) => startDue(trx, bookId)).catch((error: unknown) =>
        log.error({ err: error, tenantId, bookId }, 'the reminders of a book could not be started'),
      )
    await finish()
  }),
]
