import { notFound, unprocessable } from '../../../config/errors.ts'
import { businessDay } from '../../financial/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { outletOf } from '../outlets/outlets.ts'
import { addLines, priceLines } from './lines.ts'
import type { NewOrderLine } from './lines.ts'
import { linesOf, lockPosOrder, orderMoves, refreshTotals, seenOrder } from './state.ts'

export type OrderChange = {
  addLines?: NewOrderLine[] | undefined
  voidLines?: { lineId: string; reason: string; wasted?: boolean | undefined }[] | undefined
  table?: string | undefined
  covers?: number | undefined
  discount?: number | undefined
  discountReason?: string | undefined
  serviceCharge?: boolean | undefined
  note?: string | undefined
}

/** Voids lines of a locked order; one that is voided already stays as it is. 422 `reference_not_found`. */
const voidLines = async (trx: Trx, orderId: string, given: NonNullable<OrderChange['voidLines']>): Promise<void> => {
  const known = await linesOf(trx, orderId)
  const missing = given.flatMap(({ lineId }, index) =>
    known.some(({ id }) => id === lineId)
      ? []
      : [{ field: `voidLines.${index}.lineId`, message: 'is no line of the order' }],
  )
  if (missing.length > 0) throw unprocessable('reference_not_found', 'The order does not have this line', missing)
  await sql(
    trx,
    `update pos_order_line l set status = 'voided', void_reason = v.reason, wasted = v.wasted, discount_share = 0
     from jsonb_to_recordset(?::jsonb) as v ("lineId" uuid, reason text, wasted boolean) where l.id = v."lineId" and l.status = 'live'`,
    [JSON.stringify(given.map(({ wasted = false, ...one }) => ({ ...one, wasted })))],
  )
}

/**
 * Adds or voids lines of an open order, and changes its terms. 404; 409 `invalid_transition`, `version_conflict`; 422 `price_unknown`, `reference_not_found`,
 * `too_many`, `rule_violated` where less would be owed than was paid.
 */
export const changeOrder = async (
  trx: Trx,
  id: string,
  { addLines: added = [], voidLines: voided = [], ...change }: OrderChange,
  expected: number | null = null,
): Promise<void> => {
  const seen = await seenOrder(trx, id)
  await businessDay(trx, seen.propertyId)
  const order = await lockPosOrder(trx, id, expected)
  orderMoves.allow('changed', order.status)
  if (voided.length > 0) await voidLines(trx, id, voided)
  if (added.length > 0) {
    const outlet = await outletOf(trx, order.outletId)
    const standing = await linesOf(trx, id)
    await addLines(trx, id, await priceLines(trx, outlet, added), standing.length)
  }
  const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  if (added.length === 0 && voided.length === 0 && Object.keys(fields).length === 0) return
  await refreshTotals(trx, order, fields)
}

/** The outlet and the discount of an order, by which a role is judged before it changes one. 404. */
export const orderTerms = async (trx: Trx, id: string) => {
  const [row] = await sql<{ propertyId: string; outletKind: string; discount: number }>(
    trx,
    `select o.property_id, t.kind as outlet_kind, o.discount from pos_order o join outlet t on t.tenant_id = o.tenant_id and t.id = o.outlet_id where o.id = ?`,
    [id],
  )
  if (!row) throw notFound()
  return row
}
