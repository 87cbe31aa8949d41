import { conflict, unprocessable } from '../../../config/errors.ts'
import { receivableRescheduled } from '../../../config/events/accounts-receivable.ts'
import {
  bookOf,
  installmentsIn,
  installmentsOf,
  refuseFuture,
  replaceInstallments,
  rescheduled,
  storeSchedule,
  todayOf,
} from '../../documents/index.ts'
import type { Installment, Share } from '../../documents/index.ts'
import { refuseProblems } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf, editorsWith } from '../../lib/authors.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow } from '../../lib/records.ts'
import { Receivable } from '../models.ts'
import type { ReceivableRecord } from '../models.ts'
import { receivableSide } from '../side.ts'
import { lockReceivable, note, receivableMoves, tell } from '../state.ts'
import { nameCustomer } from './create.ts'
import type { NewReceivable } from './create.ts'
import { centerOf, linesOf, problemsOfLines, writeLines } from './lines.ts'
import type { GivenLine } from './lines.ts'

export type ReceivableChange = { [Field in keyof Omit<NewReceivable, 'bookId' | 'kind'>]?: NewReceivable[Field] } & {
  dunningPausedUntil?: string | null | undefined
  promisedOn?: string | null | undefined
}

const afterIssue = ['notes', 'customerReference', 'dunningPausedUntil', 'promisedOn', 'installments']

/** Divides and dates anew what is not paid of an issued document, which the caller holds. 409 `invalid_transition`; 422 `installments_not_equal`, `date_out_of_range`. */
const reschedule = async (trx: Trx, row: ReceivableRecord, wanted: readonly Share[]): Promise<Installment[]> => {
  receivableMoves.allow('rescheduled', row.status)
  const early = wanted.findIndex(({ dueOn }) => dueOn < row.issuedOn)
  if (early >= 0)
    throw unprocessable('date_out_of_range', 'An installment is due before the document was issued', [
      { field: `installments.${early}.dueOn`, message: `must not be before ${row.issuedOn}` },
    ])
  const before = await installmentsIn(trx, receivableSide, [row.id])
  const today = todayOf(await bookOf(trx, { bookId: row.bookId }))
  await storeSchedule(trx, receivableSide, row.id, rescheduled(before, wanted, today))
  return before
}

const changeIssued = async (trx: Trx, row: ReceivableRecord, change: ReceivableChange): Promise<void> => {
  const wrong = Object.keys(change).filter((field) => !afterIssue.includes(field))
  if (wrong.length > 0)
    throw conflict(
      'invalid_transition',
      'After issue only notes, references, dates of reminders and what is not paid can be changed',
      wrong.map((field) => ({ field, message: 'does not change any more' })),
    )
  const { installments, ...fields } = change
  const before = installments ? await reschedule(trx, row, installments) : []
  await changeRow(trx, Receivable, row.id, fields)
  note(trx, row.id, {
    command: 'change',
    from: row.status,
    to: row.status,
    changes: {
      fields: Object.keys(change),
      ...(installments ? { installments: before.map(({ seq, dueOn, amount }) => ({ seq, dueOn, amount })) } : {}),
    },
  })
  if (installments) await tell(trx, receivableRescheduled, row.id)
}

const changeDraft = async (trx: Trx, row: ReceivableRecord, change: ReceivableChange): Promise<void> => {
  const { lines: given, installments: wanted, ...fields } = change
  const propertyId = change.propertyId === undefined ? row.propertyId : change.propertyId
  const book = await bookOf(trx, { bookId: row.bookId, propertyId })
  const issuedOn = change.issuedOn ?? row.issuedOn
  refuseFuture(book, issuedOn, 'issuedOn')
  const customer = await nameCustomer(trx, change.customerId ?? row.customerId, book)
  const stand = await sql<GivenLine>(
    trx,
    `select description, cast(trim_scale(quantity) as text) as quantity, unit_amount, account_id, tax_code_id, cost_center_id, property_id
     from receivable_line where tenant_id = ? and receivable_id = ? order by line_no`,
    [contextOf(trx).tenantId, row.id],
  )
  // A rate of tax is that of the day of issue.
  const { lines, total } = await linesOf(trx, book.id, issuedOn, given ?? stand)
  if (given) refuseProblems(await problemsOfLines(trx, book, row.kind, lines))
  const before = await installmentsIn(trx, receivableSide, [row.id])
  const isEqual = sum(before.map(({ amount }) => amount)) === total && before.every(({ dueOn }) => dueOn >= issuedOn)
  const installments = installmentsOf(
    { total, issuedOn, termDays: customer.termDays },
    wanted ?? (isEqual ? before.map(({ dueOn, amount }) => ({ dueOn, amount })) : undefined),
  )
  await writeLines(trx, row.id, lines)
  await replaceInstallments(trx, receivableSide, row.id, installments)
  await changeRow(trx, Receivable, row.id, {
    ...fields,
    propertyId,
    issuedOn,
    postingOn: issuedOn,
    total,
    costCenterId: centerOf(lines),
    editors: editorsWith(row, await authorOf(trx)),
  })
  note(trx, row.id, { command: 'change', from: 'draft', to: 'draft', changes: { fields: Object.keys(change) } })
}

/**
 * Changes a draft: lines and installments are replaced whole. Of an issued document notes, references, dates of reminders, and the installments of what is
 * not paid (R5). 409 `invalid_transition`; else the errors of `createReceivable`.
 */
export const changeReceivable = async (
  trx: Trx,
  id: string,
  change: ReceivableChange,
  expected: number | null,
): Promise<void> => {
  const row = await lockReceivable(trx, id, expected)
  receivableMoves.allow('changed', row.status)
  if (Object.keys(change).length === 0) return
  if (row.status === 'draft') await changeDraft(trx, row, change)
  else await changeIssued(trx, row, change)
}
