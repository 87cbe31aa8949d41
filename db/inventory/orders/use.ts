import { scaled } from '../../lib/amounts.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PosOrderLineRow, PosOrderRow } from '../../rows.ts'
import { consume } from '../consumption/consume.ts'
import type { UseHead } from '../consumption/consume.ts'
import { holdItems } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import { readRecipeFacts } from '../recipes/facts.ts'
import { explode } from '../rules/explode.ts'
import type { Used, Wanted } from '../rules/explode.ts'
import { holdStock } from '../stock/hold.ts'

const wantedOf = (lines: readonly PosOrderLineRow[]): Wanted[] =>
  lines.flatMap(({ locationId, itemId, recipeId, quantity, perUnit }): Wanted[] => {
    const amount = [BigInt(quantity) * BigInt(perUnit), 10_000n] as const
    if (itemId !== null) return [{ locationId, amount, itemId }]
    return recipeId === null ? [] : [{ locationId, amount, recipeId }]
  })

/** Parts what was used in the proportion of two amounts. */
const parted = (used: readonly Used[], part: number, total: number): { part: Used[]; rest: Used[] } => {
  const shares = used.map((one) => (part === 0 ? 0 : scaled(one.quantity, part, total)))
  const some = (quantities: readonly number[]) =>
    used.map((one, index) => ({ ...one, quantity: quantities[index] ?? 0 })).filter(({ quantity }) => quantity > 0)
  return { part: some(shares), rest: some(used.map((one, index) => one.quantity - (shares[index] ?? 0))) }
}

export type OrderUse = {
  order: PosOrderRow
  /** Of the outlet, as consumption says it. */
  kind: 'sale' | 'minibar'
  sold: readonly PosOrderLineRow[]
  wasted: readonly PosOrderLineRow[]
  /** Minor units of the total that the house bears. */
  house: number
  businessDate: string
}

/**
 * Takes what an order has used from stock by the recipes of now: what was sold, what the house has given, and what was wasted. The rows of stock are
 * locked in one statement, and nothing is refused for want of stock (R13).
 */
export const useOrder = async (
  trx: Trx,
  { order, kind, sold, wasted, house, businessDate }: OrderUse,
): Promise<void> => {
  const [wantedSold, wantedWaste] = [wantedOf(sold), wantedOf(wasted)]
  const wanted = [...wantedSold, ...wantedWaste]
  if (wanted.length === 0) return
  const recipes = await readRecipeFacts(
    trx,
    wanted.flatMap(({ recipeId }) => recipeId ?? []),
  )
  const given = parted(explode(wantedSold, recipes), house, order.total)
  const waste = explode(wantedWaste, recipes)
  const all = [...given.rest, ...given.part, ...waste]
  if (all.length === 0) return
  // One after the other, in one round trip.
  const [places, items, shelf] = await Promise.all([
    holdLocations(
      trx,
      [...new Set(all.map(({ locationId }) => locationId))].map((id) => ({ id, field: 'lines' })),
    ),
    holdItems(
      trx,
      all.map(({ itemId }) => itemId),
    ),
    holdStock(trx, all),
  ])
  const [place] = places.values()
  if (!place) throw new Error('a location was not held')
  const head = (of: UseHead['kind'], source: string): UseHead => ({
    kind: of,
    propertyId: order.propertyId,
    bookId: place.bookId,
    businessDate,
    outletId: order.outletId,
    orderId: order.id,
    reservationId: order.reservationId,
    unitId: order.unitId,
    reason: of === 'waste' ? 'other' : null,
    source: { type: source, id: order.id },
  })
  if (given.rest.length > 0) await consume(trx, head(kind, 'pos_order'), given.rest, { shelf, items })
  if (given.part.length > 0) await consume(trx, head('complimentary', 'pos_order_house'), given.part, { shelf, items })
  if (waste.length > 0) await consume(trx, head('waste', 'pos_order_waste'), waste, { shelf, items })
}
