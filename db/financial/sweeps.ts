import { ledgerPost } from '../../jobs/financial.ts'
import { enterTenant, sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { ofTenantsHere } from '../lib/moved-out.ts'
import { requestIntegrityRun } from './checks.ts'
import { ensureYears } from './years.ts'

type Found = { tenantId: string; bookId: string }

/** Makes one ledger.post for each book with events that are due. Answers how many it asked for. */
export const sweepPostings = async (trx: PlatformTrx): Promise<number> => {
  const due = await ofTenantsHere(
    trx,
    await sql<Found>(trx, `select tenant_id, book_id from books_with_postings_due()`),
  )
  for (const { tenantId, bookId } of due) {
    await enqueue(await enterTenant(trx, tenantId), ledgerPost, { tenantId, bookId }, { uniqueKey: `${bookId}.swept` })
  }
  return due.length
}

/** Books whose last fiscal year ends within 60 days get the next one. Answers how many years it made. */
export const sweepYears = async (trx: PlatformTrx): Promise<number> => {
  const books = await ofTenantsHere(
    trx,
    await sql<Found>(trx, `select tenant_id, book_id from books_without_next_year(60)`),
  )
  let made = 0
  for (const { tenantId, bookId } of books) made += await ensureYears(await enterTenant(trx, tenantId), bookId)
  return made
}

/** Asks for a run of the checks in every active book. */
export const requestIntegrityRuns = async (trx: PlatformTrx): Promise<number> => {
  const books = await ofTenantsHere(trx, await sql<Found>(trx, `select tenant_id, book_id from active_books()`))
  for (const { tenantId, bookId } of books) await requestIntegrityRun(await enterTenant(trx, tenantId), bookId)
  return books.length
}
