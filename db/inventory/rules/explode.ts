import { halfUp } from '../../lib/amounts.ts'

/** An exact number: numerator and denominator, which is above 0. */
export type Ratio = readonly [numerator: bigint, denominator: bigint]

const divisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : divisor(b, a % b))
const reduced = ([numerator, denominator]: Ratio): Ratio => {
  const by = divisor(numerator < 0n ? -numerator : numerator, denominator)
  return by > 1n ? [numerator / by, denominator / by] : [numerator, denominator]
}
export const times = (a: Ratio, b: Ratio): Ratio => reduced([a[0] * b[0], a[1] * b[1]])
const plus = (a: Ratio, b: Ratio): Ratio => reduced([a[0] * b[1] + b[0] * a[1], a[1] * b[1]])

/** `baseQuantity` in ten-thousandths: of the item's base, of portions, or of the base of what a preparation makes. `lossRate` in basis points. */
export type Component = { itemId: string | null; recipeId: string | null; baseQuantity: number; lossRate: number }
/** A recipe by its current version; `yield` in ten-thousandths of a portion, or of the base of its output. */
export type RecipeFacts = {
  id: string
  kind: 'dish' | 'drink' | 'kit' | 'preparation'
  outputItemId: string | null
  versionId: string
  yield: number
  components: readonly Component[]
}

/** Something that is used in a place: `amount` in ten-thousandths. */
export type Wanted = {
  locationId: string
  amount: Ratio
  /** The field of the request that names it. */
  field?: string
} & ({ itemId: string; recipeId?: never } | { recipeId: string; itemId?: never })

/** The goods that leave the stock of a place; the version, where one recipe alone asks for them. */
export type Used = {
  itemId: string
  locationId: string
  quantity: number
  recipeVersionId: string | null
  field: string
}

/** Components of an amount of a recipe, its losses included: amount × quantity ÷ yield ÷ (1 − loss). */
export const componentsFor = (recipe: RecipeFacts, amount: Ratio): { component: Component; amount: Ratio }[] =>
  recipe.components.map((component) => ({
    component,
    amount: times(amount, [
      BigInt(component.baseQuantity) * 10_000n,
      BigInt(recipe.yield) * BigInt(10_000 - component.lossRate),
    ]),
  }))

/**
 * Items that recipes use up (R15): fractions throughout, rounded half-up once for each item and place. A preparation is taken from stock. What comes to nothing
 * is left out.
 */
export const explode = (wanted: readonly Wanted[], recipes: ReadonlyMap<string, RecipeFacts>): Used[] => {
  const sums = new Map<string, Used & { amount: Ratio }>()
  const add = (itemId: string, { locationId, field = 'lines' }: Wanted, amount: Ratio, version: string | null) => {
    const key = `${locationId} ${itemId}`
    const sum = sums.get(key)
    if (!sum) sums.set(key, { itemId, locationId, quantity: 0, field, amount, recipeVersionId: version })
    else
      sums.set(key, {
        ...sum,
        amount: plus(sum.amount, amount),
        recipeVersionId: sum.recipeVersionId === version ? version : null,
      })
  }
  const visit = (one: Wanted, recipeId: string, amount: Ratio, version: string | null) => {
    const recipe = recipes.get(recipeId)
    if (!recipe) throw new Error(`recipe ${recipeId} was not read`)
    if (recipe.outputItemId !== null) return add(recipe.outputItemId, one, amount, version)
    for (const { component, amount: part } of componentsFor(recipe, amount)) {
      if (component.itemId !== null) add(component.itemId, one, part, version ?? recipe.versionId)
      else if (component.recipeId !== null) visit(one, component.recipeId, part, version ?? recipe.versionId)
    }
  }
  for (const one of wanted) {
    if (one.itemId === undefined) visit(one, one.recipeId, one.amount, null)
    else add(one.itemId, one, one.amount, null)
  }
  return [...sums.values()]
    .map(({ amount, ...used }) => ({ ...used, quantity: Number(halfUp(amount[0], amount[1])) }))
    .filter(({ quantity }) => quantity > 0)
}

/** A recipe that stands in another; `isTaken`: from stock, so that it is not exploded there. */
export type Edge = { fromId: string; toId: string; isTaken: boolean }

/** The fault of recipes that contain one another: a circle, or more levels than `deepest`. */
export const faultOf = (edges: readonly Edge[], deepest: number): 'recipe_cycle' | 'recipe_too_deep' | null => {
  const next = new Map<string, Edge[]>()
  for (const edge of edges) next.set(edge.fromId, [...(next.get(edge.fromId) ?? []), edge])
  const depths = new Map<string, number>()
  const open = new Set<string>()
  let isCircle = false
  const depthOf = (id: string): number => {
    const known = depths.get(id)
    if (known !== undefined) return known
    if (open.has(id)) {
      isCircle = true
      return 0
    }
    open.add(id)
    const below = (next.get(id) ?? []).map(({ toId, isTaken }) => {
      const depth = depthOf(toId)
      return isTaken ? 0 : depth
    })
    open.delete(id)
    const depth = 1 + Math.max(0, ...below)
    depths.set(id, depth)
    return depth
  }
  const largest = Math.max(0, ...[...next.keys()].map(depthOf))
  return isCircle ? 'recipe_cycle' : largest > deepest ? 'recipe_too_deep' : null
}
