import { conflict, unprocessable } from '../../../config/errors.ts'
import { receivableVoided } from '../../../config/events/accounts-receivable.ts'
import { bookOf, installmentsIn, settle, todayAfter, todayOf } from '../../documents/index.ts'
import { assertOpen, postingEventOf, raisePosting } from '../../financial/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow } from '../../lib/records.ts'
import { lockFoliosToBill, returnReceivable } from '../../reservations/index.ts'
import { refuseLiveFiscal } from '../fiscal/commands.ts'
import { Receivable } from '../models.ts'
import { receivableSide } from '../side.ts'
import { lockReceivable, lockReceivables, note, noteAll, receivableMoves, tell } from '../state.ts'

type Part = { folioId: string | null; fromReceivableId: string | null }

const partsOf = (trx: Trx, id: string) =>
  sql<Part>(
    trx,
    `select folio_id, from_receivable_id from receivable_line where tenant_id = ? and receivable_id = ? and live and account_id is null`,
    [contextOf(trx).tenantId, id],
  )

/** A note may credit more than was open: the customer then had the money, and the document is open again once the receipts of it are reversed. */
const refuseCredited = async (trx: Trx, id: string): Promise<void> => {
  const note = await sqlOne<{ id: string }>(
    trx,
    `select id from credit_note where tenant_id = ? and receivable_id = ? limit 1`,
    [contextOf(trx).tenantId, id],
  )
  if (note)
    throw conflict('invalid_transition', 'A credit note of the document stands', [
      { field: 'creditNoteId', message: note.id },
    ])
}

/**
 * Voids a document: a draft, a bill of a stay that waits, or one that is issued, of which nothing is settled or credited, in its open period. The number is
 * kept; folios are open again, and bills of stays wait again. 409 `invalid_transition`; 422 `period_closed`, `date_locked`, and
 * `fiscal_document_alive` while a fiscal document of it stands (R19).
 */
export const voidReceivable = async (trx: Trx, id: string, reason: string, expected: number | null): Promise<void> => {
  // Folios are locked before documents; a line of a document does not change.
  const folios = await lockFoliosToBill(
    trx,
    (await partsOf(trx, id)).flatMap(({ folioId }) => folioId ?? []),
  )
  const row = await lockReceivable(trx, id, expected)
  if (!receivableMoves.isDue('voided', row.status)) return
  const parts = await partsOf(trx, id)
  const stays = parts.flatMap(({ fromReceivableId }) => fromReceivableId ?? [])
  if (parts.some(({ folioId }) => folioId !== null && folios.every((one) => one.id !== folioId)))
    throw new Error('a folio of the document was not locked')
  const book = await bookOf(trx, { bookId: row.bookId })
  const today = row.status === 'draft' ? todayOf(book) : todayAfter(book, row.postingOn)
  const isIssued = row.status === 'issued'
  if (isIssued) {
    await refuseLiveFiscal(trx, { receivableId: id })
    await refuseCredited(trx, id)
    await assertOpen(trx, book.id, row.postingOn)
    await assertOpen(trx, book.id, today)
  }
  await lockReceivables(trx, stays)
  if (isIssued) {
    const installments = await installmentsIn(trx, receivableSide, [id])
    await settle(
      trx,
      receivableSide,
      installments
        .filter((one) => one.open > 0)
        .map((one) => ({
          installmentId: one.id,
          sum: null,
          type: 'voided',
          sourceId: id,
          on: today,
          amount: one.open,
        })),
    )
  }
  const { tenantId } = contextOf(trx)
  await changeRow(trx, Receivable, id, { status: 'void', voidedOn: today, voidReason: reason })
  await sql(trx, `update receivable_line set live = false where tenant_id = ? and receivable_id = ?`, [tenantId, id])
  await sql(
    trx,
    `update receivable set status = 'unbilled', consolidated_into_id = null, version = version + 1 where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, stays],
  )
  await noteAll(trx, stays, { command: 'return', from: 'consolidated', to: 'unbilled', reason })
  note(trx, id, { command: 'void', from: row.status, to: 'void', reason })
  await tell(trx, receivableVoided, id)
  await returnReceivable(trx, folios)
  if (!isIssued || row.billed) return
  const turned = await postingEventOf(trx, 'accounts-receivable.receivable_issued', { id })
  if (turned === null) throw unprocessable('period_closed', 'The document was never posted')
  await raisePosting(trx, {
    event: 'accounts-receivable.receivable_voided',
    source: { id },
    bookId: book.id,
    ...(row.propertyId === null ? {} : { propertyId: row.propertyId }),
    postingDate: today,
    reversesEventId: turned,
  })
}
