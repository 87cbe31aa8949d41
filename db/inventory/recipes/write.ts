import { randomUUID } from 'node:crypto'
import { invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { recipeArchived, recipeCreated, recipeVersionAdded } from '../../../config/events/inventory.ts'
import { deepestRecipe } from '../../../config/inventory.ts'
import type { RecipeKind } from '../../../config/inventory.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { changeRow, insertRow, insertRows } from '../../lib/records.ts'
import type { RecipeRow } from '../../rows.ts'
import { holdActiveItems } from '../items/facts.ts'
import { Recipe, RecipeComponent, RecipeVersion } from '../models.ts'
import { faultOf } from '../rules/explode.ts'
import type { Edge } from '../rules/explode.ts'
import { enteredSome, largestQuantity, quantityOf } from '../rules/quantity.ts'
import { lockSets } from '../sets.ts'
import { holdRecipes } from './facts.ts'
import { keptRules } from './kit-rules.ts'
import type { RuleEntry } from './kit-rules.ts'

/** Quantities are decimals of the measure; of a recipe that stands in another its portions (`un`), or a measure of what it makes. */
export type ComponentEntry = {
  itemId?: string | undefined
  recipeId?: string | undefined
  quantity: string
  measure?: string | undefined
  lossRate?: number | undefined
}
export type NewRecipe = {
  code: string
  name: string
  kind: RecipeKind
  outputItemId?: string | undefined
  rules?: RuleEntry[] | undefined
  /** Portions; of a preparation the quantity that it makes, in the base of its output. */
  yield: string
  components: ComponentEntry[]
}
export type RecipeChange = {
  name?: string | undefined
  rules?: RuleEntry[] | undefined
  yield?: string | undefined
  components?: ComponentEntry[] | undefined
}

const states = archivable('A recipe')

const tell = (
  trx: Trx,
  event: typeof recipeCreated,
  { id, code }: Pick<RecipeRow, 'id' | 'code'>,
  { number, version }: { number: number; version: number },
) => emit(trx, event, { propertyId: null, id, version, data: { recipeId: id, code, number } })

const yieldOf = (text: string): number => {
  const stored = quantityOf(text)
  if (stored < 1 || stored > largestQuantity) throw invalid([{ field: 'yield', message: 'must be more than 0' }])
  return stored
}

type Kept = {
  itemId: string | null
  recipeId: string | null
  quantity: number
  measure: string
  baseQuantity: number
  lossRate: number
}

/** Components as they are kept, of items and recipes that are held. 400; 422 `reference_not_found`, `quantity_too_small`. */
const keptComponents = async (trx: Trx, entries: readonly ComponentEntry[]): Promise<Kept[]> => {
  entries.forEach(({ itemId, recipeId }, index) => {
    if ((itemId === undefined) === (recipeId === undefined))
      throw invalid([{ field: `components.${index}.itemId`, message: 'exactly one of itemId and recipeId is given' }])
  })
  const inside = await holdRecipes(
    trx,
    entries.flatMap(({ recipeId }, index) =>
      recipeId === undefined ? [] : [{ id: recipeId, field: `components.${index}.recipeId` }],
    ),
  )
  const items = await holdActiveItems(
    trx,
    entries.flatMap(({ itemId, recipeId }, index) => {
      const id = itemId ?? inside.get(recipeId ?? '')?.outputItemId
      return id ? [{ id, field: `components.${index}.itemId` }] : []
    }),
  )
  return entries.map(({ itemId, recipeId, quantity, measure, lossRate = 0 }, index) => {
    const field = `components.${index}`
    const item = items.get(itemId ?? inside.get(recipeId ?? '')?.outputItemId ?? '') ?? {
      base: 'un' as const,
      packages: [],
    }
    const named = measure ?? item.base
    const entered = enteredSome(item, quantity, named, field)
    return {
      itemId: itemId ?? null,
      recipeId: recipeId ?? null,
      quantity: entered.entered,
      measure: named,
      baseQuantity: entered.quantity,
      lossRate,
    }
  })
}

/** The components of all active recipes but one. An item that a preparation makes stands for it. */
const otherEdges = (trx: Trx, but: string): Promise<Edge[]> =>
  sql<Edge>(
    trx,
    `select r.id as from_id, p.id as to_id, p.kind = 'preparation' as is_taken from recipe r
     join recipe_version v on v.tenant_id = r.tenant_id and v.recipe_id = r.id and v.number = r.current_version
     join recipe_component k on k.tenant_id = v.tenant_id and k.version_id = v.id
     join recipe p on p.tenant_id = k.tenant_id and p.status = 'active' and (p.id = k.recipe_id or p.output_item_id = k.item_id)
     where r.status = 'active' and r.id <> ?`,
    [but],
  )

const ownEdges = async (
  trx: Trx,
  id: string,
  components: readonly Kept[],
  outputItemId: string | null,
): Promise<Edge[]> => {
  const rows = await sql<{ toId: string; isTaken: boolean }>(
    trx,
    `select id as to_id, kind = 'preparation' as is_taken from recipe where status = 'active' and id <> ? and (id = any(?::uuid[]) or output_item_id = any(?::uuid[]))`,
    [
      id,
      components.map((one) => one.recipeId).filter((one) => one !== null),
      components.map((one) => one.itemId).filter((one) => one !== null),
    ],
  )
  const isOwn = components.some((one) => one.recipeId === id || (one.itemId !== null && one.itemId === outputItemId))
  return [...rows.map((row) => ({ fromId: id, ...row })), ...(isOwn ? [{ fromId: id, toId: id, isTaken: false }] : [])]
}

/** Items that are given to a new preparation as its output may stand in other recipes already. */
const makersOf = async (trx: Trx, id: string, outputItemId: string | null): Promise<Edge[]> =>
  outputItemId === null
    ? []
    : sql<Edge>(
        trx,
        `select r.id as from_id, ?::uuid as to_id, true as is_taken from recipe r
         join recipe_version v on v.tenant_id = r.tenant_id and v.recipe_id = r.id and v.number = r.current_version
         join recipe_component k on k.tenant_id = v.tenant_id and k.version_id = v.id
         where r.status = 'active' and r.id <> ? and k.item_id = ?`,
        [id, id, outputItemId],
      )

/** Refuses circles, and recipes that stand too deep in others. The recipes of the tenant are locked. 422 `recipe_cycle`, `recipe_too_deep`. */
const judgeDepth = async (
  trx: Trx,
  { id, outputItemId }: { id: string; outputItemId: string | null },
  components: readonly Kept[],
): Promise<void> => {
  const edges = [
    ...(await otherEdges(trx, id)),
    ...(await makersOf(trx, id, outputItemId)),
    ...(await ownEdges(trx, id, components, outputItemId)),
  ]
  const fault = faultOf(edges, deepestRecipe)
  if (fault === null) return
  throw unprocessable(
    fault,
    fault === 'recipe_cycle' ? 'The recipe would stand in itself' : `Recipes stand ${deepestRecipe} deep at most`,
    [{ field: 'components', message: 'lead to it' }],
  )
}

const writeVersion = async (
  trx: Trx,
  recipeId: string,
  { number, yielded, components }: { number: number; yielded: number; components: readonly Kept[] },
): Promise<void> => {
  const { actor } = contextOf(trx)
  const version = await insertRow(trx, RecipeVersion, {
    recipeId,
    number,
    yield: yielded,
    createdBy: actor.id === null ? null : await authorOf(trx),
  })
  await insertRows(
    trx,
    RecipeComponent,
    components.map((one, position) => ({ versionId: version.id, position, ...one })),
  )
}

/** Adds a recipe with its first version. 409 `duplicate_code`; 422 `recipe_cycle`, `recipe_too_deep`, `reference_not_found`, `in_use` for an output made by another. */
export const createRecipe = async (trx: Trx, given: NewRecipe): Promise<string> => {
  const { code, name, kind, outputItemId = null, rules = [] } = given
  if ((kind === 'preparation') !== (outputItemId !== null))
    throw invalid([{ field: 'outputItemId', message: 'belongs to a preparation, and to nothing else' }])
  if (kind !== 'kit' && rules.length > 0) throw invalid([{ field: 'rules', message: 'belong to a kit' }])
  const yielded = yieldOf(given.yield)
  await lockSets(trx)
  const components = await keptComponents(trx, given.components)
  if (outputItemId !== null) await holdActiveItems(trx, [{ id: outputItemId, field: 'outputItemId' }])
  const id = randomUUID()
  await judgeDepth(trx, { id, outputItemId }, components)
  const row = await insertRow(trx, Recipe, {
    id,
    code,
    name,
    kind,
    outputItemId,
    rules: await keptRules(trx, rules),
  })
  await writeVersion(trx, id, { number: 1, yielded, components })
  await tell(trx, recipeCreated, row, { number: 1, version: row.version })
  return id
}

const lockRecipe = async (trx: Trx, id: string, expected: number | null): Promise<RecipeRow> => {
  const seen = await sqlOne<RecipeRow>(trx, `select * from recipe where id = ?`, [id])
  // A recipe does not come back from the archive, so that there is nothing to lock for.
  if (seen?.status === 'archived' && (expected === null || seen.version === expected)) return seen
  await lockSets(trx)
  const row = await sqlOne<RecipeRow>(trx, `select * from recipe where id = ? for update`, [id])
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

const standing = (trx: Trx, { id, currentVersion }: RecipeRow) =>
  sql<Kept & { yield: number }>(
    trx,
    `select v.yield, k.item_id, k.recipe_id, k.quantity, k.measure, k.base_quantity, k.loss_rate from recipe_version v
     join recipe_component k on k.tenant_id = v.tenant_id and k.version_id = v.id where v.recipe_id = ? and v.number = ? order by k.position`,
    [id, currentVersion],
  )

/** Changes a recipe: components or yield add a version, which is used from the next order that closes. As `createRecipe`. */
export const changeRecipe = async (
  trx: Trx,
  id: string,
  change: RecipeChange,
  expected: number | null = null,
): Promise<void> => {
  const recipe = await lockRecipe(trx, id, expected)
  states.allow('changed', recipe.status)
  if (change.rules !== undefined && change.rules.length > 0 && recipe.kind !== 'kit')
    throw invalid([{ field: 'rules', message: 'belong to a kit' }])
  const isNew = change.components !== undefined || change.yield !== undefined
  const number = recipe.currentVersion + 1
  if (isNew) {
    const before = await standing(trx, recipe)
    const components = change.components
      ? await keptComponents(trx, change.components)
      : before.map(({ itemId, recipeId, quantity, measure, baseQuantity, lossRate }) => ({
          itemId,
          recipeId,
          quantity,
          measure,
          baseQuantity,
          lossRate,
        }))
    await judgeDepth(trx, recipe, components)
    const yielded = change.yield === undefined ? (before[0]?.yield ?? 10_000) : yieldOf(change.yield)
    await writeVersion(trx, id, { number, yielded, components })
  }
  const version = await changeRow(trx, Recipe, id, {
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.rules === undefined ? {} : { rules: await keptRules(trx, change.rules) }),
    ...(isNew ? { currentVersion: number } : {}),
  })
  if (isNew) await tell(trx, recipeVersionAdded, recipe, { number, version })
}

/** Retires a recipe that no active recipe or price names: 422 `in_use`. One that is archived stays as it is. */
export const archiveRecipe = async (trx: Trx, id: string, expected: number | null = null): Promise<void> => {
  const recipe = await lockRecipe(trx, id, expected)
  if (!states.isDue('archived', recipe.status)) return
  const uses = await sqlOne<{ recipe: string | null; price: string | null }>(
    trx,
    `select (select r.code from recipe r join recipe_version v on v.recipe_id = r.id and v.number = r.current_version
         join recipe_component k on k.version_id = v.id where r.status = 'active' and k.recipe_id = ? limit 1) as recipe,
       (select p.code from outlet_price p where p.recipe_id = ? and p.status = 'active' limit 1) as price`,
    [id, id],
  )
  const errors = [
    ...(uses?.recipe ? [{ field: 'recipes', message: `${uses.recipe} uses it` }] : []),
    ...(uses?.price ? [{ field: 'prices', message: `${uses.price} sells it` }] : []),
  ]
  if (errors.length > 0) throw unprocessable('in_use', 'The recipe is in use', errors)
  const version = await changeRow(trx, Recipe, id, { status: 'archived' })
  await tell(trx, recipeArchived, recipe, { number: recipe.currentVersion, version })
}
