import {
  billFilesToErase,
  collectWithholdings,
  dueRecurring,
  eraseBillFiles,
  failUnsent,
  itemsToSend,
  occur,
  paymentsToStart,
  sendItem,
  tellDue,
} from '../../db/accounts-payable/index.ts'
import { ApiError } from '../../config/errors.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { isMomentary } from '../../db/lib/errors.ts'
import * as jobs from '../../jobs/accounts-payable.ts'
import { erasing } from '../lib/erasing.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

export const processors: readonly Processor[] = [
  // One transaction for each item: one that is refused does not keep the others, and a restart goes on where it stopped.
  processor(
    jobs.startPayment,
    async ({ payload: { tenantId, payablePaymentId }, effect, inTenant, finish, signal }) => {
      const items = await effect((trx) => itemsToSend(trx, payablePaymentId))
      for (const itemId of items) {
        if (signal.aborted) return
        await inTenant(tenantId, (trx) => sendItem(trx, itemId)).catch((error: unknown) =>
          inTenant(tenantId, (trx) => failUnsent(trx, itemId, error)),
        )
      }
      await finish()
    },
  ),
  processor(jobs.sweepPayments, async ({ effect, finish }) => {
    await effect(async (trx) => {
      for (const { tenantId, id } of await paymentsToStart(trx))
        await enqueue(trx, jobs.startPayment, { tenantId, payablePaymentId: id }, { uniqueKey: id })
    })
    await finish()
  }),
  processor(
    jobs.ledgerGenerateRecurring,
    async ({ payload: { tenantId, bookId, date }, effect, inTenant, finish, signal }) => {
      const refused: ApiError[] = []
      for (const id of await effect((trx) => dueRecurring(trx, bookId, date)))
        try {
          while (!signal.aborted && (await inTenant(tenantId, (trx) => occur(trx, id, date)))) {
            // One transaction for each bill.
          }
        } catch (error) {
          // One whose supplier is archived, say, keeps no other from its bills. The job fails in its name, after them.
          if (!(error instanceof ApiError) || isMomentary(error)) throw error
          refused.push(error)
        }
      if (refused[0]) throw refused[0]
      if (!signal.aborted) await finish()
    },
  ),
  onDatabase(jobs.ledgerCollectWithholdings, (trx, { bookId, date }) => collectWithholdings(trx, bookId, date)),
  onDatabase(jobs.ledgerNoticePayables, (trx, { bookId, date }) => tellDue(trx, bookId, date)),
  erasing(jobs.eraseBillFilesJob, billFilesToErase, eraseBillFiles),
]
