import { invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import type { orderClosed } from '../../../config/events/inventory.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, prepared, preparedOne, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { changeRow } from '../../lib/records.ts'
import type { PosOrderLineRow, PosOrderRow } from '../../rows.ts'
import { PosOrder } from '../models.ts'
import { totalsOf } from '../rules/totals.ts'

export const orderMoves = lifecycle<PosOrderRow['status']>('An order')({
  changed: { from: ['open'] },
  closed: { from: ['open'], to: 'closed' },
  cancelled: { from: ['open'], to: 'cancelled' },
  voided: { from: ['closed'], to: 'voided' },
})

/** The person who opens or ends an order; null where the service does. */
export const personOf = async (trx: Trx): Promise<string | null> =>
  contextOf(trx).actor.id === null ? null : authorOf(trx)

/** The facts that a command needs of an order and its outlet before it can lock anything. */
export type SeenOrder = Pick<PosOrderRow, 'propertyId' | 'outletId' | 'reservationId' | 'status'> & {
  outletName: string
  outletKind: string
  roomCharge: boolean
}

/** An order as it stands before it is locked. 404. */
export const seenOrder = async (trx: Trx, id: string): Promise<SeenOrder> => {
  const row = await preparedOne<SeenOrder>(
    trx,
    `select o.property_id, o.outlet_id, o.reservation_id, o.status, t.name as outlet_name, t.kind as outlet_kind, t.room_charge
     from pos_order o join outlet t on t.tenant_id = o.tenant_id and t.id = o.outlet_id where o.id = ?`,
    [id],
  )
  if (!row) throw notFound()
  return row
}

/** Locks an order, after the business day and the stay. 404; 409 `version_conflict`. */
export const lockPosOrder = async (trx: Trx, id: string, expected: number | null = null): Promise<PosOrderRow> => {
  const row = await preparedOne<PosOrderRow>(trx, `select * from pos_order where id = ? for no key update`, [id])
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

export const linesOf = (trx: Trx, orderId: string) =>
  prepared<PosOrderLineRow>(trx, `select * from pos_order_line where order_id = ? order by position`, [orderId])

type OrderEvent = typeof orderClosed

export const tellOrder = (
  trx: Trx,
  event: OrderEvent,
  order: Pick<PosOrderRow, 'id' | 'propertyId' | 'number' | 'outletId' | 'total' | 'currency' | 'reservationId'>,
  { version, folioId = null }: { version: number; folioId?: string | null },
) =>
  emit(trx, event, {
    propertyId: order.propertyId,
    id: order.id,
    version,
    data: {
      posOrderId: order.id,
      number: order.number,
      outletId: order.outletId,
      total: order.total,
      currency: order.currency,
      folioId,
      reservationId: order.reservationId,
    },
  })

type Terms = Pick<PosOrderRow, 'discount' | 'serviceCharge' | 'serviceChargeRate'>

/** Totals of an order by its live lines. 400 for a discount above them; 422 `rule_violated` for totals beyond what a ledger line takes. */
export const judgedTotals = (lines: readonly Pick<PosOrderLineRow, 'amount' | 'status'>[], terms: Terms) => {
  const live = lines.filter(({ status }) => status === 'live')
  const totals = totalsOf(
    live.map(({ amount }) => amount),
    terms,
  )
  if (terms.discount > totals.subtotal)
    throw invalid([{ field: 'discount', message: `must be at most ${totals.subtotal}, the sum of the lines` }])
  if (totals.total > 1_000_000_000_000)
    throw unprocessable('rule_violated', 'An order comes to at most 10,000,000,000.00')
  return totals
}

/** Computes the totals of a locked order anew, with the shares of the discount. Answers its version. */
export const refreshTotals = async (
  trx: Trx,
  order: PosOrderRow,
  change: Partial<Pick<PosOrderRow, 'table' | 'covers' | 'note' | 'discount' | 'discountReason' | 'serviceCharge'>>,
): Promise<number> => {
  const lines = await linesOf(trx, order.id)
  const { discountShares, ...totals } = judgedTotals(lines, { ...order, ...change })
  if (totals.total < order.paidAmount)
    throw unprocessable('rule_violated', 'More has been paid than the order would come to', [
      { field: 'total', message: `must be at least ${order.paidAmount}` },
    ])
  const live = lines.filter(({ status }) => status === 'live')
  await sql(
    trx,
    `update pos_order_line l set discount_share = s.share from jsonb_to_recordset(?::jsonb) as s (id uuid, share bigint)
     where l.id = s.id and l.discount_share <> s.share`,
    [
      JSON.stringify([
        ...live.map(({ id }, index) => ({ id, share: discountShares[index] ?? 0 })),
        ...lines.filter(({ status }) => status === 'voided').map(({ id }) => ({ id, share: 0 })),
      ]),
    ],
  )
  return changeRow(trx, PosOrder, order.id, { ...change, ...totals })
}
