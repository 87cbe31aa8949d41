import { LRUCache } from 'lru-cache'
import { unprocessable } from '../../../config/errors.ts'
import type { RecipeKind } from '../../../config/inventory.ts'
import { prepared, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Component, RecipeFacts } from '../rules/explode.ts'

/** A version never changes, so that each process keeps those that it has read, by id. */
const versions = new LRUCache<string, readonly Component[]>({ max: 5_000 })

const componentsOf = async (trx: Trx, versionIds: readonly string[]): Promise<void> => {
  const unknown = versionIds.filter((id) => !versions.has(id))
  if (unknown.length === 0) return
  const rows = await prepared<Component & { versionId: string }>(
    trx,
    `select version_id, item_id, recipe_id, base_quantity, loss_rate from recipe_component where version_id = any(?::uuid[]) order by version_id, position`,
    [unknown],
  )
  for (const id of unknown)
    versions.set(
      id,
      rows
        .filter((row) => row.versionId === id)
        .map(({ itemId, recipeId, baseQuantity, lossRate }) => ({ itemId, recipeId, baseQuantity, lossRate })),
    )
}

/** Recipes by their current versions, with all that stand in them, by id. */
export const readRecipeFacts = async (trx: Trx, ids: readonly string[]): Promise<Map<string, RecipeFacts>> => {
  const found = new Map<string, RecipeFacts>()
  for (let wanted = [...new Set(ids)]; wanted.length > 0;) {
    const rows = await prepared<Omit<RecipeFacts, 'components'>>(
      trx,
      `select r.id, r.kind, r.output_item_id, v.id as version_id, v.yield from recipe r
       join recipe_version v on v.tenant_id = r.tenant_id and v.recipe_id = r.id and v.number = r.current_version where r.id = any(?::uuid[])`,
      [wanted],
    )
    await componentsOf(
      trx,
      rows.map(({ versionId }) => versionId),
    )
    for (const row of rows) found.set(row.id, { ...row, components: versions.get(row.versionId) ?? [] })
    const inside = rows.flatMap(({ versionId }) => (versions.get(versionId) ?? []).map(({ recipeId }) => recipeId))
    wanted = [...new Set(inside)].filter((id): id is string => id !== null && !found.has(id))
  }
  return found
}

export type HeldRecipe = { id: string; code: string; kind: RecipeKind; outputItemId: string | null }

/** Holds active recipes that a request names, so that none is archived before the commit. 422 `reference_not_found`. */
export const holdRecipes = async (
  trx: Trx,
  named: readonly { id: string; field: string }[],
): Promise<Map<string, HeldRecipe>> => {
  if (named.length === 0) return new Map()
  const rows = await sql<HeldRecipe>(
    trx,
    `select id, code, kind, output_item_id from recipe where id = any(?::uuid[]) and status = 'active' order by id for key share`,
    [[...new Set(named.map(({ id }) => id))]],
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  const missing = named.filter(({ id }) => !found.has(id))
  if (missing.length > 0)
    throw unprocessable(
      'reference_not_found',
      'There is no such active recipe',
      missing.slice(0, 50).map(({ field }) => ({ field, message: 'is no active recipe of the tenant' })),
    )
  return found
}
