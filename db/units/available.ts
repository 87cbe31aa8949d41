import { unprocessable } from '../../config/errors.ts'
import { sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import type { UnitRow } from '../rows.ts'
import { live } from './assignments.ts'
import { widestGap } from './fit.ts'
import { fromUnits } from './state.ts'
import type { UnitState } from './state.ts'

export type Search = {
  poolIds: readonly string[]
  from: string
  to: string
  /** Units of this type come first. */
  unitTypeId: string
  /** Proposed rows of this stay are not in the way, and units that it has come first; `beside: 'all'` ignores its other rows as well. */
  reservationId?: string | undefined
  beside?: 'all' | undefined
  condition?: string | undefined
  limit: number
}
export type FreeUnit = Pick<UnitRow, 'name' | 'floor' | 'building' | 'attributes' | 'condition' | 'unitTypeId'> &
  Pick<UnitState, 'ready'> & {
    unitId: string
    unitPoolId: string
    /** Free days before and after, as far as the next stay or block; null where there is none. */
    gapBefore: number | null
    gapAfter: number | null
  }

const others = `(a.reservation_id is distinct from w.reservation_id or a.status <> all(w.ignored))`

/**
 * Units of pools that are free on `[from, to)`, best fit first (R8): own units of the type, then the smallest gap before and after, then the units in
 * their order. A unit whose guest should have left is not free tonight.
 */
export const freeUnits = (
  trx: Trx,
  { poolIds, from, to, unitTypeId, reservationId, beside, condition, limit }: Search,
): Promise<FreeUnit[]> =>
  sql<FreeUnit>(
    trx,
    `with wanted as (select cast(:from as date) as "from", cast(:to as date) as "to", cast(:reservationId as uuid) as reservation_id, cast(:ignored as text[]) as ignored)
     select u.id as unit_id, u.name, u.floor, u.building, u.attributes, u.condition, u.unit_type_id, u.unit_pool_id, s.ready,
       w."from" - b.at as gap_before, n.at - w."to" as gap_after
     from wanted w cross join (${fromUnits})
     left join lateral (select a.ends_on as at from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status in ${live}
       and a.ends_on <= w."from" and ${others} order by a.ends_on desc limit 1) b on true
     left join lateral (select a.starts_on as at from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status in ${live}
       and a.ends_on > w."to" and a.starts_on >= w."to" and ${others} order by a.ends_on limit 1) n on true
     where u.unit_pool_id = any(cast(:poolIds as uuid[])) and u.status = 'active' and u.active_from <= w."from" and (u.active_until is null or u.active_until >= w."to")
       and not exists (select from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status in ${live}
         and a.ends_on > w."from" and a.starts_on < w."to" and ${others})
       and (w."from" > d.today or not exists (select from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status = 'occupied'
         and a.ends_on < d.today and ${others}))
       and (cast(:condition as text) is null or u.condition = :condition)
     order by exists (select from unit_assignment a where a.tenant_id = u.tenant_id and a.reservation_id = w.reservation_id and a.unit_id = u.id and a.status = any(w.ignored)) desc,
       u.unit_type_id = :unitTypeId desc, least(:widestGap, coalesce(w."from" - b.at, :widestGap)) + least(:widestGap, coalesce(n.at - w."to", :widestGap)),
       u.position, u.name, u.id limit :limit`,
    {
      from,
      to,
      poolIds,
      unitTypeId,
      widestGap,
      limit,
      reservationId: reservationId ?? null,
      condition: condition ?? null,
      ignored: beside === 'all' ? ['proposed', 'locked', 'occupied'] : ['proposed'],
    },
  )

type Place = { poolIds: string[]; propertyId: string }

/** Pools that serve a type of a property. 422 where it is not one of its types. */
export const poolsOfType = async (trx: Trx, propertyId: string, unitTypeId: string): Promise<string[]> => {
  const place = await sqlOne<Place>(
    trx,
    `select t.property_id, array(select s.unit_pool_id from unit_type_pool s where s.tenant_id = t.tenant_id and s.unit_type_id = t.id order by 1) as pool_ids
     from unit_type t where t.id = ? and t.property_id = ?`,
    [unitTypeId, propertyId],
  )
  if (!place)
    throw unprocessable('reference_not_found', 'The property has no such type', [
      { field: 'unitTypeId', message: 'is not a type of the property' },
    ])
  return place.poolIds
}

/** Pools with units of a property. */
export const poolsOfProperty = async (trx: Trx, propertyId: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(trx, `select id from unit_pool where property_id = ? and kind = 'unit' order by id`, [
      propertyId,
    ])
  ).map((row) => row.id)
