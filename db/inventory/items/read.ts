import { halfUp } from '../../lib/amounts.ts'
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
type Row = Omit<InventoryItemRow, 'packages'> & {
  packages: Package[]
  levels: Level[]
  quantity: number
  value: number
  lastCost: { value: number; quantity: number; at: string } | null
}

const columns = `i.*, coalesce(s.quantity, 0)::bigint as quantity, coalesce(s.value, 0)::bigint as value,
  coalesce((select jsonb_agg(jsonb_build_object('locationId', l.location_id, 'minimum', l.minimum, 'maximum', l.maximum) order by l.location_id)
    from inventory_level l where l.tenant_id = i.tenant_id and l.item_id = i.id), '[]') as levels,
  (select jsonb_build_object('value', k.last_cost_value, 'quantity', k.last_cost_quantity, 'at', to_char(k.last_cost_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from inventory_stock k where k.tenant_id = i.tenant_id and k.item_id = i.id and k.last_cost_at is not null order by k.last_cost_at desc limit 1) as last_cost`
const joins = `left join lateral (select sum(k.quantity) as quantity, sum(k.value) as value from inventory_stock k
  where k.tenant_id = i.tenant_id and k.item_id = i.id) s on true`

/** Price of one base unit with 4 places, for display alone. */
export const unitCostOf = (value: number, quantity: number): string | null =>
  quantity === 0 ? null : decimalOf(Number(halfUp(BigInt(value) * 100_000_000n, BigInt(quantity))))

const shown = ({ packages, levels, referenceAmount, referenceQuantity, lastCost, ...row }: Row) => ({
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
  quantity: decimalOf(row.quantity),
  value: row.value as number | null,
  unitCost: unitCostOf(row.value, row.quantity),
  lastCost: lastCost && { ...lastCost, quantity: decimalOf(lastCost.quantity) },
})
export type ItemListed = ReturnType<typeof shown>

type Shelved = {
  locationId: string
  propertyId: string
  quantity: number
  value: number
  short: number
  lowSince: Date | null
  lastCountedAt: Date | null
}

/** An item with its stock by location; `scope` holds the properties that the caller sees. 404. */
export const readItem = async (trx: Trx, id: string, propertyIds: readonly string[] | null = null) => {
  const [row, stock] = await Promise.all([
    preparedOne<Row>(trx, `select ${columns} from inventory_item i ${joins} where i.id = ?`, [id]),
    prepared<Shelved>(
      trx,
      `select s.location_id, l.property_id, s.quantity, s.value, s.low_since, s.last_counted_at,
         coalesce((select sum(h.quantity) from inventory_shortage h where h.tenant_id = s.tenant_id and h.location_id = s.location_id
           and h.item_id = s.item_id and h.status = 'open'), 0)::bigint as short
       from inventory_stock s join inventory_location l on l.tenant_id = s.tenant_id and l.id = s.location_id
       where s.item_id = ? and (?::uuid[] is null or l.property_id = any(?::uuid[])) order by l.property_id, l.position, l.id limit 500`,
      [id, propertyIds, propertyIds],
    ),
  ])
  if (!row) throw notFound()
  return {
    ...shown(row),
    stock: stock.map(({ quantity, value, short, ...place }) => ({
      ...place,
      quantity: decimalOf(quantity),
      value: value as number | null,
      short: decimalOf(short),
    })),
  }
}
export type ItemShown = Awaited<ReturnType<typeof readItem>>

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

/** Items with what there is of them in all locations. */
export const listItems = async (trx: Trx, filter: Filter) => {
  const { locationId, low, q } = filter
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'inventory_item i',
      joins,
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
  return { total, rows: rows.map(shown) }
}
