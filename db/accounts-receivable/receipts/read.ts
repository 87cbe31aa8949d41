import { maskDocument } from '../../documents/index.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { fact, inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import { readRow } from '../../lib/records.ts'
import { plainTerm, unseal } from '../../lib/sealing/index.ts'
import { byIds, idsLike, partly } from '../../lib/words.ts'
import { Receipt } from './models.ts'
import type { Payer, ReceiptRecord, RefundRecord, WithheldTax } from './models.ts'
import { payerPlace } from './state.ts'

/** The rights of a caller over receipts. */
export type ReceiptSight = {
  /** Documents of payers are shown whole. */
  reveals: boolean
}

export type ReceiptFilter = Paging & {
  bookId?: string | undefined
  customerId?: string | undefined
  unidentified?: boolean | undefined
  available?: boolean | undefined
  cashAccountId?: string | undefined
  sourceType?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Minor units. */
  amount?: number | undefined
  q?: string | undefined
  scope: Condition
}

const shown = async (trx: Trx, row: ReceiptRecord, { reveals }: ReceiptSight) => {
  const { payer, search: _, ...rest } = row
  const { name, document } = payer
    ? await unseal<Payer>(trx, 'tenant', payerPlace(row.id), payer)
    : { name: null, document: null }
  return { ...rest, payerName: name, payerDocument: reveals ? document : maskDocument(document) }
}

const isAvailable = `r.status = 'recorded' and r.available > 0`
const isUnidentified = 'r.customer_id is null'

/** Rows that all have a fact, or all do not, are not put in order by it: an index of them alone serves their page. */
const orderOf = ({ available, unidentified }: ReceiptFilter): string =>
  [
    ...(available === undefined ? [`(${isAvailable}) desc`] : []),
    ...(unidentified === undefined ? [`(${isUnidentified}) desc`] : []),
    'r.received_on desc, r.created_at desc, r.id',
  ].join(', ')

/** A page of receipts: those with money left first, and of these the ones of nobody known; then the latest. */
export const listReceipts = async (trx: Trx, filter: ReceiptFilter, sight: ReceiptSight) => {
  const term = filter.q === undefined ? undefined : plainTerm(filter.q)
  const { rows, total } = await readPage<ReceiptRecord>(
    trx,
    {
      columns: 'r.*',
      from: 'receipt r',
      counted: { list: 'receipt', as: 'r' },
      conditions: [
        { text: 'r.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...inScope(filter.scope, 'r.property_id'),
        ...where('r.book_id = ?', filter.bookId),
        ...where('r.customer_id = ?', filter.customerId),
        ...where('r.cash_account_id = ?', filter.cashAccountId),
        ...where('r.source_type = ?', filter.sourceType),
        ...where('r.amount = ?', filter.amount),
        ...(term === undefined
          ? []
          : [
              byIds(
                { 'r.id': await idsLike(trx, 'receipt', partly(term)) },
                { text: 'strpos(r.search, ?) > 0', values: [term] },
              ),
            ]),
      ],
      days: onDays('r.received_on', filter),
      facts: [
        ...fact(filter.unidentified, isUnidentified, { counted: 'receipt_unidentified' }),
        ...fact(filter.available, isAvailable, { counted: 'receipt_available' }),
      ],
      order: orderOf(filter),
    },
    filter,
  )
  return { total, rows: await Promise.all(rows.map((row) => shown(trx, row, sight))) }
}

type AllocationShown = {
  id: string
  on: string
  receivableId: string | null
  receivableNumber: string | null
  installmentId: string | null
  targetType: string | null
  targetId: string | null
  principal: number
  interest: number
  fine: number
  discount: number
  fee: number
  withheld: WithheldTax[]
  cash: number
  reversesId: string | null
  reversedById: string | null
}

const allocationsOf = (trx: Trx, id: string) =>
  sql<AllocationShown>(
    trx,
    `select a.id, a.dated_on as "on", a.receivable_id, d.number_prefix || d.number as receivable_number, a.installment_id, a.target_type, a.target_id, a.principal,
       a.interest, a.fine, a.discount, a.fee, a.withheld, a.cash, a.reverses_id, x.id as reversed_by_id
     from receipt_allocation a left join receivable d on d.tenant_id = a.tenant_id and d.id = a.receivable_id
     left join receipt_allocation x on x.tenant_id = a.tenant_id and x.reverses_id = a.id
     where a.tenant_id = ? and a.receipt_id = ? order by a.position limit 10000`,
    [contextOf(trx).tenantId, id],
  )

const refundsOf = (trx: Trx, id: string) =>
  sql<RefundRecord>(
    trx,
    `select * from receipt_refund where tenant_id = ? and receipt_id = ? order by created_at, id limit 1000`,
    [contextOf(trx).tenantId, id],
  )

/** A receipt with its allocations, those that were undone beside the opposite ones, and its refunds. 404. */
export const readReceipt = async (trx: Trx, id: string, sight: ReceiptSight) => {
  const [row, allocations, refunds] = await Promise.all([
    readRow(trx, Receipt, id),
    allocationsOf(trx, id),
    refundsOf(trx, id),
  ])
  return { ...(await shown(trx, row, sight)), allocations, refunds }
}
