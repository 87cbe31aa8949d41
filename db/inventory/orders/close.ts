import { invalid, unprocessable } from '../../../config/errors.ts'
import { orderClosed } from '../../../config/events/inventory.ts'
import { businessDay, raisePostings } from '../../financial/index.ts'
import type { DayPosting } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { rowsPart, writeTogether } from '../../lib/records.ts'
import { cancelPaymentsOf, placeOfMoney, recordPayment } from '../../payment/index.ts'
import type { Place, RecordedMethod, RecordedPayment } from '../../payment/index.ts'
import { postCharges } from '../../reservations/index.ts'
import type { PosOrderLineRow, PosOrderRow } from '../../rows.ts'
import { PosSettlement } from '../models.ts'
import { takeShare } from '../rules/totals.ts'
import type { Part } from '../rules/totals.ts'
import { holdStays } from './open.ts'
import { postingsOfSale, taxesOf } from './sale.ts'
import { linesOf, lockPosOrder, orderMoves, personOf, seenOrder, tellOrder } from './state.ts'
import type { SeenOrder } from './state.ts'
import { payableOf } from './target.ts'
import { planOrderUse, recipesOf } from './use.ts'

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

/** The charges of an order by category: revenue groups, of a minibar its own, and the service charge. */
export const partsOf = (order: PosOrderRow, lines: readonly PosOrderLineRow[], outlet: { kind: string }): Part[] => {
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
const judgeFolios = async (trx: Trx, order: SeenOrder, settlements: readonly Settlement[]): Promise<void> => {
  const folios = settlements.filter(isFolio)
  if (folios.length === 0) return
  if (!order.roomCharge)
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

type Charging = { order: PosOrderRow; outletName: string; parts: Part[] }
/** A settlement that is done, as its row says it. */
type Settled = {
  type: Settlement['type']
  amount: number
  folioLineIds?: string[]
  paymentId?: string
  reason?: string
}

/** Puts the shares of the settlements on their folios. Answers the first folio. */
const chargeFolios = async (
  trx: Trx,
  { order, outletName, parts }: Charging,
  settlements: readonly Folio[],
): Promise<{ folioId: string | null; settled: Settled[] }> => {
  let first: string | null = null
  const settled: Settled[] = []
  for (const [index, { reservationId, folioId, amount }] of settlements.entries()) {
    const stay = reservationId ?? order.reservationId
    const { lineIds, folioIds } = await postCharges(trx, {
      to: folioId === undefined ? { reservationId: stay ?? '' } : { folioId },
      source: { type: 'pos_order', id: order.id },
      part: String(index),
      lines: takeShare(parts, amount).map(({ category, amount: share }) => ({
        category: category as 'food',
        description: `${outletName} ${order.number}${category === 'service_charge' ? ', service charge' : ''}`.slice(
          0,
          200,
        ),
        amount: share,
      })),
    })
    settled.push({ type: 'folio', folioLineIds: lineIds, amount })
    first ??= folioIds[0] ?? null
  }
  return { folioId: first, settled }
}

type Paid = Extract<Due, { type: 'payment' }>
type Taking = { given: RecordedPayment; place: Place }

/** Settlements that are paid, each with the place of its money. 422 as of `placeOfMoney`. */
const placesOf = (trx: Trx, order: PosOrderRow, settlements: readonly Due[]): Promise<Taking[]> =>
  Promise.all(
    settlements
      .filter((one): one is Paid => one.type === 'payment')
      .map(async (one) => {
        const given = {
          propertyId: order.propertyId,
          method: one.method,
          amount: one.amount,
          currency: order.currency,
          targetType: 'pos_order' as const,
          targetId: order.id,
          cashSessionId: one.cashSessionId,
          cashAccountId: one.cashAccountId,
          reference: one.reference,
        }
        return { given, place: await placeOfMoney(trx, given) }
      }),
  )

/** Records payments, each for the order as its own target. Answers their postings. */
const takePayments = async (
  trx: Trx,
  order: PosOrderRow,
  { taking, businessDate }: { taking: readonly Taking[]; businessDate: string },
): Promise<{ postings: DayPosting[]; settled: Settled[] }> => {
  const postings: DayPosting[] = []
  const settled: Settled[] = []
  let { paidAmount } = order
  for (const { given, place } of taking) {
    const target = payableOf({ ...order, paidAmount })
    const paymentId = await recordPayment(trx, given, { businessDate, target, place, postings })
    settled.push({ type: 'payment', paymentId, amount: given.amount })
    paidAmount += given.amount
  }
  return { postings, settled }
}

/** Closes a locked order, with the rows of its settlements in the same statement. Answers its version. */
const settle = async (
  trx: Trx,
  order: PosOrderRow,
  settled: readonly Settled[],
  { businessDate, closedBy }: { businessDate: string; closedBy: string | null },
): Promise<number> => {
  const paid = sum(settled.filter(({ type }) => type === 'payment').map(({ amount }) => amount))
  await writeTogether(trx, [
    rowsPart(
      PosSettlement,
      settled.map(({ type, amount, folioLineIds = [], paymentId = null, reason = null }) => ({
        orderId: order.id,
        type,
        amount,
        folioLineIds,
        paymentId,
        reason,
      })),
    ),
    {
      text: `update pos_order set status = 'closed', business_date = ?, closed_by = ?, closed_at = now(), paid_amount = paid_amount + ?, version = version + 1
       where id = ?`,
      values: [businessDate, closedBy, paid, order.id],
    },
  ])
  return order.version + 1
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
  // The lines are read in the round trip of the lock, and after it.
  const [order, lines] = await Promise.all([lockPosOrder(trx, id, expected), linesOf(trx, id)])
  if (!orderMoves.isDue('closed', order.status)) return
  const due = amountsOf(order.total - order.paidAmount, settlements)
  const house = sum(due.filter(({ type }) => type === 'house').map(({ amount }) => amount))
  const all = partsOf(order, lines, { kind: seen.outletKind })
  const sale = takeShare(
    all.map((part) => ({ ...part })),
    order.total - house,
  )
  const { folioId, settled } = await chargeFolios(
    trx,
    { order, outletName: seen.outletName, parts: sale.map((part) => ({ ...part })) },
    due.filter(isFolio) as Folio[],
  )
  const [sold, wasted] = [lines.filter(({ status }) => status === 'live'), lines.filter((line) => line.wasted)]
  // All that is read is read before the stock is locked, which other closes wait for.
  const [, taking, taxes, recipes, closedBy] = await Promise.all([
    cancelPaymentsOf(trx, 'pos_order', id),
    placesOf(trx, order, due),
    taxesOf(trx, order, sale, businessDate),
    recipesOf(trx, [...sold, ...wasted]),
    personOf(trx),
  ])
  const paid = await takePayments(trx, order, { taking, businessDate })
  const given = due.flatMap((one): Settled[] =>
    one.type === 'house' ? [{ type: 'house', reason: one.reason, amount: one.amount }] : [],
  )
  const kind = seen.outletKind === 'minibar' ? 'minibar' : 'sale'
  const [version, use] = await Promise.all([
    settle(trx, order, [...settled, ...paid.settled, ...given], { businessDate, closedBy }),
    planOrderUse(trx, { order, kind, sold, wasted, house, businessDate }, recipes),
  ])
  // One round trip, and the commit: no close of the same stock waits for more.
  await Promise.all([
    tellOrder(trx, orderClosed, order, { version, folioId }),
    use.write(),
    raisePostings(trx, order.propertyId, [...paid.postings, ...use.postings, ...postingsOfSale(order, sale, taxes)]),
  ])
}
