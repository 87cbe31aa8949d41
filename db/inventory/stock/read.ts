import { notFound } from '../../../config/errors.ts'
import type { Base } from '../../../config/measures.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { sum } from '../../lib/amounts.ts'
import { decimalOf } from '../rules/quantity.ts'

export type StockQuery = {
  propertyId: string
  locationId?: string | undefined
  categoryId?: string | undefined
  itemId?: string | undefined
  /** The end of this day; now unless said. */
  asOf?: string | undefined
  groupBy?: 'item' | 'location' | 'category' | undefined
}

type Row = {
  itemId: string | null
  locationId: string | null
  categoryCode: string | null
  base: Base | null
  quantity: number
  value: number
  short: number
}

const keys = {
  item: {
    columns: 's.item_id, null::uuid as location_id, null::text as category_code, i.base',
    by: 's.item_id, i.base',
  },
  location: {
    columns: 'null::uuid as item_id, s.location_id, null::text as category_code, null::text as base',
    by: 's.location_id',
  },
  category: {
    columns: 'null::uuid as item_id, null::uuid as location_id, c.code as category_code, null::text as base',
    by: 'c.code',
  },
} as const

const mostRows = 20_000

/** Stock of a property by item, location or category: today's rows, less the lines after a past date. 404. */
export const readStock = async (trx: Trx, asked: StockQuery) => {
  const { propertyId, locationId, categoryId, itemId, asOf, groupBy = 'item' } = asked
  const property = await sqlOne<{ currency: string; today: string }>(
    trx,
    `select p.currency, coalesce(p.business_date, (now() at time zone p.timezone)::date) as today from property p where p.id = ?`,
    [propertyId],
  )
  if (!property) throw notFound()
  const { columns, by } = keys[groupBy]
  const rows = await sql<Row>(
    trx,
    `with s as (
       select k.tenant_id, k.location_id, k.item_id, k.quantity - coalesce(l.quantity, 0) as quantity, k.value - coalesce(l.value, 0) as value,
         case when cast(:asOf as date) is null then coalesce((select sum(h.quantity) from inventory_shortage h where h.tenant_id = k.tenant_id
           and h.location_id = k.location_id and h.item_id = k.item_id and h.status = 'open'), 0) else 0 end as short
       from inventory_stock k join inventory_location p on p.tenant_id = k.tenant_id and p.id = k.location_id and p.property_id = :propertyId
       left join lateral (select sum(m.quantity) as quantity, sum(m.value) as value from inventory_movement_line m
         where cast(:asOf as date) is not null and m.tenant_id = k.tenant_id and m.location_id = k.location_id and m.item_id = k.item_id
           and m.occurred_on > cast(:asOf as date)) l on true
       where (cast(:locationId as uuid) is null or k.location_id = :locationId) and (cast(:itemId as uuid) is null or k.item_id = :itemId))
     select ${columns}, sum(s.quantity)::bigint as quantity, sum(s.value)::bigint as value, sum(s.short)::bigint as short
     from s join inventory_item i on i.tenant_id = s.tenant_id and i.id = s.item_id
     join inventory_category c on c.tenant_id = i.tenant_id and c.id = i.category_id
     where (s.quantity <> 0 or s.value <> 0 or s.short <> 0) and (cast(:categoryId as uuid) is null or i.category_id = :categoryId)
     group by ${by} order by 1, 2, 3 limit ${mostRows}`,
    {
      propertyId,
      locationId: locationId ?? null,
      categoryId: categoryId ?? null,
      itemId: itemId ?? null,
      asOf: asOf ?? null,
    },
  )
  return {
    currency: property.currency,
    asOf: asOf ?? property.today,
    rows: rows.map((row) => ({
      ...row,
      quantity: groupBy === 'item' ? decimalOf(row.quantity) : null,
      value: row.value as number | null,
      short: groupBy === 'item' ? decimalOf(row.short) : null,
    })),
    value: sum(rows.map(({ value }) => value)) as number | null,
  }
}
