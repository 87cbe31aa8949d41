import { invalid, unprocessable } from '../../config/errors.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { prepared, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { statusOf } from '../lib/locked-property.ts'
import { live } from './assignments/occupy.ts'
import { widestGap } from './rules/unit-packing.ts'
import { fromUnits, presentDay } from './state.ts'
import type { UnitState } from './state.ts'
import type { UnitRecord } from './units/read.ts'

export type Search = {
  poolIds: readonly string[]
  from: string
  to: string
  /** Units of this type come first. */
  unitTypeId: string | null
  /** Proposed rows of this stay are not in the way, and units that it has come first; `beside: 'all'` ignores its other rows as well. */
  reservationId?: string | undefined
  beside?: 'all' | undefined
  condition?: string | undefined
  limit: number
}
export type FreeUnit = Pick<UnitRecord, 'name' | 'floor' | 'building' | 'attributes' | 'condition' | 'unitTypeId'> &
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
  prepared<FreeUnit>(
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
       coalesce(u.unit_type_id = cast(:unitTypeId as uuid), false) desc, least(:widestGap, coalesce(w."from" - b.at, :widestGap)) + least(:widestGap, coalesce(n.at - w."to", :widestGap)),
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

export type Wanted = {
  propertyId: string
  /** Default: the days of the stay. */
  from?: string | undefined
  to?: string | undefined
  unitTypeId?: string | undefined
  reservationId?: string | undefined
  condition?: string | undefined
}

const unknown = (field: string) =>
  unprocessable('reference_not_found', 'The property has no such record', [{ field, message: 'is not known here' }])

/** Free units for a type, for a stay, or of a whole house. 422 where the property does not have the type or the stay. */
export const unitsFor = async (
  trx: Trx,
  { propertyId, unitTypeId, reservationId, condition, ...days }: Wanted,
  scope: Condition,
  limit: number,
): Promise<FreeUnit[]> => {
  const stay =
    reservationId === undefined
      ? null
      : await sqlOne<{ unitTypeId: string; arrival: string; departure: string }>(
          trx,
          // The type that its next night is sold as: after a move another than the booked one.
          `select coalesce((select n.unit_type_id from reservation_night n where n.tenant_id = r.tenant_id and n.reservation_id = r.id
               and n.status <> 'released' and n.date >= greatest(${presentDay('y')}, ?::date) order by n.date limit 1), r.unit_type_id) as unit_type_id,
             r.arrival, r.departure
           from reservation r join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
           where r.id = ? and r.property_id = ? and ?`,
          [days.from ?? null, reservationId, propertyId, whereOf(scope, { propertyId: 'r.property_id' })],
        )
  if (reservationId !== undefined && !stay) throw unknown('reservationId')
  const type = stay?.unitTypeId ?? unitTypeId
  const pools = await sql<{ id: string }>(
    trx,
    `select p.id from unit_pool p where p.property_id = ? and p.kind = 'unit' and ?
       and (?::uuid is null or exists (select from unit_type_pool s where s.tenant_id = p.tenant_id and s.unit_pool_id = p.id and s.unit_type_id = ?::uuid))`,
    [propertyId, whereOf(scope, { propertyId: 'p.property_id' }), type ?? null, type ?? null],
  )
  if (pools.length === 0) await statusOf(trx, propertyId)
  if (type !== undefined && pools.length === 0) throw unknown('unitTypeId')
  const [from, to] = [days.from ?? stay?.arrival ?? '', days.to ?? stay?.departure ?? '']
  if (to <= from) throw invalid([{ field: 'to', message: 'must be after from' }])
  return freeUnits(trx, {
    poolIds: pools.map((pool) => pool.id),
    from,
    to,
    unitTypeId: type ?? null,
    reservationId,
    beside: 'all',
    condition,
    limit,
  })
}
