import { notFound, versionConflict } from '../../../config/errors.ts'
import { purchaseOrderClosed } from '../../../config/events/accounts-payable.ts'
import type { Event } from '../../../config/events/event.ts'
import type { OrderStatus } from '../../../config/payables.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import type { OrderRecord } from '../models.ts'

export const orderMoves = lifecycle<OrderStatus>('A purchase order')({
  changed: { from: ['draft', 'approved', 'partly_received', 'received'] },
  approved: { from: ['draft'], to: 'approved' },
  cancelled: { from: ['draft', 'approved'], to: 'cancelled' },
  closed: { from: ['approved', 'partly_received', 'received'], to: 'closed' },
})

export const lockOrder = async (trx: Trx, id: string, expected: number | null = null): Promise<OrderRecord> => {
  const row = await sqlOne<OrderRecord>(
    trx,
    `select * from purchase_order where tenant_id = ? and id = ? for no key update`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

export const tellOrder = (
  trx: Trx,
  event: Event,
  { id, propertyId, number, supplierId, total, currency }: OrderRecord,
  version: number,
) =>
  emit(trx, event, {
    propertyId,
    id,
    version,
    data: { purchaseOrderId: id, number, supplierId, total, currency },
  })

/**
 * Sets the state of orders by what was received and billed of them. One that is billed in full is closed; one that a person has closed stays so. The caller
 * holds the orders.
 */
export const refreshOrders = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  const rows = await sql<OrderRecord & { before: OrderStatus }>(
    trx,
    `with s as (
       select o.id, o.status as before, case
         when bool_and(l.received >= l.quantity and l.billed >= l.quantity) then 'closed'
         when bool_and(l.received >= l.quantity) then 'received'
         when bool_or(l.received > 0) then 'partly_received' else 'approved' end as status
       from purchase_order o join purchase_order_line l on l.tenant_id = o.tenant_id and l.purchase_order_id = o.id
       where o.tenant_id = :tenantId and o.id = any(cast(:ids as uuid[])) and o.status not in ('draft', 'cancelled') and o.close_reason is null
       group by o.id, o.status)
     update purchase_order o set status = s.status, version = o.version + 1 from s
     where o.tenant_id = :tenantId and o.id = s.id and s.status <> s.before returning o.*, s.before`,
    { tenantId: contextOf(trx).tenantId, ids },
  )
  for (const row of rows) if (row.status === 'closed') await tellOrder(trx, purchaseOrderClosed, row, row.version)
}
