import { halfUp, sum } from '../../lib/amounts.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Condition } from '../../lib/conditions.ts'
import { notFound } from '../../../config/errors.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import type { InventoryItemRow } from '../../rows.ts'
import type { Package } from '../models.ts'
import { decimalOf } from '../rules/quantity.ts'

type Level = { locationId: string; minimum: number; maximum: number }
type Row = Omit<InventoryItemRow, 'packages'> & { packages: Package[]; levels: Level[] }
/** Stock of an item in the places that are read. The value is null where these have several currencies. */
type Stock = {
  quantity: number
  value: number | null
  lastCost: { value: number; quantity: number; at: string } | null
}

const columns = `i.*,
  coalesce((select jsonb_agg(jsonb_build_object('locationId', l.location_id, 'minimum', l.minimum, 'maximum', l.maximum) order by l.location_id)
    from inventory_level l where l.tenant_id = i.tenant_id and l.item_id = i.id), '[]') as levels`

const lastCost = `case when k.last_cost_at is not null then jsonb_build_object('value', k.last_cost_value, 'quantity', k.last_cost_quantity,
  'at', to_char(k.last_cost_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end`

/** Stock of items in all locations of the properties that the caller sees. */
const stockOf = async (trx: Trx, ids: readonly string[], propertyIds: readonly string[] | null) => {
  const rows = await prepared<Stock & { itemId: string }>(
    trx,
    `select k.item_id, sum(k.quantity)::bigint as quantity,
       case when count(distinct p.currency) filter (where k.value > 0) < 2 then sum(k.value)::bigint end as value,
       (array_agg(${lastCost} order by k.last_cost_at desc) filter (where k.last_cost_at is not null))[1] as last_cost
     from inventory_stock k join inventory_location l on l.tenant_id = k.tenant_id and l.id = k.location_id
     join property p on p.tenant_id = l.tenant_id and p.id = l.property_id
     where k.item_id = any(?::uuid[]) and (?::uuid[] is null or l.property_id = any(?::uuid[])) group by 1`,
    [ids, propertyIds, propertyIds],
  )
  return new Map(rows.map(({ itemId, ...stock }) => [itemId, stock]))
}
const nothing: Stock = { quantity: 0, value: 0, lastCost: null }

/** Price of one base unit with 4 places, for display alone. */
export const unitCostOf = (value: number, quantity: number): string | null =>
  quantity === 0 ? null : decimalOf(Number(halfUp(BigInt(value) * 100_000_000n, BigInt(quantity))))

const stockShown = ({ quantity, value, lastCost: cost }: Stock) => ({
  quantity: decimalOf(quantity),
  value,
  unitCost: value === null ? null : unitCostOf(value, quantity),
  lastCost: cost && { ...cost, quantity: decimalOf(cost.quantity) },
})

const shown = ({ packages, levels, referenceAmount, referenceQuantity, ...row }: Row, stock: Stock) => ({
  ...row,
  packages: packages.map(({ quantity, ...package_ }) => ({ ...package_, quantity: decimalOf(quantity) })),
  levels: levels.map(({ locationId, minimum, maximum }) => ({
    locationId,
    minimum: decimalOf(minimum),
    maximum: decimalOf(maximum),
  })),
  referenceCost:
    referenceAmount === null || referenceQuantity === null
      ? null
      : { amount: referenceAmount, quantity: decimalOf(referenceQuantity) },
  ...stockShown(stock),
})
export type ItemListed = ReturnType<typeof shown>

type Shelved = Stock & {
  locationId: string
  propertyId: string
  currency: string
  value: number
  short: number
  lowSince: Date | null
  lastCountedAt: Date | null
}

/** An item with its stock by location. 404. */
export const readItem = async (trx: Trx, id: string) => {
  const [row, stock, shelves] = await Promise.all([
    preparedOne<Row>(trx, `select ${columns} from inventory_item i where i.id = ?`, [id]),
    stockOf(trx, [id], null),
    prepared<Shelved>(
      trx,
      `select k.location_id, l.property_id, p.currency, k.quantity, k.value, k.low_since, k.last_counted_at, ${lastCost} as last_cost,
         coalesce((select sum(h.quantity) from inventory_shortage h where h.tenant_id = k.tenant_id and h.location_id = k.location_id
           and h.item_id = k.item_id and h.status = 'open'), 0)::bigint as short
       from inventory_stock k join inventory_location l on l.tenant_id = k.tenant_id and l.id = k.location_id
       join property p on p.tenant_id = l.tenant_id and p.id = l.property_id
       where k.item_id = ? order by l.property_id, l.position, l.id limit 500`,
      [id],
    ),
  ])
  if (!row) throw notFound()
  return { ...shown(row, stock.get(id) ?? nothing), shelves }
}
type Read = Awaited<ReturnType<typeof readItem>>

/** An item as a caller sees it who has these properties, or all: with the stock of their locations alone. */
export const itemSeenIn = ({ shelves, ...item }: Read, propertyIds: readonly string[] | null) => {
  const seen = shelves.filter(({ propertyId }) => propertyIds === null || propertyIds.includes(propertyId))
  const worth = seen.filter(({ value }) => value > 0)
  const costs = seen.flatMap(({ lastCost: cost }) => cost ?? [])
  const own: Stock = {
    quantity: sum(seen.map(({ quantity }) => quantity)),
    value: new Set(worth.map(({ currency }) => currency)).size < 2 ? sum(worth.map(({ value }) => value)) : null,
    lastCost: costs.toSorted((one, other) => (one.at < other.at ? 1 : -1))[0] ?? null,
  }
  return {
    ...item,
    ...(propertyIds === null ? {} : stockShown(own)),
    stock: seen.map((one) => ({
      locationId: one.locationId,
      propertyId: one.propertyId,
      quantity: decimalOf(one.quantity),
      value: one.value as number | null,
      short: decimalOf(one.short),
      lowSince: one.lowSince,
      lastCountedAt: one.lastCountedAt,
    })),
  }
}
export type ItemShown = Read

export const itemSorts = { sku: 'i.sku', name: 'i.name', createdAt: 'i.created_at' } as const

type Filter = Paging & {
  categoryId?: string | undefined
  /** With stock, or a level, in this location. */
  locationId?: string | undefined
  /** Below the minimum of a location. */
  low?: boolean | undefined
  supplierId?: string | undefined
  status?: string | undefined
  q?: string | undefined
  sort: Sort<keyof typeof itemSorts>
  scope: Condition
}

const lowIn = `exists (select from inventory_level l left join inventory_stock s on s.tenant_id = l.tenant_id and s.location_id = l.location_id and s.item_id = l.item_id
  where l.tenant_id = i.tenant_id and l.item_id = i.id and coalesce(s.quantity, 0) < l.minimum and (?::uuid is null or l.location_id = ?::uuid))`

/** Items with what there is of them in all locations of the properties that the caller sees. */
export const listItems = async (trx: Trx, filter: Filter, propertyIds: readonly string[] | null) => {
  const { locationId, low, q } = filter
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'inventory_item i',
      conditions: [
        ...inScope(filter.scope, { propertyId: null }),
        ...where('i.category_id = ?', filter.categoryId),
        ...where('i.supplier_id = ?', filter.supplierId),
        ...where('i.status = ?', filter.status),
        ...(q === undefined
          ? []
          : [
              {
                text: `(strpos(lower(i.sku), lower(?)) > 0 or strpos(lower(i.name), lower(?)) > 0 or i.barcode = ?)`,
                values: [q, q, q],
              },
            ]),
        ...(locationId === undefined
          ? []
          : [
              {
                text: `(exists (select from inventory_stock s where s.tenant_id = i.tenant_id and s.item_id = i.id and s.location_id = ? and s.quantity > 0)
                  or exists (select from inventory_level l where l.tenant_id = i.tenant_id and l.item_id = i.id and l.location_id = ?))`,
                values: [locationId, locationId],
              },
            ]),
        ...(low === undefined
          ? []
          : [{ text: low ? lowIn : `not ${lowIn}`, values: [locationId ?? null, locationId ?? null] }]),
      ],
      order: orderBy(filter.sort, itemSorts, 'i.id'),
    },
    filter,
  )
  const stock = await stockOf(
    trx,
    rows.map(({ id }) => id),
    propertyIds,
  )
  return { total, rows: rows.map((row) => shown(row, stock.get(row.id) ?? nothing)) }
}
