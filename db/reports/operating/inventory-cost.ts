import { wordOf } from '../../../config/report-texts.ts'
import type { stockViews } from '../../../config/reports.ts'
import { split, sum } from '../../lib/amounts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { daysAsked, housesOfOneCurrency, metaOfHouses } from '../houses.ts'
import type { House } from '../houses.ts'
import type { Asked, ColumnKind, Reading, Sight, Window } from '../reading.ts'
import { earnedByDay } from '../revenue.ts'
import { endOfMonth } from '../rules/dates.ts'
import type { Range } from '../rules/dates.ts'
import { sectionOf } from '../rules/income.ts'
import { ratioOf } from '../rules/vectors.ts'
import { columnsOf } from './table.ts'

type By = (typeof stockViews)[number]
type Values = {
  opening: number
  receipts: number
  produced: number
  transfersIn: number
  transfersOut: number
  adjustments: number
  used: number
  theoretical: number
  otherUse: number
  countLosses: number
}
type Found = Values & { key: string | null; expenseGroup: string }

const none: Values = {
  opening: 0, receipts: 0, produced: 0, transfersIn: 0, transfersOut: 0, adjustments: 0, used: 0, theoretical: 0, otherUse: 0, countLosses: 0,
} // prettier-ignore

export type InventoryCostRow = {
  key: string
  /** Of places alone: an outlet keeps no stock. */
  opening: number | null
  receipts: number | null
  produced: number | null
  transfersIn: number | null
  transfersOut: number | null
  adjustments: number | null
  used: number
  closing: number | null
  theoretical: number
  actual: number
  variance: number
  revenue: number | null
  costRate: string | null
}

const columns: Record<string, ColumnKind> = {
  name: 'text', opening: 'amount', receipts: 'amount', produced: 'amount', transfersIn: 'amount', transfersOut: 'amount', adjustments: 'amount', used: 'amount',
  closing: 'amount', theoretical: 'amount', actual: 'amount', variance: 'amount', revenue: 'amount', costRate: 'ratio',
} // prettier-ignore

const keys: Record<By, string> = { group: 'c.expense_group', location: 'l.location_id', outlet: 'w.outlet_id' }

const inPlaces = `p.tenant_id = :tenantId and p.property_id = any(cast(:houses as uuid[]))
  and (cast(:locationId as uuid) is null or p.id = cast(:locationId as uuid))`

/** Values at the beginning of a range: those of now, less the lines from its first day to the end of that month, and less the months after it. */
const openingsOf = async (
  trx: Trx,
  houses: readonly House[],
  { from }: Range,
  { by, locationId }: { by: Exclude<By, 'outlet'>; locationId: string | null },
): Promise<Found[]> => {
  const rows = await sql<Pick<Found, 'key' | 'expenseGroup' | 'opening'>>(
    trx,
    `select cast(${keys[by]} as text) as key, c.expense_group, cast(sum(l.value) as bigint) as opening
     from (
       select s.tenant_id, s.location_id, s.item_id, s.value from inventory_location p
       join inventory_stock s on s.tenant_id = p.tenant_id and s.location_id = p.id where ${inPlaces}
       union all
       select m.tenant_id, m.location_id, m.item_id, -m.value from inventory_location p
       join inventory_stock_month m on m.tenant_id = p.tenant_id and m.location_id = p.id and m.month > cast(:until as date) where ${inPlaces}
       union all
       select l.tenant_id, l.location_id, l.item_id, -l.value from inventory_location p
       join inventory_movement_line l on l.tenant_id = p.tenant_id and l.location_id = p.id and l.occurred_on between cast(:from as date) and cast(:until as date)
       where ${inPlaces}) l
     join inventory_item i on i.tenant_id = l.tenant_id and i.id = l.item_id
     join inventory_category c on c.tenant_id = i.tenant_id and c.id = i.category_id
     group by 1, 2 having sum(l.value) <> 0`,
    {
      tenantId: contextOf(trx).tenantId,
      houses: houses.map(({ id }) => id),
      from,
      until: endOfMonth(from),
      locationId,
    },
  )
  return rows.map((row) => ({ ...none, ...row }))
}

const isUse = `k.kind in ('consumption', 'shortage')`

/**
 * Values of stock lines of a range by what moved them. A reversal counts as what it reverses, with the other sign. What was used before it had come is used on the day
 * on which it came, in the way in which its posting says that it was.
 */
const valuesOf = (
  trx: Trx,
  houses: readonly House[],
  { from, to }: Range,
  { by, locationId }: { by: By; locationId: string | null },
) => {
  const valued = (condition: string, sign = '') =>
    `cast(coalesce(sum(${sign}l.value) filter (where ${condition}), 0) as bigint)`
  return sql<Found>(
    trx,
    `select cast(${keys[by]} as text) as key, c.expense_group,
       0 as opening,
       ${valued(`k.kind in ('opening', 'receipt')`)} as receipts, ${valued(`k.kind = 'production'`)} as produced,
       ${valued(`k.kind = 'transfer' and l.quantity > 0`)} as transfers_in, ${valued(`k.kind = 'transfer' and l.quantity < 0`, '-')} as transfers_out,
       ${valued(`k.kind = 'count'`)} as adjustments, ${valued(isUse, '-')} as used,
       ${valued(`w.kind in ('sale', 'minibar', 'meal', 'kit')`, '-')} as theoretical,
       ${valued(`${isUse} and coalesce(w.kind, '') not in ('sale', 'minibar', 'meal', 'kit')`, '-')} as other_use,
       ${valued(`k.kind = 'count'`, '-')} as count_losses
     from inventory_location p
     join inventory_movement_line l on l.tenant_id = p.tenant_id and l.location_id = p.id and l.occurred_on between cast(:from as date) and cast(:to as date)
     join inventory_movement m on m.tenant_id = l.tenant_id and m.id = l.movement_id
     left join inventory_movement o on o.tenant_id = m.tenant_id and o.id = m.reverses_id
     cross join lateral (select coalesce(o.kind, m.kind) as kind, coalesce(o.id, m.id) as id) k
     left join inventory_consumption u on u.tenant_id = m.tenant_id and u.movement_id = k.id
     left join lateral (select case e.event when 'inventory.stock_wasted' then 'waste' else e.payload #>> '{context,consumption}' end as kind,
         cast(e.payload #>> '{context,outletId}' as uuid) as outlet_id
       from posting_event e where k.kind = 'shortage' and e.tenant_id = m.tenant_id and e.source_id = m.id
         and e.event in ('inventory.stock_consumed', 'inventory.stock_wasted') order by e.source_seq limit 1) s on true
     cross join lateral (select coalesce(u.kind, s.kind) as kind, coalesce(u.outlet_id, s.outlet_id) as outlet_id) w
     join inventory_item i on i.tenant_id = l.tenant_id and i.id = l.item_id
     join inventory_category c on c.tenant_id = i.tenant_id and c.id = i.category_id
     where ${inPlaces}
       ${by === 'outlet' ? `and ${isUse}` : ''}
     group by 1, 2`,
    { tenantId: contextOf(trx).tenantId, houses: houses.map(({ id }) => id), from, to, locationId },
  )
}

const roles: Record<string, string> = { food: 'revenue_food', beverage: 'revenue_beverage' }

/** Sales of food and of beverage less allowances, which have one account and are shared out by sales; and of the whole department. */
const revenueOf = async (trx: Trx, houses: readonly House[], range: Range) => {
  const { earned, accounts } = await earnedByDay(trx, houses, range)
  const sold = { food: 0, beverage: 0, other: 0 }
  let allowances = 0
  for (const { accountId, amount } of earned) {
    const account = accounts.get(accountId)
    if (!account) continue
    const section = sectionOf(account)
    if (section === 'food_beverage_allowances') allowances += amount
    else if (section === 'food_beverage_revenue')
      sold[account.role === roles['food'] ? 'food' : account.role === roles['beverage'] ? 'beverage' : 'other'] +=
        amount
  }
  const kinds = [sold.food, sold.beverage, sold.other]
  const shares = kinds.some((amount) => amount < 0) || sum(kinds) === 0 ? [0, 0, 0] : split(allowances, kinds)
  return {
    food: sold.food + (shares[0] ?? 0),
    beverage: sold.beverage + (shares[1] ?? 0),
    all: sum(kinds) + allowances,
  }
}

const rowOf = (key: string, of: readonly Found[], by: By | 'all', revenue: number | null): InventoryCostRow => {
  const total = (field: keyof Values) => sum(of.map((one) => one[field]))
  const isPlace = by !== 'outlet'
  const placed = (amount: number) => (isPlace ? amount : null)
  const [theoretical, used] = [total('theoretical'), total('used')]
  const actual = theoretical + total('otherUse') + total('countLosses')
  const edible = sum(of.filter(({ expenseGroup }) => expenseGroup in roles).map((one) => one.theoretical))
  return {
    key,
    opening: placed(total('opening')),
    receipts: placed(total('receipts')),
    produced: placed(total('produced')),
    transfersIn: placed(total('transfersIn')),
    transfersOut: placed(total('transfersOut')),
    adjustments: placed(total('adjustments')),
    used,
    closing: placed(
      total('opening') +
        total('receipts') +
        total('produced') +
        total('transfersIn') -
        total('transfersOut') +
        total('adjustments') -
        used,
    ),
    theoretical,
    actual,
    variance: actual - theoretical,
    revenue,
    costRate: revenue === null ? null : ratioOf(edible, revenue),
  }
}

/** Values of stock and their use, per expense group, location or outlet: what sales should have taken, and what went (R19). */
export const openInventoryCost = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<InventoryCostRow>> => {
  const { by = 'group', locationId = null } = asked as { by?: By; locationId?: string }
  const houses = await housesOfOneCurrency(trx, 'inventory_cost', asked, sight, window)
  const range = daysAsked('inventory_cost', asked, houses, window)
  const meta = await metaOfHouses(trx, 'inventory_cost', houses, range, sight)
  const found = [
    ...(by === 'outlet' ? [] : await openingsOf(trx, houses, range, { by, locationId })),
    ...(await valuesOf(trx, houses, range, { by, locationId })),
  ]
  const revenue = await revenueOf(trx, houses, range)
  const groups = new Map<string, Found[]>()
  for (const one of found) groups.set(one.key ?? 'none', [...(groups.get(one.key ?? 'none') ?? []), one])
  const soldIn = (key: string) =>
    by === 'group' && locationId === null && (key === 'food' || key === 'beverage') ? revenue[key] : null
  const rows = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, of]) => rowOf(key, of, by, soldIn(key)))
  const { key: _key, ...totals } = rowOf(
    'all',
    found,
    by === 'outlet' ? 'outlet' : 'all',
    locationId === null ? revenue.all : null,
  )
  const places = await sql<{ id: string; name: string }>(
    trx,
    `select id, name from inventory_location where tenant_id = ? and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, by === 'location' ? rows.map(({ key }) => key) : []],
  )
  const names = new Map(places.map(({ id, name }) => [id, name]))
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta.locale, columns),
    flat: (row) => [{ ...row, name: names.get(row.key) ?? wordOf(row.key, meta.locale) }],
    foot: () => ({ ...totals, name: wordOf('totals', meta.locale) }),
  }
}
