import { settingsOf } from '../../config/property-settings.ts'
import { todayIn } from '../../config/time.ts'

export const unitConditions = ['dirty', 'cleaning', 'clean', 'inspected', 'pickup'] as const
export const unitOccupancies = ['occupied', 'vacant'] as const
export const unitServices = ['in_service', 'out_of_service', 'out_of_order'] as const

/** State of a unit at this moment, derived when it is read and never stored. */
export type UnitState = {
  /** Occupied from check-in to check-out or move, also where the stay goes on past its last night. */
  occupancy: (typeof unitOccupancies)[number]
  /** From the block that covers the business date. */
  service: (typeof unitServices)[number]
  /** A guest can be given the key: vacant, in service, and inspected, or clean where the house does not inspect. */
  ready: boolean
  /** Sleep: seen occupied but vacant; skip: seen vacant but occupied. What was seen before the last check-in, check-out or move says nothing. */
  discrepancy: 'sleep' | 'skip' | null
}

const inspects = settingsOf({}).housekeeping.inspection

/** The day that a property is on: its business date, or today in its zone while it has none yet. `alias` names the property. */
export const presentDay = (alias: string): string =>
  `coalesce(${alias}.business_date, (now() at time zone ${alias}.timezone)::date)`

/** The business date of a property that was read already; before the first one, the local date. */
export const presentDayOf = (property: { businessDate: string | null; timezone: string; now: Date }): string =>
  property.businessDate ?? todayIn(property.timezone, property.now)

/** Columns of `UnitState` in a statement that stands on `fromUnits`. */
export const stateColumns = 's.occupancy, s.service, s.ready, s.discrepancy'

/**
 * Units `u` with their property `y`, its day `d.today`, and the state `s` of each; conditions, order and page follow. One look at the live assignments of
 * each unit, however many stays have gone through it.
 */
export const fromUnits = `unit u
  join property y on y.tenant_id = u.tenant_id and y.id = u.property_id
  cross join lateral (select ${presentDay('y')} as today,
    coalesce((y.settings #>> '{housekeeping,inspection}')::boolean, ${inspects}) as inspects) d
  cross join lateral (
    select coalesce(bool_or(a.status = 'occupied' and lower(a.during) <= d.today), false) as occupied, max(b.kind) as blocked
    from unit_assignment a
    left join unit_block b on b.tenant_id = a.tenant_id and b.id = a.unit_block_id and a.status = 'blocked' and a.during @> d.today
    where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status in ('occupied', 'blocked')) l
  cross join lateral (
    select case when l.occupied then 'occupied' else 'vacant' end as occupancy, coalesce(l.blocked, 'in_service') as service,
      not l.occupied and l.blocked is null and (u.condition = 'inspected' or (u.condition = 'clean' and not d.inspects)) as ready,
      case when u.observed_occupancy is null or (u.observed_occupancy = 'occupied') = l.occupied then null
        when u.observed_at < (select max(c.updated_at) from unit_assignment c
          where c.tenant_id = u.tenant_id and c.unit_id = u.id and c.status in ('occupied', 'ended')) then null
        when u.observed_occupancy = 'occupied' then 'sleep' when u.observed_occupancy = 'vacant' then 'skip' end as discrepancy) s`
