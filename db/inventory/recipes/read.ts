import { notFound } from '../../../config/errors.ts'
import { halfUp } from '../../lib/amounts.ts'
import type { Condition } from '../../lib/conditions.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import type { RecipeComponentRow, RecipeRow } from '../../rows.ts'
import { decimalOf } from '../rules/quantity.ts'
import { explode } from '../rules/explode.ts'
import type { KitRule, RuleEntry } from './kit-rules.ts'
import { readRecipeFacts } from './facts.ts'

const columns = `r.*, v.yield`
const joins = `join recipe_version v on v.tenant_id = r.tenant_id and v.recipe_id = r.id and v.number = r.current_version`
type Row = Omit<RecipeRow, 'rules'> & { rules: KitRule[]; yield: number }

const listed = ({ rules, ...row }: Row) => ({
  ...row,
  yield: decimalOf(row.yield),
  rules: rules.map(({ propertyId, locationId, ...rule }): RuleEntry =>
    rule.on === 'meal'
      ? { on: rule.on, propertyId, locationId, mealPlans: rule.mealPlans }
      : {
          on: rule.on,
          propertyId,
          locationId,
          taskKinds: rule.taskKinds,
          ...(rule.unitTypeIds ? { unitTypeIds: rule.unitTypeIds } : {}),
        },
  ),
})

export const recipeSorts = { code: 'r.code', name: 'r.name', createdAt: 'r.created_at' } as const
type Filter = Paging & {
  kind?: string | undefined
  /** Uses it, or makes it. */
  itemId?: string | undefined
  status?: string | undefined
  q?: string | undefined
  sort: Sort<keyof typeof recipeSorts>
  scope: Condition
}

export const listRecipes = async (trx: Trx, filter: Filter) => {
  const { itemId, q } = filter
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'recipe r',
      joins,
      conditions: [
        ...inScope(filter.scope, { propertyId: null }),
        ...where('r.kind = ?', filter.kind),
        ...where('r.status = ?', filter.status),
        ...(itemId === undefined
          ? []
          : [
              {
                text: `(r.output_item_id = ? or exists (select from recipe_version n join recipe_component k on k.tenant_id = n.tenant_id and k.version_id = n.id
                  where n.tenant_id = r.tenant_id and n.recipe_id = r.id and n.number = r.current_version and k.item_id = ?))`,
                values: [itemId, itemId],
              },
            ]),
        ...(q === undefined
          ? []
          : [{ text: `(strpos(lower(r.code), lower(?)) > 0 or strpos(lower(r.name), lower(?)) > 0)`, values: [q, q] }]),
      ],
      order: orderBy(filter.sort, recipeSorts, 'r.id'),
    },
    filter,
  )
  return { total, rows: rows.map(listed) }
}

type Version = { id: string; number: number; yield: number; createdBy: string | null; createdAt: Date }

/** A recipe with the components of its version of now, its last 20 versions, and what a portion costs. 404. */
export const readRecipe = async (trx: Trx, id: string) => {
  const [row, versions] = await Promise.all([
    preparedOne<Row>(trx, `select ${columns} from recipe r ${joins} where r.id = ?`, [id]),
    prepared<Version>(
      trx,
      `select id, number, yield, created_by, created_at from recipe_version where recipe_id = ? order by number desc limit 20`,
      [id],
    ),
  ])
  if (!row) throw notFound()
  const components = await prepared<RecipeComponentRow>(
    trx,
    `select * from recipe_component where version_id = ? order by position`,
    [versions[0]?.id ?? null],
  )
  return {
    ...listed(row),
    components: components.map(({ itemId, recipeId, quantity, measure, lossRate }) => ({
      itemId,
      recipeId,
      quantity: decimalOf(quantity),
      measure,
      lossRate,
    })),
    versions: versions.map((version) => ({ ...version, yield: decimalOf(version.yield) })),
    cost: await costOf(trx, id),
  }
}
export type RecipeShown = Awaited<ReturnType<typeof readRecipe>>

type Price = { itemId: string; currency: string; value: number; quantity: number }

/** One price for each currency and item: the average in stores, else in all locations, else the last cost, else the reference cost. */
const pricesOf = (trx: Trx, itemIds: readonly string[]) =>
  prepared<Price>(
    trx,
    `select i.id as item_id, c.currency,
       (case when s.stored > 0 then s.stored_value when s.quantity > 0 then s.value when k.last_cost_quantity is not null then k.last_cost_value else i.reference_amount end)::bigint as value,
       (case when s.stored > 0 then s.stored when s.quantity > 0 then s.quantity when k.last_cost_quantity is not null then k.last_cost_quantity else i.reference_quantity end)::bigint as quantity
     from inventory_item i cross join (select distinct p.currency from property p join inventory_location l on l.tenant_id = p.tenant_id and l.property_id = p.id) c
     cross join lateral (select sum(x.quantity) as quantity, sum(x.value) as value, coalesce(sum(x.quantity) filter (where l.kind = 'store'), 0) as stored,
         sum(x.value) filter (where l.kind = 'store') as stored_value
       from inventory_stock x join inventory_location l on l.tenant_id = x.tenant_id and l.id = x.location_id
       join property p on p.tenant_id = l.tenant_id and p.id = l.property_id and p.currency = c.currency
       where x.tenant_id = i.tenant_id and x.item_id = i.id) s
     left join lateral (select x.last_cost_value, x.last_cost_quantity from inventory_stock x
       join inventory_location l on l.tenant_id = x.tenant_id and l.id = x.location_id
       join property p on p.tenant_id = l.tenant_id and p.id = l.property_id and p.currency = c.currency
       where x.tenant_id = i.tenant_id and x.item_id = i.id and x.last_cost_at is not null order by x.last_cost_at desc limit 1) k on true
     where i.id = any(?::uuid[])`,
    [itemIds],
  )

/** The present cost of a portion (of a preparation: of one of its base), in each currency in which every component has a price. Minor units with 4 places, for display alone. */
const costOf = async (trx: Trx, id: string): Promise<{ currency: string; amount: string }[]> => {
  const recipes = await readRecipeFacts(trx, [id])
  const own = recipes.get(id)
  if (!own) return []
  // As a dish, so that what it is made of is told, and not what it makes. A thousand portions, since small parts would round to nothing.
  const open = new Map(recipes).set(id, { ...own, outputItemId: null })
  const used = explode([{ recipeId: id, locationId: '', amount: [10_000_000n, 1n] }], open)
  const prices = await pricesOf(
    trx,
    used.map(({ itemId }) => itemId),
  )
  return [...new Set(prices.map(({ currency }) => currency))].toSorted().flatMap((currency) => {
    let total = 0n
    for (const { itemId, quantity } of used) {
      const price = prices.find((one) => one.itemId === itemId && one.currency === currency)
      if (!price?.quantity || price.value === null) return []
      total += halfUp(BigInt(quantity) * BigInt(price.value) * 10_000n, BigInt(price.quantity))
    }
    return [{ currency, amount: decimalOf(Number(halfUp(total, 1_000n))) }]
  })
}
