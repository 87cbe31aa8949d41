import { unprocessable } from '../../../config/errors.ts'
import { purchaseOrderReceived } from '../../../config/events/accounts-payable.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { readRow } from '../../lib/records.ts'
import { PurchaseOrder } from '../models.ts'
import type { OrderRecord } from '../models.ts'
import { lockOrder, refreshOrders, tellOrder } from './state.ts'

/** Goods that came of an order line, in the base of the item, with their value in minor units. */
export type Receipt = { orderLineId: string; movementLineId: string; quantity: string; value: number }

/**
 * Receives stock of one order (R21), whose row it locks. For the module of the stock, with the lines of its movement. 422 `reference_not_found`, `order_closed`,
 * `over_receipt`.
 */
export const receiveOrderLines = async (trx: Trx, orderId: string, receipts: readonly Receipt[]): Promise<void> => {
  const order = await lockOrder(trx, orderId)
  if (!['approved', 'partly_received', 'received'].includes(order.status))
    throw unprocessable('order_closed', 'Nothing more is expected of the order')
  const { tenantId } = contextOf(trx)
  const rows = JSON.stringify(
    receipts.map(({ orderLineId, movementLineId, quantity, value }) => ({
      line: orderLineId,
      movement: movementLineId,
      quantity,
      value,
    })),
  )
  const recordset = `jsonb_to_recordset(cast(:rows as jsonb)) as g (line uuid, movement uuid, quantity numeric, value bigint)`
  const lines = await sql<{ id: string; isOver: boolean }>(
    trx,
    `select l.id, l.received + sum(g.quantity) > 1.10 * l.quantity as is_over from ${recordset}
     join purchase_order_line l on l.tenant_id = :tenantId and l.id = g.line and l.purchase_order_id = :orderId and l.inventory_item_id is not null group by l.tenant_id, l.id`,
    { tenantId, orderId, rows },
  )
  const wrong = (isWrong: (id: string) => boolean, message: string) =>
    receipts.flatMap(({ orderLineId }, index) =>
      isWrong(orderLineId) ? [{ field: `lines.${index}.purchaseOrderLineId`, message }] : [],
    )
  const unknown = wrong((id) => !lines.some((line) => line.id === id), 'is no line of stock of the order')
  if (unknown.length > 0) throw unprocessable('reference_not_found', 'The order has no such line', unknown)
  const over = wrong(
    (id) => lines.some((line) => line.id === id && line.isOver),
    'more than 110 % of it would be received',
  )
  if (over.length > 0) throw unprocessable('over_receipt', 'More would be received than the order allows', over)
  await sql(
    trx,
    `update purchase_order_line l set received = l.received + s.quantity from (select g.line, sum(g.quantity) as quantity from ${recordset} group by 1) s
     where l.tenant_id = :tenantId and l.id = s.line`,
    { tenantId, rows },
  )
  await sql(
    trx,
    `insert into purchase_receipt (purchase_order_line_id, movement_line_id, quantity, value) select g.line, g.movement, g.quantity, g.value from ${recordset}`,
    { rows },
  )
  await refreshOrders(trx, [orderId])
  const after = await readRow(trx, PurchaseOrder, orderId)
  await tellOrder(trx, purchaseOrderReceived, after, after.version)
}

/** Takes receipts back by the lines of their movement, not below what is billed: 422 `in_use`. Locks the orders. */
export const takeBackReceipts = async (trx: Trx, movementLineIds: readonly string[]): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const orders = await sql<Pick<OrderRecord, 'id'>>(
    trx,
    `select o.id from purchase_order o where o.tenant_id = :tenantId and o.id in (select l.purchase_order_id from purchase_receipt r
       join purchase_order_line l on l.tenant_id = r.tenant_id and l.id = r.purchase_order_line_id
       where r.tenant_id = :tenantId and r.movement_line_id = any(cast(:ids as uuid[]))) order by o.id for no key update`,
    { tenantId, ids: movementLineIds },
  )
  const gone = await sql<{ line: string; quantity: string; billed: string }>(
    trx,
    `delete from purchase_receipt where tenant_id = ? and movement_line_id = any(?::uuid[]) returning purchase_order_line_id as line, cast(quantity as text) as quantity,
       cast(billed as text) as billed`,
    [tenantId, movementLineIds],
  )
  if (gone.some(({ billed }) => Number(billed) > 0))
    throw unprocessable('in_use', 'What was received is billed; void the bill first')
  await sql(
    trx,
    `update purchase_order_line l set received = l.received - s.quantity
     from (select line, sum(quantity) as quantity from jsonb_to_recordset(cast(? as jsonb)) as g (line uuid, quantity numeric) group by 1) s
     where l.tenant_id = ? and l.id = s.line`,
    [JSON.stringify(gone), tenantId],
  )
  await refreshOrders(
    trx,
    orders.map(({ id }) => id),
  )
}

/** Quantities of items still expected, in their base, from open orders of a property. */
export const openOrderQuantities = (
  trx: Trx,
  propertyId: string,
): Promise<{ inventoryItemId: string; quantity: string }[]> =>
  sql(
    trx,
    `select l.inventory_item_id, cast(sum(greatest(l.quantity - l.received, 0)) as text) as quantity from purchase_order_line l
     join purchase_order o on o.tenant_id = l.tenant_id and o.id = l.purchase_order_id
     where o.tenant_id = ? and o.property_id = ? and o.status in ('approved', 'partly_received') and l.inventory_item_id is not null
     group by 1 having sum(greatest(l.quantity - l.received, 0)) > 0 order by 1`,
    [contextOf(trx).tenantId, propertyId],
  )
