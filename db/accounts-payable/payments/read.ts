import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { readRow } from '../../lib/records.ts'
import { onDays } from '../../lib/days.ts'
import { readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import { PayablePayment } from '../models.ts'
import type { ItemRecord, PaymentRecord } from '../models.ts'

export type ItemShown = ItemRecord & { number: string | null; name: string }

/** A payment with the outcome of each item. 404. */
export const readPayment = async (trx: Trx, id: string): Promise<PaymentRecord & { items: ItemShown[] }> => {
  const [payment, items] = await Promise.all([
    readRow(trx, PayablePayment, id),
    sql<ItemShown>(
      trx,
      `select x.*, p.number, coalesce(s.legal_name, x.payee_name) as name from payable_payment_item x
       left join payable p on p.tenant_id = x.tenant_id and p.id = x.payable_id left join supplier s on s.tenant_id = x.tenant_id and s.id = x.supplier_id
       where x.tenant_id = ? and x.payable_payment_id = ? order by x.position`,
      [contextOf(trx).tenantId, id],
    ),
  ])
  return { ...payment, items }
}

/** The state of a payment. 404. */
export const statusOfPayment = async (trx: Trx, id: string) =>
  (await readRow(trx, PayablePayment, id, ['status'])).status

export type PaymentFilter = Paging & {
  status?: string | undefined
  method?: string | undefined
  bookId?: string | undefined
  cashAccountId?: string | undefined
  supplierId?: string | undefined
  payOnFrom?: string | undefined
  payOnTo?: string | undefined
  installmentId?: string | undefined
}

const withItem = (condition: string) =>
  `exists (select from payable_payment_item x where x.tenant_id = y.tenant_id and x.payable_payment_id = y.id and ${condition})`

/** A page of payments without items, the latest first. */
export const listPayments = (trx: Trx, filter: PaymentFilter) =>
  readPage<PaymentRecord>(
    trx,
    {
      columns: 'y.*',
      from: 'payable_payment y',
      conditions: [
        { text: 'y.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...where('y.status = ?', filter.status),
        ...where('y.method = ?', filter.method),
        ...where('y.book_id = ?', filter.bookId),
        ...where('y.cash_account_id = ?', filter.cashAccountId),
        ...where(withItem('x.supplier_id = ?'), filter.supplierId),
        ...where(withItem('x.installment_id = ?'), filter.installmentId),
      ],
      days: onDays('y.pay_on', { from: filter.payOnFrom, to: filter.payOnTo }),
      order: 'y.pay_on desc, y.created_at desc, y.id',
    },
    filter,
  )
