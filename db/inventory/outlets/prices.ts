import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { pricesReplaced } from '../../../config/events/inventory.ts'
import type { RevenueGroup } from '../../../config/inventory.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { refuseStrangers } from '../../lib/sets.ts'
import { holdActiveItems } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import { refuseElsewhere } from '../movements/record.ts'
import { holdRecipes } from '../recipes/facts.ts'
import { overlap } from '../rules/price-times.ts'
import type { PriceTimes } from '../rules/price-times.ts'
import { decimalOf, largestQuantity, quantityOf } from '../rules/quantity.ts'
import { lockSet, versionOfSet } from '../sets.ts'
import { outletOf } from './outlets.ts'

export type PriceEntry = Omit<PriceTimes, 'weekDays'> & {
  id?: string | undefined
  code: string
  name: string
  /** The goods: an item, a recipe, or a service where neither is named. */
  itemId: string | null
  recipeId: string | null
  /** Per unit sold: of the item's base, or portions of the recipe. */
  quantity: string
  /** Minor units with the taxes that they include. */
  amount: number
  revenueGroup: RevenueGroup
  /** The outlet's own where null. */
  locationId: string | null
  weekDays: number[] | null
}
export type PriceRecord = Omit<PriceEntry, 'id' | 'quantity'> & { id: string; quantity: number }

const columns = `id, code, name, item_id, recipe_id, quantity, amount, revenue_group, location_id, valid_from, valid_to, week_days,
  to_char(time_from, 'HH24:MI') as time_from, to_char(time_to, 'HH24:MI') as time_to`

/** The active prices of an outlet, of some codes or of all. */
export const pricesOf = (trx: Trx, outletId: string, codes: readonly string[] | null = null) =>
  sql<PriceRecord>(
    trx,
    `select ${columns} from outlet_price where outlet_id = ? and status = 'active' and (?::text[] is null or code = any(?::text[]))
     order by position, code, id limit 1000`,
    [outletId, codes, codes],
  )

/** The price list of an outlet. 404. */
export const readPrices = async (trx: Trx, outletId: string) => {
  await outletOf(trx, outletId)
  const rows = await pricesOf(trx, outletId)
  return {
    data: rows.map((row) => ({ ...row, quantity: decimalOf(row.quantity) })),
    version: await versionOfSet(trx, 'prices', outletId),
  }
}

/** Prices that are wrong by themselves, and two of one code that would hold at once. 400; 422 `price_overlap`. */
const judge = (entries: readonly PriceEntry[]): void => {
  const errors = entries.flatMap((entry, index): FieldError[] => {
    const field = `prices.${index}`
    const quantity = quantityOf(entry.quantity)
    const { validFrom, validTo, timeFrom, timeTo } = entry
    return [
      ...(entry.itemId !== null && entry.recipeId !== null
        ? [{ field: `${field}.recipeId`, message: 'stands beside itemId' }]
        : []),
      ...(quantity < 1 || quantity > largestQuantity
        ? [{ field: `${field}.quantity`, message: 'must be more than 0' }]
        : []),
      ...(validFrom !== null && validTo !== null && validTo < validFrom
        ? [{ field: `${field}.validTo`, message: 'must not be before validFrom' }]
        : []),
      ...((timeFrom === null) !== (timeTo === null) || (timeFrom !== null && timeFrom === timeTo)
        ? [{ field: `${field}.timeTo`, message: 'stands with timeFrom, and differs from it' }]
        : []),
    ]
  })
  if (errors.length > 0) throw invalid(errors.slice(0, 50))
  const byCode = new Map<string, { entry: PriceEntry; index: number }[]>()
  entries.forEach((entry, index) => byCode.set(entry.code, [...(byCode.get(entry.code) ?? []), { entry, index }]))
  const twice = [...byCode.values()].flatMap((rows) =>
    rows.flatMap(({ entry, index }, place): FieldError[] =>
      rows.slice(0, place).some((other) => overlap(other.entry, entry))
        ? [{ field: `prices.${index}`, message: `${entry.code} has another price at the same time` }]
        : [],
    ),
  )
  if (twice.length > 0)
    throw unprocessable('price_overlap', 'Two prices of one code would hold at once', twice.slice(0, 50))
}

/** Prices of another outlet as new ones of this. Places of another property are left out. */
const copied = async (trx: Trx, fromId: string, propertyId: string): Promise<PriceEntry[]> => {
  const source = await outletOf(trx, fromId)
  return (await pricesOf(trx, fromId)).map(({ quantity, locationId, ...price }) => ({
    ...price,
    id: undefined,
    quantity: decimalOf(quantity),
    locationId: source.propertyId === propertyId ? locationId : null,
  }))
}

/**
 * Replaces the price list of an outlet, by entries or by a copy of another's. Orders keep the price of the moment that a line was added. 404; 409
 * `version_conflict`; 422 `price_overlap`, `reference_not_found`.
 */
export const replacePrices = async (
  trx: Trx,
  outletId: string,
  given: { entries: readonly PriceEntry[] } | { copyFrom: string },
  expected: number | null,
): Promise<void> => {
  const outlet = await outletOf(trx, outletId)
  await refuseArchived(trx, outlet.propertyId)
  await lockSet(trx, 'prices', outletId, expected)
  const entries = 'entries' in given ? given.entries : await copied(trx, given.copyFrom, outlet.propertyId)
  judge(entries)
  const stored = await sql<{ id: string }>(
    trx,
    `select id from outlet_price where outlet_id = ? and status = 'active' order by id for update`,
    [outletId],
  )
  refuseStrangers(
    'prices',
    entries,
    stored.map(({ id }) => id),
  )
  await holdRecipes(
    trx,
    entries.flatMap(({ recipeId }, index) => (recipeId ? [{ id: recipeId, field: `prices.${index}.recipeId` }] : [])),
  )
  const places = await holdLocations(
    trx,
    entries.flatMap(({ locationId }, index) =>
      locationId ? [{ id: locationId, field: `prices.${index}.locationId` }] : [],
    ),
  )
  entries.forEach(({ locationId }, index) => {
    const place = places.get(locationId ?? '')
    if (place) refuseElsewhere(place, outlet.propertyId, `prices.${index}.locationId`)
  })
  await holdActiveItems(
    trx,
    entries.flatMap(({ itemId }, index) => (itemId ? [{ id: itemId, field: `prices.${index}.itemId` }] : [])),
  )
  const rows = entries.map((entry, position) => ({
    ...entry,
    id: entry.id ?? randomUUID(),
    quantity: quantityOf(entry.quantity),
    position,
  }))
  await sql(trx, `update outlet_price set status = 'archived' where outlet_id = ? and status = 'active'`, [outletId])
  await sql(
    trx,
    `insert into outlet_price (id, outlet_id, code, name, item_id, recipe_id, quantity, amount, revenue_group, location_id, valid_from, valid_to,
       week_days, time_from, time_to, position)
     select p.id, ?, p.code, p.name, p."itemId", p."recipeId", p.quantity, p.amount, p."revenueGroup", p."locationId", p."validFrom", p."validTo",
       p."weekDays", p."timeFrom", p."timeTo", p.position
     from jsonb_to_recordset(?::jsonb) as p (id uuid, code text, name text, "itemId" uuid, "recipeId" uuid, quantity bigint, amount bigint, "revenueGroup" text,
       "locationId" uuid, "validFrom" date, "validTo" date, "weekDays" int[], "timeFrom" time, "timeTo" time, position int)
     on conflict (tenant_id, id) do update set code = excluded.code, name = excluded.name, item_id = excluded.item_id, recipe_id = excluded.recipe_id,
       quantity = excluded.quantity, amount = excluded.amount, revenue_group = excluded.revenue_group, location_id = excluded.location_id,
       valid_from = excluded.valid_from, valid_to = excluded.valid_to, week_days = excluded.week_days, time_from = excluded.time_from,
       time_to = excluded.time_to, position = excluded.position, status = 'active'`,
    [outletId, JSON.stringify(rows)],
  )
  await emit(trx, pricesReplaced, { propertyId: outlet.propertyId, id: outletId, version: null, data: { outletId } })
}
