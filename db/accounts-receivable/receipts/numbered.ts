import type { Numbered } from '../../documents/index.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, findRow } from '../../lib/records.ts'
import { Receipt } from './models.ts'
import { lockReceipt } from './state.ts'

/** Receipts are numbered in the year of their day; their money was posted when it came. */
export const receiptNumbers: Numbered = {
  async prepare(trx: Trx, id: string) {
    if (!(await findRow(trx, Receipt, id, ['id']))) return null
    const { number, bookId, receivedOn } = await lockReceipt(trx, id)
    if (number !== null) return null
    const year = Number(receivedOn.slice(0, 4))
    return {
      series: { bookId, kind: 'receipt', year },
      write: (given) =>
        changeRow(trx, Receipt, id, { series: String(year), number: given.number, numberPrefix: given.prefix }),
    }
  },
  text: `select 'receipt' as kind, cast(null as uuid) as scope_id, cast(series as int) as year, number from receipt
    where tenant_id = :tenantId and book_id = :bookId and number is not null`,
}
