import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import type { InventoryConsumptionRow } from '../../rows.ts'
import { decimalOf } from '../rules/quantity.ts'

type Line = {
  itemId: string
  sku: string
  locationId: string
  recipeVersionId: string | null
  quantity: number
  value: number
  shortQuantity: number
}
type Row = InventoryConsumptionRow & { value: number; lines: Line[] }

const columns = `c.*, x.value, x.lines`
const joins = `left join lateral (select coalesce(sum(l.value), 0)::bigint as value,
    coalesce(jsonb_agg(jsonb_build_object('itemId', l.item_id, 'sku', i.sku, 'locationId', l.location_id, 'recipeVersionId', l.recipe_version_id,
      'quantity', l.quantity, 'value', l.value, 'shortQuantity', l.short_quantity) order by l.position), '[]') as lines
  from inventory_consumption_line l join inventory_item i on i.tenant_id = l.tenant_id and i.id = l.item_id
  where l.tenant_id = c.tenant_id and l.consumption_id = c.id) x on true`

const shown = ({ lines, ...row }: Row) => ({
  ...row,
  value: row.value as number | null,
  lines: lines.map(({ quantity, shortQuantity, ...line }) => ({
    ...line,
    quantity: decimalOf(quantity),
    value: line.value as number | null,
    shortQuantity: decimalOf(shortQuantity),
  })),
})
export type ConsumptionShown = ReturnType<typeof shown>

/** A consumption with its lines. 404. */
export const readConsumption = async (trx: Trx, id: string): Promise<ConsumptionShown> => {
  const row = await preparedOne<Row>(trx, `select ${columns} from inventory_consumption c ${joins} where c.id = ?`, [
    id,
  ])
  if (!row) throw notFound()
  return shown(row)
}

export const consumptionSorts = { businessDate: 'c.business_date', createdAt: 'c.created_at' } as const
type Filter = Paging & {
  propertyId?: string | undefined
  kind?: string | undefined
  outletId?: string | undefined
  reservationId?: string | undefined
  itemId?: string | undefined
  reason?: string | undefined
  from?: string | undefined
  to?: string | undefined
  sort: Sort<keyof typeof consumptionSorts>
  scope: Condition
}

export const listConsumptions = async (trx: Trx, filter: Filter) => {
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'inventory_consumption c',
      joins,
      conditions: [
        ...inScope(filter.scope, { propertyId: 'c.property_id', kind: 'c.kind' }),
        ...where('c.property_id = ?', filter.propertyId),
        ...where('c.kind = ?', filter.kind),
        ...where('c.outlet_id = ?', filter.outletId),
        ...where('c.reservation_id = ?', filter.reservationId),
        ...where('c.reason = ?', filter.reason),
        ...where(
          `exists (select from inventory_consumption_line l where l.tenant_id = c.tenant_id and l.consumption_id = c.id and l.item_id = ?)`,
          filter.itemId,
        ),
      ],
      days: onDays('c.business_date', filter),
      order: orderBy(filter.sort, consumptionSorts, 'c.id'),
    },
    filter,
  )
  return { total, rows: rows.map(shown) }
}
