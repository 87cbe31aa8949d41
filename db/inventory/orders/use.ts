import { scaled } from '../../lib/amounts.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PosOrderLineRow, PosOrderRow } from '../../rows.ts'
import { raisePostings } from '../../financial/index.ts'
import { planUse } from '../consumption/consume.ts'
import type { PlannedUse, UseHead } from '../consumption/consume.ts'
import { readRecipeFacts } from '../recipes/facts.ts'
import { explode } from '../rules/explode.ts'
import type { RecipeFacts, Used, Wanted } from '../rules/explode.ts'
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

export type Recipes = ReadonlyMap<string, RecipeFacts>

/** Recipes of the lines of an order by their versions of now. */
export const recipesOf = (trx: Trx, lines: readonly PosOrderLineRow[]): Promise<Recipes> =>
  readRecipeFacts(
    trx,
    lines.flatMap(({ itemId, recipeId }) => (itemId === null && recipeId !== null ? [recipeId] : [])),
  )

/** Rows and postings of what an order has used, as `planUse` has those of one use. */
export type OrderUsed = Pick<PlannedUse, 'postings' | 'write'>

/**
 * Takes what an order has used from stock by the recipes of now: what was sold, what the house has given, and what was wasted. The rows of stock are
 * locked in one statement, and nothing is refused for want of stock (R13).
 */
export const planOrderUse = async (
  trx: Trx,
  { order, kind, sold, wasted, house, businessDate }: OrderUse,
  recipes: Recipes,
): Promise<OrderUsed> => {
  const given = parted(explode(wantedOf(sold), recipes), house, order.total)
  const waste = explode(wantedOf(wasted), recipes)
  const all = [...given.rest, ...given.part, ...waste]
  if (all.length === 0) return { postings: [], write: () => Promise.resolve() }
  const shelf = await holdStock(trx, all)
  const { items } = shelf
  const [place] = shelf.all()
  if (!place) throw new Error('no stock was held')
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
  const parts = [
    { head: head(kind, 'pos_order'), used: given.rest },
    { head: head('complimentary', 'pos_order_house'), used: given.part },
    { head: head('waste', 'pos_order_waste'), used: waste },
  ]
  const planned: PlannedUse[] = []
  for (const { head: of, used } of parts)
    if (used.length > 0) planned.push(await planUse(trx, of, used, { shelf, items }))
  return {
    postings: planned.flatMap(({ postings }) => postings),
    write: async () => void (await Promise.all(planned.map((one) => one.write()))),
  }
}

/** Takes what a cancelled order has wasted from stock. */
export const useOrder = async (trx: Trx, use: OrderUse): Promise<void> => {
  const { postings, write } = await planOrderUse(trx, use, await recipesOf(trx, [...use.sold, ...use.wasted]))
  await Promise.all([write(), raisePostings(trx, use.order.propertyId, postings)])
}
