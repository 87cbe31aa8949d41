import { unprocessable } from '../../../config/errors.ts'
import { orderCancelled, orderVoided } from '../../../config/events/inventory.ts'
import { businessDay } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { cancelPaymentById, cancelPaymentsOf, takeOffTarget } from '../../payment/index.ts'
import { reverseCharges } from '../../reservations/index.ts'
import type { InventoryMovementRow, PosOrderRow } from '../../rows.ts'
import { consume } from '../consumption/consume.ts'
import { lockConsumptionOf } from '../consumption/reverse.ts'
import { holdItems } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import { PosOrder } from '../models.ts'
import { takeBack } from '../movements/reverse.ts'
import type { Used } from '../rules/explode.ts'
import { holdStock } from '../stock/hold.ts'
import { postSaleBack } from './sale.ts'
import { linesOf, lockPosOrder, orderMoves, personOf, seenOrder, tellOrder } from './state.ts'
import { useOrder } from './use.ts'

type Cancelling = { reason: string; wasted?: boolean | undefined; expectedVersion?: number | null }

/**
 * Cancels an open order that nothing was paid of, or voids a closed one on its business date (R23). One that is cancelled or voided stays as it is. 404; 409
 * `invalid_transition`, `version_conflict`; 422 `in_use`, `not_same_business_date`.
 */
export const cancelOrder = async (
  trx: Trx,
  id: string,
  { reason, wasted = false, expectedVersion = null }: Cancelling,
): Promise<void> => {
  const seen = await seenOrder(trx, id)
  const today = await businessDay(trx, seen.propertyId)
  const order = await lockPosOrder(trx, id, expectedVersion)
  if (order.status === 'cancelled' || order.status === 'voided') return
  if (order.status === 'open') await cancelOpen(trx, order, { reason, wasted, today })
  else await voidClosed(trx, order, { reason, wasted, today })
}

type Moment = { reason: string; wasted: boolean; today: string }

const cancelOpen = async (trx: Trx, order: PosOrderRow, { reason, wasted, today }: Moment): Promise<void> => {
  orderMoves.allow('cancelled', order.status)
  if (order.paidAmount > 0)
    throw unprocessable('in_use', 'Something was paid for the order; take the payment back first', [
      { field: 'paidAmount', message: String(order.paidAmount) },
    ])
  await cancelPaymentsOf(trx, 'pos_order', order.id)
  const lines = await linesOf(trx, order.id)
  const version = await changeRow(trx, PosOrder, order.id, {
    status: 'cancelled',
    cancelReason: reason,
    closedBy: await personOf(trx),
    closedAt: expression('now()'),
  })
  await useOrder(trx, {
    order,
    kind: 'sale',
    sold: [],
    wasted: lines.filter((line) => line.wasted || (wasted && line.status === 'live')),
    house: 0,
    businessDate: today,
  })
  await tellOrder(trx, orderCancelled, order, { version })
}

type Paid = { paymentId: string; isTurned: boolean }

/** Payments of an order: recorded ones of an open session of this day are turned, others only taken off the order. */
const paymentsOf = (trx: Trx, orderId: string, today: string) =>
  sql<Paid>(
    trx,
    `select p.id as payment_id, p.origin = 'recorded' and p.status = 'captured' and p.refund_reserved = 0 and p.business_date = ? and s.status = 'open' as is_turned
     from pos_settlement x join payment p on p.tenant_id = x.tenant_id and p.id = x.payment_id
     left join cash_session s on s.tenant_id = p.tenant_id and s.id = p.cash_session_id
     where x.order_id = ? and x.type = 'payment' order by p.id`,
    [today, orderId],
  )

const voidClosed = async (trx: Trx, order: PosOrderRow, moment: Moment): Promise<void> => {
  orderMoves.allow('voided', order.status)
  const { reason, wasted, today } = moment
  if (order.businessDate !== today)
    throw unprocessable('not_same_business_date', `The order was closed on ${order.businessDate}; it is ${today} now`, [
      { field: 'businessDate', message: `must be ${today}` },
    ])
  const settled = await sql<{ amount: number }>(
    trx,
    `select amount from pos_settlement where order_id = ? and type = 'folio'`,
    [order.id],
  )
  const { amount } = await reverseCharges(trx, { type: 'pos_order', id: order.id })
  // What was given up on the folio is an allowance in the ledger: it goes back there first.
  if (amount !== sum(settled.map((one) => one.amount)))
    throw unprocessable('in_use', 'A charge of the order was adjusted on its folio', [
      { field: 'settlements', message: 'were adjusted on the folio' },
    ])
  const version = await changeRow(trx, PosOrder, order.id, { status: 'voided', cancelReason: reason })
  for (const { paymentId, isTurned } of await paymentsOf(trx, order.id, today)) {
    if (isTurned) await cancelPaymentById(trx, paymentId, reason)
    else await takeOffTarget(trx, paymentId, { targetType: 'pos_order', targetId: order.id })
  }
  await stockBack(trx, order, moment)
  await postSaleBack(trx, order)
  const folio = await sqlOne<{ folioId: string }>(
    trx,
    `select l.folio_id from folio_line l where l.source_type = 'pos_order' and l.source_id = ? order by l.seq limit 1`,
    [order.id],
  )
  await tellOrder(trx, orderVoided, order, { version, folioId: folio?.folioId ?? null })
  if (wasted) await wasteOf(trx, order, today)
}

/** Returns sold and given goods at their value; wasted goods stay wasted. */
const stockBack = async (trx: Trx, order: PosOrderRow, { reason, today }: Moment): Promise<void> => {
  const movements = await sql<InventoryMovementRow>(
    trx,
    `select m.* from inventory_movement m where m.status = 'posted' and m.id in (
       select c.movement_id from inventory_consumption c where c.order_id = ? and c.kind <> 'waste' and c.status = 'posted') order by m.id for no key update`,
    [order.id],
  )
  for (const movement of movements)
    await takeBack(trx, movement, { today, reason, consumption: await lockConsumptionOf(trx, movement.id) })
}

/** Turns what has just come back into waste. */
const wasteOf = async (trx: Trx, order: PosOrderRow, today: string): Promise<void> => {
  const used = await sql<Used>(
    trx,
    `select l.item_id, l.location_id, sum(l.quantity)::bigint as quantity, null::uuid as recipe_version_id, 'lines' as field
     from inventory_consumption_line l join inventory_consumption c on c.tenant_id = l.tenant_id and c.id = l.consumption_id
     where c.order_id = ? and c.kind <> 'waste' group by 1, 2 order by 2, 1`,
    [order.id],
  )
  if (used.length === 0) return
  const places = await holdLocations(
    trx,
    [...new Set(used.map(({ locationId }) => locationId))].map((id) => ({ id, field: 'lines' })),
  )
  const items = await holdItems(
    trx,
    used.map(({ itemId }) => itemId),
  )
  const shelf = await holdStock(trx, used)
  const [place] = places.values()
  if (!place) throw new Error('a location was not held')
  await consume(
    trx,
    {
      kind: 'waste',
      reason: 'returned',
      propertyId: order.propertyId,
      bookId: place.bookId,
      businessDate: today,
      outletId: order.outletId,
      orderId: order.id,
      reservationId: order.reservationId,
      unitId: order.unitId,
      source: { type: 'pos_order_returned', id: order.id },
    },
    used,
    { shelf, items },
  )
}
