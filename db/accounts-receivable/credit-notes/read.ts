import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import { readRow } from '../../lib/records.ts'
import { CreditNote } from './models.ts'
import type { CreditNoteRecord } from './models.ts'

export type CreditNoteFilter = Paging & {
  customerId?: string | undefined
  receivableId?: string | undefined
  bookId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  scope: Condition
}

/** A page of credit notes, the latest first. */
export const listCreditNotes = (trx: Trx, filter: CreditNoteFilter) =>
  readPage<CreditNoteRecord>(
    trx,
    {
      columns: 'n.*',
      from: 'credit_note n',
      conditions: [
        { text: 'n.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...inScope(filter.scope, 'n.property_id'),
        ...where('n.customer_id = ?', filter.customerId),
        ...where('n.receivable_id = ?', filter.receivableId),
        ...where('n.book_id = ?', filter.bookId),
      ],
      days: onDays('n.issued_on', filter),
      order: 'n.issued_on desc, n.created_at desc, n.id',
    },
    filter,
  )

type LineShown = {
  lineNo: number
  description: string
  accountId: string
  amount: number
  taxCodeId: string | null
  taxAmount: number
  propertyId: string | null
  costCenterId: string | null
}

/** A credit note with its lines, what it took off each installment, and the receipt of what was paid already. 404. */
export const readCreditNote = async (trx: Trx, id: string) => {
  const { tenantId } = contextOf(trx)
  const [note, lines, applications, receipt] = await Promise.all([
    readRow(trx, CreditNote, id),
    sql<LineShown>(
      trx,
      `select line_no, description, account_id, amount, tax_code_id, tax_amount, property_id, cost_center_id from credit_note_line
       where tenant_id = ? and credit_note_id = ? order by line_no`,
      [tenantId, id],
    ),
    sql<{ installmentId: string; amount: number }>(
      trx,
      `select installment_id, amount from receivable_fact where tenant_id = ? and source_id = ? and type = 'credit_note' order by position`,
      [tenantId, id],
    ),
    sqlOne<{ id: string }>(
      trx,
      `select id from receipt where tenant_id = ? and source_type = 'credit_note' and source_id = ?`,
      [tenantId, id],
    ),
  ])
  return { ...note, lines, applications, receiptId: receipt?.id ?? null }
}
