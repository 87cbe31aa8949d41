import { creditNoteIssued } from '../../../config/events/receipts.ts'
import { raisePosting } from '../../financial/index.ts'
import type { Numbered } from '../../documents/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, findRow } from '../../lib/records.ts'
import { Receipt } from '../receipts/models.ts'
import { CreditNote } from './models.ts'
import type { CreditNoteRecord } from './models.ts'

type Line = {
  accountId: string
  amount: number
  taxCodeId: string | null
  taxAmount: number
  propertyId: string | null
  costCenterId: string | null
}

const placed = ({ propertyId, costCenterId }: Line) => ({
  ...(propertyId === null ? {} : { propertyId }),
  ...(costCenterId === null ? {} : { costCenterId }),
})

const post = async (trx: Trx, note: CreditNoteRecord): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const lines = await sql<Line>(
    trx,
    `select account_id, amount, tax_code_id, tax_amount, property_id, cost_center_id from credit_note_line
     where tenant_id = ? and credit_note_id = ? order by line_no`,
    [tenantId, note.id],
  )
  const customer = await sqlOne<{ kind: string }>(trx, `select kind from customer where tenant_id = ? and id = ?`, [
    tenantId,
    note.customerId,
  ])
  const receipt = await findRow(trx, Receipt, { sourceType: 'credit_note', sourceId: note.id }, ['id'])
  await raisePosting(trx, {
    event: 'accounts-receivable.credit_note_issued',
    source: { id: note.id },
    bookId: note.bookId,
    ...(note.propertyId === null ? {} : { propertyId: note.propertyId }),
    postingDate: note.issuedOn,
    payload: {
      amounts: {
        lines: lines.map((line) => ({ amount: line.amount, accountId: line.accountId, ...placed(line) })),
        taxes: lines.flatMap((line) =>
          line.taxCodeId === null || line.taxAmount === 0
            ? []
            : [
                {
                  amount: line.taxAmount,
                  taxBase: line.amount,
                  context: { taxCodeId: line.taxCodeId },
                  ...placed(line),
                },
              ],
        ),
        applied: note.applied,
        excess: note.excess,
      },
      documents: { receivable: note.receivableId, ...(receipt ? { receipt: receipt.id } : {}) },
      context: customer ? { customerKind: customer.kind } : {},
      parties: { all: { type: 'customer', id: note.customerId } },
    },
  })
}

/** A credit note is issued by its number: the posting comes first, the number last (R7). */
export const creditNoteNumbers: Numbered = {
  async prepare(trx, id) {
    const note = await sqlOne<CreditNoteRecord>(
      trx,
      `select * from credit_note where tenant_id = ? and id = ? for no key update`,
      [contextOf(trx).tenantId, id],
    )
    if (note?.status !== 'issuing') return null
    await post(trx, note)
    const year = Number(note.issuedOn.slice(0, 4))
    return {
      series: { bookId: note.bookId, kind: 'credit_note', year },
      write: async ({ number, prefix }) => {
        const version = await changeRow(trx, CreditNote, id, {
          series: String(year),
          number,
          numberPrefix: prefix,
          status: 'issued',
        })
        const { propertyId, receivableId, amount, currency } = note
        await emit(trx, creditNoteIssued, {
          propertyId,
          id,
          version,
          data: { creditNoteId: id, number: `${prefix}${number}`, receivableId, amount, currency },
        })
      },
    }
  },
  text: `select 'credit_note' as kind, cast(null as uuid) as scope_id, cast(series as int) as year, number from credit_note
    where tenant_id = :tenantId and book_id = :bookId and number is not null`,
}
