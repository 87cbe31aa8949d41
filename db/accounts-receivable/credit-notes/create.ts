import { randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../../config/errors.ts'
import { bookOf, installmentsIn, refuseFuture, requestNumber, todayAfter } from '../../documents/index.ts'
import type { Fact } from '../../documents/index.ts'
import { assertOpen, judgeLines, refuseProblems } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow, insertRows, readRow } from '../../lib/records.ts'
import { Receivable } from '../models.ts'
import type { ReceivableRecord } from '../models.ts'
import { insertReceipt } from '../receipts/insert.ts'
import { locking } from '../locking.ts'
import type { Judge } from '../receipts/plan.ts'
import { namedLines, sharedLines } from '../rules/credit-lines.ts'
import type { CreditableLine, CreditedLine } from '../rules/credit-lines.ts'
import { receivableSide } from '../side.ts'
import { lockReceivables, moveAmounts } from '../state.ts'
import { CreditNote, CreditNoteLine } from './models.ts'

export type GivenCreditNote = {
  receivableId: string
  /** All that can be credited unless said, or the sum of the lines. Minor units. */
  amount?: number | undefined
  lines?: readonly { accountId: string; amount: number }[] | undefined
  reason: string
  issuedOn?: string | undefined
}

const creditable = new Set(['issued', 'partly_paid', 'paid', 'credited', 'written_off'])

/**
 * Lines of an invoice with their accounts and what earlier notes gave back of each: what folios brought is lowered as an allowance, by the account that the
 * settings name.
 */
const linesOf = (trx: Trx, { id, bookId }: ReceivableRecord): Promise<CreditableLine[]> =>
  sql<CreditableLine>(
    trx,
    `select l.description, coalesce(l.account_id, a.id) as account_id, l.amount, l.tax_code_id, l.tax_amount, coalesce(l.property_id, f.property_id) as property_id,
       l.cost_center_id, l.line_no as receivable_line_no, coalesce(c.amount, 0)::bigint as credited, coalesce(c.tax, 0)::bigint as tax_credited
     from receivable_line l left join folio f on f.tenant_id = l.tenant_id and f.id = l.folio_id
     left join receivable_settings s on s.tenant_id = l.tenant_id and s.book_id = :bookId
     left join account a on a.tenant_id = l.tenant_id and a.book_id = :bookId
       and case when s.allowance_account_id is null then a.role = 'allowance_other' else a.id = s.allowance_account_id end
     left join (select i.receivable_line_no, sum(i.amount) as amount, sum(i.tax_amount) as tax from credit_note n
         join credit_note_line i on i.tenant_id = n.tenant_id and i.credit_note_id = n.id
         where n.tenant_id = :tenantId and n.receivable_id = :id group by i.receivable_line_no) c on c.receivable_line_no = l.line_no
     where l.tenant_id = :tenantId and l.receivable_id = :id order by l.line_no`,
    { tenantId: contextOf(trx).tenantId, id, bookId },
  )

/** The amount that can still be credited: an invoice less the notes on it and what was written off, whether it was paid or not. */
const leftOf = async (trx: Trx, { id, total, writtenOff }: ReceivableRecord): Promise<number> => {
  const row = await sqlOne<{ credited: number }>(
    trx,
    `select coalesce(sum(amount), 0)::bigint as credited from credit_note where tenant_id = ? and receivable_id = ?`,
    [contextOf(trx).tenantId, id],
  )
  return total - writtenOff - (row?.credited ?? 0)
}

const amountOf = (left: number, { amount, lines }: GivenCreditNote): number => {
  const ofLines = lines === undefined ? null : sum(lines.map((line) => line.amount))
  const wanted = amount ?? ofLines ?? left
  if (ofLines !== null && ofLines !== wanted)
    throw unprocessable('lines_not_equal', `The lines are ${ofLines}, the amount is ${wanted}`, [
      { field: 'lines', message: `must add up to ${wanted}` },
    ])
  if (wanted > left || wanted < 1)
    throw unprocessable('credit_exceeds_invoice', `At most ${Math.max(0, left)} of the invoice can be credited`, [
      { field: 'amount', message: `must be at most ${Math.max(0, left)}` },
    ])
  return wanted
}

const chosenLines = async (
  trx: Trx,
  document: ReceivableRecord,
  amount: number,
  wanted: GivenCreditNote['lines'],
): Promise<CreditedLine[]> => {
  const lines = await linesOf(trx, document)
  const chosen = wanted === undefined ? sharedLines(lines, amount) : namedLines(lines, wanted)
  // An account of the invoice may have been archived since: the note names another one then.
  const judged = await judgeLines(
    trx,
    document.bookId,
    (wanted ?? chosen).map(({ accountId, amount: debit }) => ({ accountId, debit })),
    always,
  )
  refuseProblems(judged.problems)
  return chosen
}

/** The part of a note that each installment loses, the last due first. */
const partsOf = async (trx: Trx, { id, open }: ReceivableRecord, amount: number) => {
  let left = Math.min(amount, open)
  const installments = (await installmentsIn(trx, receivableSide, [id])).toSorted((a, b) =>
    a.dueOn === b.dueOn ? b.seq - a.seq : a.dueOn < b.dueOn ? 1 : -1,
  )
  return installments.flatMap((one) => {
    const part = Math.min(left, one.open)
    left -= part
    return part > 0 ? [{ installmentId: one.id, amount: part }] : []
  })
}

/**
 * Credits an issued document, in part or whole (R14): open installments fall, the last due first, and what was paid already is a receipt of the customer.
 * The number and the posting follow. 409 `invalid_transition`, `receivable_busy`; 422 `credit_exceeds_invoice`, `lines_not_equal`, `account_not_usable`,
 * `date_out_of_range`, and the errors of periods.
 */
export const createCreditNote = async (trx: Trx, given: GivenCreditNote, judge: Judge): Promise<string> => {
  judge(await readRow(trx, Receivable, given.receivableId, ['propertyId']))
  const [document] = await locking(lockReceivables(trx, [given.receivableId]))
  if (!document || !creditable.has(document.status))
    throw conflict('invalid_transition', 'Only an issued document is credited', [
      { field: 'receivableId', message: `is ${document?.status.replaceAll('_', ' ') ?? 'gone'}` },
    ])
  const book = await bookOf(trx, { bookId: document.bookId })
  const issuedOn = given.issuedOn ?? todayAfter(book, document.postingOn)
  refuseFuture(book, issuedOn, 'issuedOn', document.postingOn)
  if (issuedOn < document.postingOn)
    throw unprocessable('date_out_of_range', 'A document is not credited before it is issued', [
      { field: 'issuedOn', message: `must be ${document.postingOn} or later` },
    ])
  const amount = amountOf(await leftOf(trx, document), given)
  await assertOpen(trx, book.id, issuedOn)
  const lines = await chosenLines(trx, document, amount, given.lines)
  const parts = await partsOf(trx, document, amount)
  const id = randomUUID()
  const applied = sum(parts.map((part) => part.amount))
  const note = await insertRow(trx, CreditNote, {
    id,
    bookId: book.id,
    propertyId: document.propertyId,
    receivableId: document.id,
    customerId: document.customerId,
    issuedOn,
    reason: given.reason,
    currency: document.currency,
    amount,
    applied,
    createdBy: await authorOf(trx),
  })
  await insertRows(
    trx,
    CreditNoteLine,
    lines.map((line, index) => ({ ...line, creditNoteId: id, lineNo: index + 1 })),
  )
  await moveAmounts(
    trx,
    [document],
    parts.map((part): Fact => ({ ...part, sum: 'credited', type: 'credit_note', sourceId: id, on: issuedOn })),
  )
  if (note.amount > applied)
    await insertReceipt(trx, {
      id: randomUUID(),
      bookId: book.id,
      propertyId: document.propertyId,
      customerId: document.customerId,
      sourceType: 'credit_note',
      sourceId: id,
      method: 'credit',
      currency: document.currency,
      amount: note.amount - applied,
      receivedOn: issuedOn,
      movement: null,
    })
  await requestNumber(trx, 'credit_note', id)
  return id
}
