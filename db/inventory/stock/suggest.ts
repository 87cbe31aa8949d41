import { notFound } from '../../../config/errors.ts'
import { useDays } from '../../../config/inventory.ts'
import { addDays } from '../../../config/time.ts'
import { openOrderQuantities } from '../../accounts-payable/index.ts'
import { halfUp, sum } from '../../lib/amounts.ts'
import { prepared, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { hasFeature } from '../../lib/features.ts'
import type { Package } from '../models.ts'
import { atCost } from '../rules/average.ts'
import { decimalOf, quantityOf } from '../rules/quantity.ts'
import { suggestionOf } from '../rules/suggestion.ts'

type Asked = { propertyId: string; locationId?: string | undefined; horizonDays?: number | undefined }

type Row = {
  itemId: string
  sku: string
  name: string
  base: 'g' | 'ml' | 'un'
  packages: Package[]
  supplierId: string | null
  leadDays: number
  onHand: number
  value: number
  short: number
  minimum: number
  maximum: number
  used: number
  lastCostValue: number | null
  lastCostQuantity: number | null
  referenceAmount: number | null
  referenceQuantity: number | null
}

/** Items that a place keeps, has a level for, or has used in the last days. */
const itemsOf = (trx: Trx, { propertyId, locationId }: Asked, from: string, today: string) =>
  prepared<Row>(
    trx,
    `with place as (select id, tenant_id from inventory_location where property_id = :propertyId and (cast(:locationId as uuid) is null or id = :locationId)),
       s as (select k.item_id, sum(k.quantity)::bigint as quantity, sum(k.value)::bigint as value from inventory_stock k join place p on p.id = k.location_id group by 1),
       v as (select l.item_id, sum(l.minimum)::bigint as minimum, sum(l.maximum)::bigint as maximum from inventory_level l join place p on p.id = l.location_id group by 1),
       u as (select x.item_id, sum(x.quantity)::bigint as quantity from inventory_use x join place p on p.id = x.location_id
         where x.date >= :from and x.date < :today group by 1),
       h as (select x.item_id, sum(x.quantity)::bigint as quantity from inventory_shortage x join place p on p.id = x.location_id where x.status = 'open' group by 1),
       c as (select distinct on (k.item_id) k.item_id, k.last_cost_value, k.last_cost_quantity from inventory_stock k join place p on p.id = k.location_id
         where k.last_cost_at is not null order by k.item_id, k.last_cost_at desc)
     select i.id as item_id, i.sku, i.name, i.base, i.packages, i.supplier_id, i.lead_days, coalesce(s.quantity, 0)::bigint as on_hand,
       coalesce(s.value, 0)::bigint as value, coalesce(h.quantity, 0)::bigint as short, coalesce(v.minimum, 0)::bigint as minimum,
       coalesce(v.maximum, 0)::bigint as maximum, greatest(coalesce(u.quantity, 0), 0)::bigint as used,
       c.last_cost_value, c.last_cost_quantity, i.reference_amount, i.reference_quantity
     from inventory_item i left join s on s.item_id = i.id left join v on v.item_id = i.id left join u on u.item_id = i.id
     left join h on h.item_id = i.id left join c on c.item_id = i.id
     where i.status = 'active' and (v.item_id is not null or u.item_id is not null or h.item_id is not null) order by i.sku, i.id limit 5001`,
    { propertyId, locationId: locationId ?? null, from, today },
  )

type Nights = { date: string; nights: number }
/** Unit-nights of a property by date: past ones that were charged or waived, those to come that are on the books. */
const nightsOf = (trx: Trx, propertyId: string, from: string, today: string, until: string) =>
  prepared<Nights>(
    trx,
    `select n.date, count(*)::int as nights from reservation_night n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
     where r.property_id = ? and n.date >= ? and n.date < ? and (case when n.date < ? then n.status in ('charged', 'waived') and r.status in ('checked_in', 'checked_out')
       else n.status in ('open', 'charged') and r.status in ('confirmed', 'checked_in') end)
     group by 1 order by 1`,
    [propertyId, from, until, today],
  )

const costOf = (row: Row, quantity: number): number | null => {
  if (row.lastCostValue !== null && row.lastCostQuantity !== null)
    return atCost(quantity, { value: row.lastCostValue, of: row.lastCostQuantity })
  if (row.onHand > 0) return atCost(quantity, { value: row.value, of: row.onHand })
  if (row.referenceAmount !== null && row.referenceQuantity !== null)
    return atCost(quantity, { value: row.referenceAmount, of: row.referenceQuantity })
  return null
}

/**
 * Items to be bought for the days ahead, by their levels and by what the nights on the books will use at the rate of the last 28 days. In a house without such
 * nights the days themselves are the measure. What is on order counts for the property. 404.
 */
export const suggestPurchases = async (trx: Trx, asked: Asked) => {
  const { propertyId, horizonDays = 7 } = asked
  const property = await sqlOne<{ currency: string; today: string }>(
    trx,
    `select p.currency, coalesce(p.business_date, (now() at time zone p.timezone)::date) as today from property p where p.id = ?`,
    [propertyId],
  )
  if (!property) throw notFound()
  const { today } = property
  const from = addDays(today, -useDays)
  const rows = await itemsOf(trx, asked, from, today)
  const nights = await nightsOf(trx, propertyId, from, today, addDays(today, 60 + horizonDays))
  const ordered = new Map(
    (await hasFeature(trx, 'suppliers'))
      ? (await openOrderQuantities(trx, propertyId)).map((one) => [
          one.inventoryItemId,
          quantityOf(Number(one.quantity).toFixed(4)),
        ])
      : [],
  )
  const past = sum(nights.filter(({ date }) => date < today).map((one) => one.nights))
  const data = rows.slice(0, 5_000).flatMap((row) => {
    const days = row.leadDays + horizonDays
    const until = addDays(today, days)
    const ahead = sum(nights.filter(({ date }) => date >= today && date < until).map((one) => one.nights))
    const [part, whole] = past > 0 ? [ahead, past] : [days, useDays]
    const expectedUse = Number(halfUp(BigInt(row.used) * BigInt(part), BigInt(whole)))
    const onOrder = ordered.get(row.itemId) ?? 0
    const package_ = row.packages.find(({ purchase }) => purchase) ?? null
    const found = suggestionOf({ ...row, onOrder, expectedUse, package: package_?.quantity ?? null })
    if (found === null) return []
    return [
      {
        itemId: row.itemId,
        sku: row.sku,
        name: row.name,
        base: row.base,
        onHand: decimalOf(row.onHand),
        onOrder: decimalOf(onOrder),
        short: decimalOf(row.short),
        minimum: decimalOf(row.minimum),
        maximum: decimalOf(row.maximum),
        expectedUse: decimalOf(expectedUse),
        suggested: decimalOf(found.quantity),
        package: package_ && found.count !== null ? { code: package_.code, count: found.count } : null,
        estimatedValue: costOf(row, found.quantity),
        supplierId: row.supplierId,
      },
    ]
  })
  return { currency: property.currency, asOf: today, horizonDays, data }
}
