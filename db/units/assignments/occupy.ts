import { unprocessable } from '../../../config/errors.ts'
import { unitOccupancyChanged } from '../../../config/events/units.ts'
import { contextOf, later, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { createTasks } from '../housekeeping-tasks/create.ts'
import { skipService } from '../housekeeping-tasks/moves.ts'
import { tellUnassigned } from '../stay-events.ts'
import { holdUnits, stateOf, writeConditions } from '../unit-conditions.ts'
import type { Condition } from '../unit-conditions.ts'

/** First number of the advisory lock of a pool's units. */
const poolClass = 7103

/** Assignments that keep others out, as a list for SQL. */
export const live = `('proposed', 'locked', 'occupied', 'blocked')`

/**
 * Rows `a` that add units to those of a guest in the house, as the other beds of a room do: the guest stays in one of the pool. A unit that follows another one is
 * moved into by hand.
 */
export const isAdded = `(a.status in ('proposed', 'locked') and exists (select from unit_assignment o
  join unit v on v.tenant_id = o.tenant_id and v.id = o.unit_id join unit w on w.tenant_id = a.tenant_id and w.id = a.unit_id and w.unit_pool_id = v.unit_pool_id
  where o.tenant_id = a.tenant_id and o.reservation_id = a.reservation_id and o.status = 'occupied' and o.ends_on > a.starts_on))`

/** Serialises commands that assign or release units of pools. Taken after the pools' nights, in the order of ids. */
export const lockPools = async (trx: Trx, poolIds: readonly string[]): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await sql(
    trx,
    `select pg_advisory_xact_lock(?, hashtext(k.key)) from (select ? || ' ' || id as key from unnest(?::text[]) id order by id) k`,
    [poolClass, tenantId, [...new Set(poolIds)]],
  )
}

type Held = { id: string; unitId: string; propertyId: string }

/** Rows of a reservation with the property of their units, locked by id after the units. */
export const lockRows = async (
  trx: Trx,
  reservationIds: readonly string[],
  condition: string,
  values: unknown[] = [],
) => {
  // Under the pools' locks, since commands that wait for a row would miss it if it moved meanwhile.
  const pools = await sql<{ poolId: string }>(
    trx,
    `select distinct u.unit_pool_id as pool_id from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.reservation_id = any(?::uuid[]) and ${condition}`,
    [reservationIds, ...values],
  )
  // Together: each statement begins once the one before has its locks, and sees what was committed by then.
  const [, , rows] = await Promise.all([
    lockPools(
      trx,
      pools.map((one) => one.poolId),
    ),
    sql(
      trx,
      `select u.id from unit u where u.id in (select a.unit_id from unit_assignment a where a.reservation_id = any(?::uuid[]) and ${condition})
     order by u.id for no key update`,
      [reservationIds, ...values],
    ),
    sql<Held & { reservationId: string }>(
      trx,
      `select a.id, a.unit_id, a.reservation_id, u.property_id from unit_assignment a
     join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.reservation_id = any(?::uuid[]) and ${condition} order by a.id for update of a`,
      [reservationIds, ...values],
    ),
  ])
  return rows
}

/**
 * A night audit wakes units for the day that comes before the day has begun. A guest that moves into one, or out of it, between that and the roll changes its
 * morning: it is due once more, and what the roll asks for finds it (`daily-tasks.ts`). The units are held.
 */
const wakeAnew = (trx: Trx, unitIds: readonly string[]) =>
  later(
    trx,
    `update unit u set rolled_on = y.business_date from property y
     where u.id = any(?::uuid[]) and y.tenant_id = u.tenant_id and y.id = u.property_id and u.rolled_on > y.business_date`,
    [unitIds],
  )

/** Tells of units that a guest moved into or out of, and of what they are by it. */
export const announceOccupancy = async (
  trx: Trx,
  occupancy: 'occupied' | 'vacant',
  moved: readonly { unitId: string; propertyId: string; reservationId: string }[],
): Promise<void> => {
  if (moved.length === 0) return
  const units = await holdUnits(
    trx,
    moved.map((one) => one.unitId),
  )
  wakeAnew(
    trx,
    units.map((unit) => unit.id),
  )
  const now = new Map(units.map((unit) => [unit.id, unit]))
  await emitAll(
    trx,
    unitOccupancyChanged,
    moved.flatMap(({ unitId }) => {
      const unit = now.get(unitId)
      return unit ? [stateOf({ ...unit, occupancy })] : []
    }),
  )
}

/**
 * Check-in: the units that a stay is to have tonight become occupied. The reservation is locked by the caller, who has asked `assignUnits` for what
 * it lacks. 422 `unit_not_assigned`, or `unit_occupied` where the guest before has not left. Answers the units; a repeated call changes nothing.
 */
export const occupy = async (
  trx: Trx,
  reservationId: string,
  { businessDate }: { businessDate: string },
): Promise<string[]> => {
  const tonight = `a.status in ('proposed', 'locked', 'occupied') and a.starts_on <= ?::date and a.ends_on > ?::date`
  const rows = await lockRows(trx, [reservationId], tonight, [businessDate, businessDate])
  const unitIds = rows.map((row) => row.unitId)
  await refuseOccupancy(trx, reservationId, businessDate, unitIds)
  const changed = new Set(
    (
      await sql<{ id: string }>(
        trx,
        `update unit_assignment set status = 'occupied' where id = any(?::uuid[]) and status <> 'occupied' returning id`,
        [rows.map((row) => row.id)],
      )
    ).map((row) => row.id),
  )
  await announceOccupancy(
    trx,
    'occupied',
    rows.filter((row) => changed.has(row.id)),
  )
  return unitIds
}

const refuseOccupancy = async (trx: Trx, reservationId: string, businessDate: string, unitIds: string[]) => {
  const [[short], taken] = await Promise.all([
    sql<{ missing: number }>(
      trx,
      `select coalesce(sum(s.quantity), 1)::int - ? as missing from reservation_night n
     join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
     where n.reservation_id = ? and n.date = ?::date and n.status <> 'released'`,
      [unitIds.length, reservationId, businessDate],
    ),
    sql<{ name: string }>(
      trx,
      `select u.name from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.unit_id = any(?::uuid[]) and a.status = 'occupied' and a.reservation_id <> ?`,
      [unitIds, reservationId],
    ),
  ])
  if (unitIds.length === 0 || (short?.missing ?? 0) > 0)
    throw unprocessable('unit_not_assigned', 'The stay has no unit for tonight; assign one first')
  if (taken.length > 0)
    throw unprocessable(
      'unit_occupied',
      'The guest before has not left',
      taken.map(({ name }) => ({ field: 'unitId', message: `${name} is occupied` })),
    )
}

/**
 * Check-out: occupied units become vacant and dirty, their wishes end, and what the stay had still before it is released. A row that began today keeps its
 * first night, as ended rows keep no other guest out: the unit can be given to another guest this evening. A departure task is made. Units that were added on nights
 * before were the guest's, too. `until`: the day after the last night that was slept, where the night audit has not closed it. Answers the units.
 */
export const vacate = async (
  trx: Trx,
  reservationId: string,
  { businessDate, until = businessDate }: { businessDate: string; until?: string },
): Promise<string[]> => {
  const rows = await lockRows(trx, [reservationId], `(a.status = 'occupied' or ${isAdded} and a.starts_on < ?::date)`, [
    until,
  ])
  await endOccupied(trx, rows, until > businessDate ? until : businessDate)
  await createTasks(
    trx,
    rows.map(({ unitId }) => ({ unitId, date: businessDate, kind: 'departure' as const, reservationId })),
  )
  await Promise.all([
    skipService(trx, reservationId, { unitIds: rows.map((row) => row.unitId), date: businessDate }),
    sql(
      trx,
      `update unit_assignment set status = 'released' where reservation_id = ? and status in ('proposed', 'locked')`,
      [reservationId],
    ),
    sql(trx, `delete from stranded_stay where reservation_id = ?`, [reservationId]),
  ])
  await announceOccupancy(trx, 'vacant', rows)
  return rows.map((row) => row.unitId)
}

/** A guest in the house leaves some of their units today: these are vacant and dirty, with a departure task each. The rows and units are locked. */
export const leaveUnits = async (
  trx: Trx,
  reservationId: string,
  rows: readonly Held[],
  businessDate: string,
): Promise<void> => {
  await endOccupied(trx, rows, businessDate)
  await createTasks(
    trx,
    rows.map(({ unitId }) => ({ unitId, date: businessDate, kind: 'departure' as const, reservationId })),
  )
  await skipService(trx, reservationId, { unitIds: rows.map((row) => row.unitId), date: businessDate })
  await announceOccupancy(
    trx,
    'vacant',
    rows.map((row) => ({ ...row, reservationId })),
  )
}

/** Ends occupied rows today and leaves their units dirty. The rows and units are locked. */
export const endOccupied = async (
  trx: Trx,
  rows: readonly Pick<Held, 'id' | 'unitId'>[],
  businessDate: string,
): Promise<void> => {
  if (rows.length === 0) return
  await Promise.all([
    sql(
      trx,
      `update unit_assignment set status = 'ended', during = daterange(starts_on, greatest(starts_on + 1, ?::date)) where id = any(?::uuid[])`,
      [businessDate, rows.map((row) => row.id)],
    ),
    soil(
      trx,
      rows.map((row) => row.unitId),
    ),
  ])
}

/** Marks used units dirty, unless told otherwise, and ends the wishes of the departed guest. The units are locked. */
export const soil = async (trx: Trx, unitIds: readonly string[], condition: Condition = 'dirty'): Promise<void> => {
  const [, held] = await Promise.all([
    sql(
      trx,
      `update unit set do_not_disturb = false, make_up_requested = false where id = any(?::uuid[]) and (do_not_disturb or make_up_requested)`,
      [unitIds],
    ),
    holdUnits(trx, unitIds),
  ])
  await writeConditions(
    trx,
    held.map((unit) => ({ unit, condition })),
  )
}

/** Locks the units that `releaseUnits` frees, for a command that ends several bookings. */
export const lockUnitsOf = (trx: Trx, reservationIds: readonly string[]) =>
  lockRows(trx, reservationIds, `a.status in ('proposed', 'locked')`)

/** Cancelled, not come, or amended: proposed and locked units of reservations are free again. */
export const releaseUnits = async (trx: Trx, reservationIds: readonly string[]): Promise<void> => {
  const rows = await lockUnitsOf(trx, reservationIds)
  await sql(trx, `delete from stranded_stay where reservation_id = any(?::uuid[])`, [reservationIds])
  if (rows.length === 0) return
  await sql(trx, `update unit_assignment set status = 'released' where id = any(?::uuid[])`, [
    rows.map((row) => row.id),
  ])
  await tellUnassigned(trx, rows)
}
