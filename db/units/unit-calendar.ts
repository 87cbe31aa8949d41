import { mostStayNights } from '../../config/limits.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { allOf, inScope, where } from '../lib/paging.ts'
import { guestName } from './assignments/read.ts'
import type { AssignmentRecord } from './assignments/read.ts'
import { fromUnits, presentDay, stateColumns } from './state.ts'
import type { UnitState } from './state.ts'
import type { UnitRecord } from './units/read.ts'

export type TapeFilter = {
  propertyId: string
  from: string
  to: string
  unitTypeId?: readonly string[] | undefined
  building?: string | undefined
  floor?: number | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}
export type TapeUnit = Pick<
  UnitRecord,
  'id' | 'name' | 'building' | 'floor' | 'unitTypeId' | 'unitPoolId' | 'condition' | 'attributes'
> &
  UnitState
export type TapeItem = {
  unitId: string
  assignmentId: string
  kind: 'stay' | 'block'
  reservationId: string | null
  unitBlockId: string | null
  from: string
  to: string
  status: Exclude<AssignmentRecord['status'], 'released'>
  guestName: string | null
  arrivalTime: string | null
  departureTime: string | null
}
export type Unassigned = {
  reservationId: string
  unitTypeId: string
  from: string
  to: string
  status: 'confirmed' | 'checked_in'
  guestName: string | null
}

/** Units of a house that stand on one of the days, in the order of its floors; one more than `most` says that there are too many. */
export const tapeUnits = (
  trx: Trx,
  { propertyId, from, to, unitTypeId, building, floor, scope }: TapeFilter,
  most: number,
): Promise<TapeUnit[]> => {
  const given = allOf([
    ...inScope(scope, 'u.property_id'),
    ...where('u.property_id = ?', propertyId),
    ...where('u.active_from < ?::date', to),
    ...where('(u.active_until is null or u.active_until > ?::date)', from),
    ...where('u.unit_type_id = any(?::uuid[])', unitTypeId),
    ...where('u.building = ?', building),
    ...where('u.floor = ?', floor),
  ])
  return sql<TapeUnit>(
    trx,
    `select u.id, u.name, u.building, u.floor, u.unit_type_id, u.unit_pool_id, u.condition, u.attributes, ${stateColumns} from ${fromUnits}
     where u.status = 'active' and ${given.text} order by u.building, u.floor, u.position, u.name, u.id limit ?`,
    [...given.values, most + 1],
  )
}

/** Assignments of units on `[from, to)`, whatever their status, and guests who should have left before. */
export const tapeItems = (trx: Trx, unitIds: readonly string[], from: string, to: string): Promise<TapeItem[]> =>
  sql<TapeItem>(
    trx,
    `select a.unit_id, a.id as assignment_id, case when a.reservation_id is null then 'block' else 'stay' end as kind, a.reservation_id, a.unit_block_id,
       a.starts_on as "from", a.ends_on as "to", a.status, ${guestName} as guest_name, r.arrival_time, r.departure_time
     from unit_assignment a
     left join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id
     left join guest g on g.tenant_id = r.tenant_id and g.id = r.primary_guest_id
     where a.unit_id = any(?::uuid[]) and a.status <> 'released' and a.starts_on < ?::date and (a.ends_on > ?::date or a.status = 'occupied')
     order by a.unit_id, a.starts_on, a.id`,
    [unitIds, to, from],
  )

/** Stays with a night on `[from, to)` that lack a unit for nights to come, by arrival; the first 1,000. */
export const tapeUnassigned = (
  trx: Trx,
  { propertyId, from, to, unitTypeId, scope }: TapeFilter,
): Promise<Unassigned[]> =>
  sql<Unassigned>(
    trx,
    `select r.id as reservation_id, r.unit_type_id, r.arrival as "from", r.departure as "to", r.status, ${guestName} as guest_name
     from reservation r
     join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
     left join guest g on g.tenant_id = r.tenant_id and g.id = r.primary_guest_id
     cross join lateral (select greatest(r.arrival, ${presentDay('y')}) as day) f
     where ? and r.id = any(array(select x.id from reservation x
         where x.property_id = ? and x.arrival < ?::date and x.arrival > ?::date - ${mostStayNights} and x.departure > ?::date))
       and r.status in ('confirmed', 'checked_in') and r.departure > f.day
       and (?::uuid[] is null or r.unit_type_id = any(?::uuid[]))
       and (select sum(s.quantity) from reservation_night n join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
            where n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released' and n.date >= f.day)
         > (select coalesce(sum(least(a.ends_on, r.departure) - greatest(a.starts_on, f.day)), 0) from unit_assignment a
            where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status in ('proposed', 'locked', 'occupied')
              and a.ends_on > f.day and a.starts_on < r.departure)
     order by r.arrival, r.id limit 1000`,
    [
      whereOf(scope, { propertyId: 'r.property_id' }),
      propertyId,
      to,
      from,
      from,
      unitTypeId ?? null,
      unitTypeId ?? null,
    ],
  )
