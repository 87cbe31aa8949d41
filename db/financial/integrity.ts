import { conflict } from '../../config/errors.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { bookFor } from './chart.ts'
import { requestIntegrityRun } from './checks.ts'
import type { CheckResult } from './checks.ts'

type Run = {
  id: string
  bookId: string
  status: 'queued' | 'running' | 'passed' | 'failed'
  results: CheckResult[]
  requestedAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}

const columns = `id, book_id, status, results, requested_at, started_at, finished_at`

/** The last run of the book named, or of the tenant's only one, and the results of the last that ended; `at` is when. */
export const readChecks = async (trx: Trx, bookId: string | undefined) => {
  const book = await bookFor(trx, bookId)
  const { tenantId } = contextOf(trx)
  const [run, ended] = await Promise.all([
    sqlOne<Run>(
      trx,
      `select ${columns} from integrity_run where tenant_id = ? and book_id = ? order by requested_at desc, id limit 1`,
      [tenantId, book.id],
    ),
    sqlOne<Run>(
      trx,
      `select ${columns} from integrity_run where tenant_id = ? and book_id = ? and finished_at is not null order by finished_at desc, id limit 1`,
      [tenantId, book.id],
    ),
  ])
  return {
    run,
    data: (ended?.results ?? []).map((result) => ({ ...result, at: ended?.finishedAt ?? null })),
  }
}

/** Asks for a run of the checks. 409 `run_in_progress` while one is under way, with its id. */
export const askForChecks = async (trx: Trx, bookId: string | undefined): Promise<Run> => {
  const book = await bookFor(trx, bookId)
  const { id, isNew } = await requestIntegrityRun(trx, book.id)
  if (!isNew)
    throw conflict('run_in_progress', 'A run of the checks is under way', [
      { field: 'bookId', message: `has run ${id} under way` },
    ])
  const run = await sqlOne<Run>(trx, `select ${columns} from integrity_run where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    id,
  ])
  return run!
}
