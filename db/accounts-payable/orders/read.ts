import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging, Part } from '../../lib/paging.ts'
import { readRow } from '../../lib/records.ts'
import { byIds, idsLike, isNumber, partly } from '../../lib/words.ts'
import { PurchaseOrder } from '../models.ts'
import type { OrderRecord } from '../models.ts'

export type OrderLineShown = {
  id: string
  lineNo: number
  inventoryItemId: string | null
  measure: string | null
  description: string
  accountId: string | null
  quantity: string
  unitPrice: number
  amount: number
  received: string
  billed: string
}

/** An order with received and billed quantities, in the measure of each line. 404. */
export const readOrder = async (trx: Trx, id: string) => {
  const inMeasure = (column: string) =>
    `cast(trim_scale(round(${column} * denominator / numerator, 4)) as text) as ${column}`
  const [order, lines] = await Promise.all([
    readRow(trx, PurchaseOrder, id),
    sql<OrderLineShown>(
      trx,
      `select id, line_no, inventory_item_id, measure, description, account_id, cast(trim_scale(entered) as text) as quantity, unit_price, amount,
         ${inMeasure('received')}, ${inMeasure('billed')} from purchase_order_line where tenant_id = ? and purchase_order_id = ? order by line_no`,
      [contextOf(trx).tenantId, id],
    ),
  ])
  return { ...order, lines }
}

export type OrderFilter = Paging & {
  status?: string | undefined
  supplierId?: string | undefined
  propertyId?: string | undefined
  inventoryItemId?: string | undefined
  expectedFrom?: string | undefined
  expectedTo?: string | undefined
  q?: string | undefined
  scope: Condition
}

/** Orders with a number, with words in their notes, or of suppliers with words in their names. */
const withWords = async (trx: Trx, q: string): Promise<Part> => {
  const number = isNumber(q) ? Number(q) : null
  const [own, suppliers] = [
    await idsLike(trx, 'purchase_order', partly(q)),
    await idsLike(trx, 'supplier', partly(q.toLowerCase())),
  ]
  const words = byIds(
    { 'o.id': own, 'o.supplier_id': suppliers },
    {
      text: `(strpos(lower(o.notes), lower(?)) > 0 or exists (select from supplier s where s.tenant_id = o.tenant_id
        and s.id = o.supplier_id and strpos(s.search, lower(?)) > 0))`,
      values: [q, q],
    },
  )
  return number === null ? words : { text: `(o.number = ? or ${words.text})`, values: [number, ...words.values] }
}

/** A page of orders without lines, the latest first; `q` finds numbers, notes and suppliers. */
export const listOrders = async (trx: Trx, filter: OrderFilter) =>
  readPage<OrderRecord>(
    trx,
    {
      columns: 'o.*',
      from: 'purchase_order o',
      conditions: [
        { text: 'o.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...inScope(filter.scope, { propertyId: 'o.property_id' }),
        ...where('o.status = ?', filter.status),
        ...where('o.supplier_id = ?', filter.supplierId),
        ...where('o.property_id = ?', filter.propertyId),
        ...where(
          `exists (select from purchase_order_line l where l.tenant_id = o.tenant_id and l.purchase_order_id = o.id and l.inventory_item_id = ?)`,
          filter.inventoryItemId,
        ),
        ...(filter.q === undefined ? [] : [await withWords(trx, filter.q)]),
      ],
      days: onDays('o.expected_on', { from: filter.expectedFrom, to: filter.expectedTo }),
      order: 'o.created_at desc, o.id',
    },
    filter,
  )
