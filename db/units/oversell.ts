import type { Condition as Scope } from '../lib/conditions.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { allOf, inScope, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { lockPoolNights, moveInventory } from './inventory.ts'

export type OversellRange = { propertyId: string; unitPoolId: string; from: string; to: string; quantity: number }

type Filter = Paging & {
  propertyId: string
  unitPoolId?: string | undefined
  /** Both included; nights before the business date are left out anyway. */
  from?: string | undefined
  to?: string | undefined
  /** The records that the caller's role is for. */
  scope: Scope
}

/** Planned overbooking from the business date on: neighbouring nights of a pool with the same quantity are one range. */
export const readOversell = async (
  trx: Trx,
  { propertyId, unitPoolId, from, to, scope, page, limit }: Filter,
): Promise<{ total: number; rows: OversellRange[] }> => {
  const given = allOf([
    ...inScope(scope, 'p.property_id'),
    ...where('p.property_id = ?', propertyId),
    ...where('p.id = ?', unitPoolId),
    ...where('n.night >= ?::date', from),
    ...where('n.night <= ?::date', to),
  ])
  const found = await sqlOne<{ total: number; rows: OversellRange[] }>(
    trx,
    `with nights as (
       select p.property_id, n.pool_id, n.night, n.oversell,
         n.night - (row_number() over (partition by n.pool_id, n.oversell order by n.night))::int as stretch
       from pool_night n
       join unit_pool p on p.tenant_id = n.tenant_id and p.id = n.pool_id
       join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
       where n.oversell > 0 and n.night >= coalesce(y.business_date, (now() at time zone y.timezone)::date)
         and ${given.text}),
     ranges as (
       select property_id, pool_id, min(night) as first, max(night) as last, oversell from nights
       group by property_id, pool_id, oversell, stretch),
     page as (select * from ranges order by property_id, pool_id, first limit ? offset ?)
     select (select count(*) from ranges) as total,
       (select coalesce(jsonb_agg(jsonb_build_object('propertyId', property_id, 'unitPoolId', pool_id, 'from', first, 'to', last, 'quantity', oversell)
          order by property_id, pool_id, first), '[]') from page) as rows`,
    [...given.values, limit, (page - 1) * limit],
  )
  return found ?? { total: 0, rows: [] }
}

/**
 * Sets how much more than there is may be sold of a pool on some nights. What is taken beyond it already stays, as forced. Answers how
 * many nights have changed.
 */
export const setOversell = async (
  trx: Trx,
  poolId: string,
  nights: readonly string[],
  quantity: number,
): Promise<number> => {
  const keys = nights.map((night) => ({ poolId, night }))
  const present = new Map((await lockPoolNights(trx, keys)).map((row) => [row.night, row.oversell]))
  const moves = keys.map((key) => ({ ...key, oversell: quantity - (present.get(key.night) ?? 0) }))
  return (await moveInventory(trx, moves, { force: true })).length
}

/** A pool of units of a property; null where it has none of that id. */
export const unitPoolOf = (trx: Trx, propertyId: string, id: string) =>
  sqlOne<{ id: string }>(trx, `select id from unit_pool where id = ? and property_id = ? and kind = 'unit'`, [
    id,
    propertyId,
  ])
