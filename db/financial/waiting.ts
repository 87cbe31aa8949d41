import { ApiError } from '../../config/errors.ts'
import { ledgerPost } from '../../jobs/financial.ts'
import { takeAlong } from '../jobs/index.ts'
import { contextOf, isUnreachable, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { fromDatabase } from '../lib/errors.ts'
import { announce, claim, failure, stateOf, writeStates } from './outcomes.ts'
import { batchSize, postBatch } from './poster.ts'

/** Tells whether the error says nothing about the event itself: it may pass at once, and counts no attempt. */
const isPassing = (error: unknown): boolean => {
  if (isUnreachable(error)) return true
  if (error instanceof ApiError) return error.status === 503 || error.status === 409
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '40001' || code === '40P01' || code === '55P03' || code === '57014'
}

/** Anything but an error of PostgreSQL about what was written is a fault of ours or of the machine, and ends the job. */
const isAboutRows = (error: unknown): error is Error & { code: string } =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(PL0\d\d|22\w{3}|23\w{3}|42501)$/.test(error.code)

const recordFailure = async (trx: Trx, bookId: string, eventId: string, error: Error & { code: string }) => {
  const [claimed] = await claim(trx, bookId, 1, eventId)
  if (!claimed) return
  const outcome = failure(claimed, fromDatabase(error)?.code ?? error.code, error.message)
  await writeStates(trx, [stateOf(claimed, outcome)])
  await announce(trx, bookId, [{ claimed, outcome }], [])
}

type Effect = <T>(work: (trx: Trx) => Promise<T>) => Promise<T>

/**
 * Posts what waits in a book: a batch; and where a batch is refused, event by event, so that only those that PostgreSQL refuses
 * stay behind. `last` runs the batch, and is where the caller ends its job, with the jobs of the book that still wait; more than a batch goes to another job.
 */
export const postWaiting = async (bookId: string, effect: Effect, last: Effect = effect): Promise<void> => {
  const batchAndFollow = async (trx: Trx) => {
    takeAlong(trx, ledgerPost, `${bookId}.`)
    const taken = await postBatch(trx, bookId)
    if (taken === batchSize) {
      await enqueue(trx, ledgerPost, { tenantId: contextOf(trx).tenantId ?? '', bookId })
    }
    return taken
  }
  try {
    await last(batchAndFollow)
    return
  } catch (error) {
    if (isPassing(error) || !isAboutRows(error)) throw error
  }
  const due = await effect((trx) =>
    sql<{ id: string }>(
      trx,
      `select id from posting_event where tenant_id = ? and book_id = ? and status in ('pending', 'failed') and (next_at is null or next_at <= now())
       order by seq limit ?`,
      [contextOf(trx).tenantId, bookId, batchSize],
    ),
  )
  for (const { id } of due) {
    try {
      await effect((trx) => postBatch(trx, bookId, { limit: 1, eventId: id }))
    } catch (error) {
      if (isPassing(error) || !isAboutRows(error)) throw error
      await effect((trx) => recordFailure(trx, bookId, id, error))
    }
  }
  await last(batchAndFollow)
}
