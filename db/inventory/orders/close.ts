import { invalid, unprocessable } from '../../../config/errors.ts'
import { orderClosed } from '../../../config/events/inventory.ts'
import { businessDay } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, expression, insertRow } from '../../lib/records.ts'
import { cancelPaymentsOf, recordPayment } from '../../payment/index.ts'
import type { RecordedMethod } from '../../payment/index.ts'
import { postCharges } from '../../reservations/index.ts'
import type { PosOrderLineRow, PosOrderRow } from '../../rows.ts'
import { PosOrder, PosSettlement } from '../models.ts'
import { takeShare } from '../rules/totals.ts'
import type { Part } from '../rules/totals.ts'
import { holdStays } from './open.ts'
import { postSale, taxesOf } from './sale.ts'
import { linesOf, lockPosOrder, orderMoves, personOf, seenOrder, tellOrder } from './state.ts'
import { useOrder } from './use.ts'

/** Amounts in minor units; the one that is left out takes the rest. */
export type Settlement = { amount?: number | undefined } & (
  | { type: 'folio'; reservationId?: string | undefined; folioId?: string | undefined }
  | {
      type: 'payment'
      method: RecordedMethod
      cashSessionId?: string | undefined
      cashAccountId?: string | undefined
      reference?: string | undefined
    }
  | { type: 'house'; reason: string }
)
type Due = Settlement & { amount: number }

/** Settlements with their amounts; one that has nothing to take is left out. 400 for two that would take the rest; 422 `settlement_mismatch`. */
export const amountsOf = (due: number, settlements: readonly Settlement[]): Due[] => {
  if (settlements.filter(({ amount }) => amount === undefined).length > 1)
    throw invalid([{ field: 'settlements', message: 'at most one may leave out its amount' }])
  const rest = due - sum(settlements.map(({ amount = 0 }) => amount))
  const isOpen = settlements.some(({ amount }) => amount === undefined)
  if (rest < 0 || (rest > 0 && !isOpen))
    throw unprocessable('settlement_mismatch', `The settlements come to ${due - rest}, and ${due} is due`, [
      { field: 'settlements', message: rest > 0 ? `${rest} is missing` : `${-rest} is too much` },
    ])
  return settlements.map((one) => ({ ...one, amount: one.amount ?? rest })).filter(({ amount }) => amount > 0)
}

type Outlet = { name: string; kind: string; roomCharge: boolean }

/** The charges of an order by category: revenue groups, of a minibar its own, and the service charge. */
export const partsOf = (
  order: PosOrderRow,
  lines: readonly PosOrderLineRow[],
  outlet: Pick<Outlet, 'kind'>,
): Part[] => {
  const sums = new Map<string, number>()
  const add = (category: string, amount: number) => sums.set(category, (sums.get(category) ?? 0) + amount)
  for (const { status, amount, discountShare, revenueGroup } of lines)
    if (status === 'live') add(outlet.kind === 'minibar' ? 'minibar' : revenueGroup, amount - discountShare)
  add('service_charge', order.serviceChargeAmount)
  return [...sums].map(([category, amount]) => ({ category, amount })).filter(({ amount }) => amount > 0)
}

type Folio = Extract<Due, { type: 'folio' }>
const isFolio = (one: Settlement): one is Extract<Settlement, { type: 'folio' }> => one.type === 'folio'

/** The stay or folio of each settlement on a folio; the stay of the order where none is named. 422 `room_charge_not_allowed`, `not_in_house`. */
const judgeFolios = async (
  trx: Trx,
  order: Pick<PosOrderRow, 'propertyId' | 'outletId' | 'reservationId'>,
  settlements: readonly Settlement[],
): Promise<void> => {
  const folios = settlements.filter(isFolio)
  if (folios.length === 0) return
  const outlet = await sqlOne<Outlet>(trx, `select room_charge from outlet where id = ?`, [order.outletId])
  if (!outlet?.roomCharge)
    throw unprocessable('room_charge_not_allowed', 'The outlet charges nothing to rooms', [
      { field: 'settlements', message: 'must be paid' },
    ])
  folios.forEach(({ reservationId, folioId }) => {
    if (reservationId !== undefined && folioId !== undefined)
      throw invalid([{ field: 'settlements', message: 'name a reservation or a folio' }])
  })
  const stays = folios.flatMap(({ reservationId, folioId }) =>
    folioId === undefined ? [reservationId ?? order.reservationId] : [],
  )
  if (stays.includes(null))
    throw unprocessable('not_in_house', 'The order names no guest in the house', [
      { field: 'settlements', message: 'must name a reservation or a folio' },
    ])
  await holdStays(
    trx,
    order.propertyId,
    stays.flatMap((id) => (id === null ? [] : [{ id, field: 'settlements' }])),
  )
  const named = folios.flatMap(({ folioId }) => folioId ?? [])
  const known = await sql<{ id: string }>(trx, `select id from folio where id = any(?::uuid[]) and property_id = ?`, [
    named,
    order.propertyId,
  ])
  if (named.some((id) => !known.some((one) => one.id === id)))
    throw unprocessable('reference_not_found', 'The property does not have this folio', [
      { field: 'settlements', message: 'name a folio that the property does not have' },
    ])
}

type Charging = { order: PosOrderRow; outlet: Outlet; parts: Part[] }

/** Puts the shares of the settlements on their folios. Answers the first folio. */
const chargeFolios = async (
  trx: Trx,
  { order, outlet, parts }: Charging,
  settlements: readonly Folio[],
): Promise<string | null> => {
  let first: string | null = null
  for (const [index, { reservationId, folioId, amount }] of settlements.entries()) {
    const stay = reservationId ?? order.reservationId
    const { lineIds, folioIds } = await postCharges(trx, {
      to: folioId === undefined ? { reservationId: stay ?? '' } : { folioId },
      source: { type: 'pos_order', id: order.id },
      part: String(index),
      lines: takeShare(parts, amount).map(({ category, amount: share }) => ({
        category: category as 'food',
        description: `${outlet.name} ${order.number}${category === 'service_charge' ? ', service charge' : ''}`.slice(
          0,
          200,
        ),
        amount: share,
      })),
    })
    await insertRow(trx, PosSettlement, { orderId: order.id, type: 'folio', folioLineIds: lineIds, amount })
    first ??= folioIds[0] ?? null
  }
  return first
}

const takePayments = async (trx: Trx, order: PosOrderRow, settlements: readonly Due[]): Promise<void> => {
  for (const one of settlements) {
    if (one.type !== 'payment') continue
    // The order takes it as its own target: the row of the settlement is written there.
    await recordPayment(trx, {
      propertyId: order.propertyId,
      method: one.method,
      amount: one.amount,
      currency: order.currency,
      targetType: 'pos_order',
      targetId: order.id,
      cashSessionId: one.cashSessionId,
      cashAccountId: one.cashAccountId,
      reference: one.reference,
    })
  }
}

/**
 * Closes an order (R20, R22): charges, payments, use of stock and postings commit together, or none does. One that is closed stays as it is. 404; 409
 * `invalid_transition`, `version_conflict`, `folio_busy`, `cash_busy`, `stock_busy`; 422 `settlement_mismatch`, `room_charge_not_allowed`, `not_in_house`, and
 * what folios and payments refuse.
 */
export const closeOrder = async (
  trx: Trx,
  id: string,
  settlements: readonly Settlement[],
  expected: number | null = null,
): Promise<void> => {
  const seen = await seenOrder(trx, id)
  const businessDate = await businessDay(trx, seen.propertyId)
  if (seen.status === 'open') await judgeFolios(trx, seen, settlements)
  const order = await lockPosOrder(trx, id, expected)
  if (!orderMoves.isDue('closed', order.status)) return
  const [outlet, lines] = await Promise.all([
    sqlOne<Outlet>(trx, `select name, kind, room_charge from outlet where id = ?`, [order.outletId]),
    linesOf(trx, id),
  ])
  if (!outlet) throw new Error('the outlet is gone')
  const due = amountsOf(order.total - order.paidAmount, settlements)
  const house = sum(due.filter(({ type }) => type === 'house').map(({ amount }) => amount))
  const all = partsOf(order, lines, outlet)
  const sale = takeShare(
    all.map((part) => ({ ...part })),
    order.total - house,
  )
  const folioId = await chargeFolios(
    trx,
    { order, outlet, parts: sale.map((part) => ({ ...part })) },
    due.filter(isFolio) as Folio[],
  )
  await cancelPaymentsOf(trx, 'pos_order', id)
  await takePayments(trx, order, due)
  for (const one of due)
    if (one.type === 'house')
      await insertRow(trx, PosSettlement, { orderId: id, type: 'house', reason: one.reason, amount: one.amount })
  const version = await changeRow(trx, PosOrder, id, {
    status: 'closed',
    businessDate,
    closedBy: await personOf(trx),
    closedAt: expression('now()'),
  })
  // Read before the stock is locked, which other closes wait for.
  const taxes = await taxesOf(trx, order, sale, businessDate)
  await useOrder(trx, {
    order,
    kind: outlet.kind === 'minibar' ? 'minibar' : 'sale',
    sold: lines.filter(({ status }) => status === 'live'),
    wasted: lines.filter(({ wasted }) => wasted),
    house,
    businessDate,
  })
  await postSale(trx, order, sale, taxes)
  await tellOrder(trx, orderClosed, order, { version, folioId })
}
