import { randomUUID } from 'node:crypto'
import type { JournalKind } from '../../config/financial.ts'
import { unprocessable } from '../../config/errors.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { bookFor } from './chart.ts'
import { Journal } from './models.ts'

export const listJournals = pageOf(Journal, {
  order: ['code', 'id'],
  filters: { bookId: equal('bookId'), kind: equal('kind'), active: equal('active') },
})

export const readJournal = (trx: Trx, id: string) => readRow(trx, Journal, id)

/** 409 `duplicate_code`. */
export const createJournal = async (
  trx: Trx,
  { bookId, ...journal }: { bookId?: string; code: string; name: string; kind: JournalKind },
): Promise<string> => {
  const id = randomUUID()
  await insertRow(trx, Journal, { ...journal, id, bookId: (await bookFor(trx, bookId)).id })
  return id
}

/** Renames a journal or switches it. 422 `in_use` for the last active one of its kind, since events need one. */
export const changeJournal = async (
  trx: Trx,
  id: string,
  change: { name?: string | undefined; active?: boolean | undefined },
): Promise<void> => {
  if (change.active === false) {
    const journal = await readJournal(trx, id)
    const active = await sql<{ id: string }>(
      trx,
      `select id from journal where tenant_id = ? and book_id = ? and kind = ? and active order by id for no key update`,
      [contextOf(trx).tenantId, journal.bookId, journal.kind],
    )
    if (active.length === 1 && active[0]?.id === id)
      throw unprocessable('in_use', 'The last active journal of its kind stays active', [
        { field: 'active', message: `add another journal of kind ${journal.kind} first` },
      ])
  }
  await changeRow(trx, Journal, id, change)
}
