import { ApiError, conflict, overtaken, renamedField, unprocessable } from '../../../config/errors.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { UnitRow } from '../../rows.ts'
import type { Task } from '../housekeeping-tasks/read.ts'
import { createTasks } from '../housekeeping-tasks/create.ts'
import { skipHeld, skipService } from '../housekeeping-tasks/moves.ts'
import { tellAssigned } from '../stay-events.ts'
import { holdUnit } from '../unit-conditions.ts'
import { clearUnits } from './clear.ts'
import { announceOccupancy, endOccupied, lockPools, lockRows, soil } from './occupy.ts'
import { takeIn } from './take-in.ts'

type Moving = {
  reservationId: string
  unitId: string
  from: string
  to: string
  businessDate: string
  /** Judges a unit that the guest comes into at once; may throw. It is held. */
  judge?: (unit: Pick<UnitRow, 'name' | 'condition'>) => void
}

type Row = {
  id: string
  unitId: string
  poolId: string
  propertyId: string
  reservationId: string
  status: string
  from: string
  to: string
}

/** Rows of a stay from a night on. `inside`: also that of a unit that the guest is still in, though another one was to follow it by now. */
const rowsOf = (trx: Trx, reservationId: string, { from, inside }: { from: string; inside: boolean }, lock = '') =>
  sql<Row>(
    trx,
    `select a.id, a.unit_id, u.unit_pool_id as pool_id, u.property_id, a.reservation_id, a.status, a.starts_on as "from", a.ends_on as "to"
     from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.reservation_id = ? and a.status in ('proposed', 'locked', 'occupied')
       and (a.ends_on > ?::date or (a.status = 'occupied' and ?::boolean)) order by a.id ${lock}`,
    [reservationId, from, inside],
  )

type Standing = Pick<UnitRow, 'id' | 'unitPoolId' | 'status' | 'activeFrom' | 'activeUntil' | 'name' | 'condition'>

/** Refuses a unit that was archived, given other days or another pool since it was chosen. It is held. */
const refuseGone = (
  unit: Standing | undefined,
  { poolId, from, to }: { poolId: string | undefined; from: string; to: string },
): void => {
  if (unit?.unitPoolId !== poolId) throw overtaken()
  if (unit?.status !== 'active' || unit.activeFrom > from || (unit.activeUntil !== null && unit.activeUntil < to))
    throw conflict('unit_conflict', 'The unit is not there on all days of the stay')
}

const occupiedByOther = (trx: Trx, unitIds: readonly string[], reservationId: string) =>
  sql<{ name: string }>(
    trx,
    `select u.name from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.unit_id = any(?::uuid[]) and a.status = 'occupied' and a.reservation_id <> ?`,
    [unitIds, reservationId],
  )

const refuseOccupied = async (trx: Trx, unitId: string, reservationId: string) => {
  const [before] = await occupiedByOther(trx, [unitId], reservationId)
  if (before)
    throw unprocessable('unit_occupied', 'The guest before has not left', [
      { field: 'unitId', message: `${before.name} is occupied` },
    ])
}

/** Tells whether a unit was given to the stay beside another one of its pool, which the guest keeps. */
const isAddition = (here: readonly Row[], unitId: string): boolean =>
  here.some(
    (row) =>
      row.unitId === unitId &&
      row.status !== 'occupied' &&
      here.some((other) => other.status === 'occupied' && other.poolId === row.poolId),
  )

/** The service of the day that a guest wanted no more, who has not left after all. */
const serveAgain = async (
  trx: Trx,
  unitIds: readonly string[],
  { reservationId, businessDate }: Pick<Returning, 'reservationId' | 'businessDate'>,
): Promise<void> => {
  const skipped = await sql<Pick<Task, 'unitId' | 'kind'>>(
    trx,
    `select distinct unit_id, kind from housekeeping_task where unit_id = any(?::uuid[]) and date = ?::date and kind in ('stayover', 'turndown')
       and reservation_id = ? and skip_reason = 'not_needed'`,
    [unitIds, businessDate, reservationId],
  )
  await createTasks(
    trx,
    skipped.map(({ unitId, kind }) => ({ unitId, date: businessDate, kind, reservationId })),
  )
}

/**
 * Gives a guest in the house another unit from a night on: at once where that is the business date, and the old unit is dirty; else the unit is promised for
 * those nights. A unit that is added to the guest's is taken in, and none is left. The reservation is locked. 409 `unit_conflict`; 422 `unit_occupied` where the guest before has not left, `unit_type_mismatch` where the stay
 * takes several units. Answers the units that it leaves.
 */
export const moveUnit = async (
  trx: Trx,
  { reservationId, unitId, from, to, businessDate, judge }: Moving,
): Promise<string[]> => {
  const isNow = from <= businessDate
  const standing = { from, inside: isNow }
  const planned = await rowsOf(trx, reservationId, standing)
  const target = await sql<{ poolId: string }>(trx, `select unit_pool_id as pool_id from unit where id = ?`, [unitId])
  await lockPools(
    trx,
    [...planned, ...target].map((one) => one.poolId),
  )
  const rows = await rowsOf(trx, reservationId, standing, 'for update of a')
  const held = await sql<Standing>(
    trx,
    `select id, unit_pool_id, status, active_from, active_until, name, condition from unit where id = any(?::uuid[]) order by id for no key update`,
    [[unitId, ...rows.map((row) => row.unitId)]],
  )
  const wanted = held.find((unit) => unit.id === unitId)
  refuseGone(wanted, { poolId: target[0]?.poolId, from, to })
  const here = rows.filter((row) => row.from <= from && row.to > from)
  if (isNow && isAddition(here, unitId)) {
    await refuseOccupied(trx, unitId, reservationId)
    await takeIn(trx, reservationId)
    return []
  }
  if (here.length > 1 || rows.filter((row) => row.status === 'occupied').length > 1)
    throw unprocessable('unit_type_mismatch', 'The stay takes several units; exchange them one by one')
  if (here.some((row) => row.unitId === unitId && row.to >= to && (row.status === 'occupied' || !isNow)))
    throw conflict('unit_conflict', 'The stay has this unit already')
  if (isNow) await refuseOccupied(trx, unitId, reservationId)
  if (isNow && wanted) judge?.(wanted)
  await clearUnits(trx, { unitIds: [unitId], from, to, reservationId }).catch((error: unknown) => {
    throw renamedField(error, 'unitIds', 'unitId')
  })
  const left = rows.filter((row) => row.status === 'occupied' && isNow)
  await endOccupied(trx, left, businessDate)
  await sql(
    trx,
    `update unit_assignment set during = daterange(starts_on, ?::date) where id = any(?::uuid[]) and starts_on < ?::date`,
    [from, rows.filter((row) => !left.includes(row)).map((row) => row.id), from],
  )
  await sql(
    trx,
    `update unit_assignment set status = 'released' where id = any(?::uuid[]) and status in ('proposed', 'locked') and starts_on >= ?::date`,
    [rows.map((row) => row.id), from],
  )
  await sql(
    trx,
    `insert into unit_assignment (unit_id, reservation_id, during, status) values (?, ?, daterange(?::date, ?::date), ?)`,
    [unitId, reservationId, from, to, isNow ? 'occupied' : 'locked'],
  )
  await createTasks(
    trx,
    left.map((row) => ({ unitId: row.unitId, date: businessDate, kind: 'departure' as const, reservationId })),
  )
  await skipService(trx, reservationId, { unitIds: left.map((row) => row.unitId), date: businessDate })
  await announceOccupancy(trx, 'vacant', left)
  const [house] = rows
  if (isNow && house)
    await announceOccupancy(trx, 'occupied', [{ unitId, propertyId: house.propertyId, reservationId }])
  else await tellAssigned(trx, [{ reservationId, unitId }], true)
  return left.map((row) => row.unitId)
}

/** Takes a check-in back: the units are vacant, dirty and promised to the stay again. */
export const unoccupy = async (trx: Trx, reservationId: string): Promise<void> => {
  const rows = await lockRows(trx, [reservationId], `a.status = 'occupied'`)
  await sql(trx, `update unit_assignment set status = 'locked' where id = any(?::uuid[])`, [rows.map((row) => row.id)])
  await soil(
    trx,
    rows.map((row) => row.unitId),
  )
  await announceOccupancy(trx, 'vacant', rows)
}

/** Rows that ended with the check-out, in its transaction: an earlier move may have begun later, and waited less. */
const leftAtCheckOut = `a.status = 'ended' and a.updated_at = (select r.actual_check_out_at from reservation r where r.tenant_id = a.tenant_id and r.id = a.reservation_id)`

type Returning = { reservationId: string; businessDate: string; departure: string }

/** A unit among those that a stay left which it cannot have again, as it is taken, gone, or of another type by now; null where all are free to it. */
const lostUnit = async (
  trx: Trx,
  unitIds: readonly string[],
  { reservationId, businessDate, departure }: Returning,
): Promise<string | null> => {
  if (unitIds.length === 0) return 'is not known any more'
  const [taken] = await occupiedByOther(trx, unitIds, reservationId)
  if (taken) return `${taken.name} is occupied`
  const [gone] = await sql<{ name: string }>(
    trx,
    `select u.name from unit u where u.id = any(?::uuid[]) and (u.status <> 'active' or u.active_from > ?::date or u.active_until < ?::date
       or not exists (select from reservation_night n join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
         where n.reservation_id = ? and s.unit_pool_id = u.unit_pool_id)) order by u.name limit 1`,
    [unitIds, businessDate, departure, reservationId],
  )
  return gone ? `${gone.name} is not there for the stay any more` : null
}

/**
 * The day up to which units are the guest's again, by unit: the departure, or the first night that is sold as a type which the unit is not of, where another one
 * was to follow.
 */
const daysBack = async (
  trx: Trx,
  unitIds: readonly string[],
  { reservationId, businessDate, departure }: Returning,
): Promise<Map<string, string>> => {
  const rows = await sql<{ unitId: string; to: string }>(
    trx,
    `select u.id as unit_id, coalesce((select min(n.date) from reservation_night n where n.tenant_id = u.tenant_id and n.reservation_id = ? and n.date >= ?::date and n.status <> 'charged'
       and not exists (select from unit_type_pool s where s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id and s.unit_pool_id = u.unit_pool_id)),
       ?::date) as "to" from unit u where u.id = any(?::uuid[])`,
    [reservationId, businessDate, departure, unitIds],
  )
  return new Map(rows.map(({ unitId, to }) => [unitId, to]))
}

/** Makes room in units for a guest who comes back to them. 409 `unit_conflict`. */
const clearFor = async (
  trx: Trx,
  back: ReadonlyMap<string, string>,
  { reservationId, businessDate: from, dryRun = false }: Returning & { dryRun?: boolean },
): Promise<void> => {
  for (const to of [...new Set(back.values())].toSorted()) {
    const unitIds = [...back].flatMap(([unitId, until]) => (until === to ? [unitId] : []))
    if (to > from) await clearUnits(trx, { unitIds, from, to, reservationId, dryRun })
  }
}

/** Tells whether `reoccupy` would find the units of a stay that has left. Changes nothing. */
export const mayReoccupy = async (trx: Trx, back: Returning): Promise<boolean> => {
  const rows = await sql<{ unitId: string }>(
    trx,
    `select a.unit_id from unit_assignment a where a.reservation_id = ? and ${leftAtCheckOut}`,
    [back.reservationId],
  )
  const unitIds = rows.map((row) => row.unitId)
  if ((await lostUnit(trx, unitIds, back)) !== null) return false
  return clearFor(trx, await daysBack(trx, unitIds, back), { ...back, dryRun: true }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'unit_conflict') return false
      throw error
    },
  )
}

/**
 * Takes a check-out back: the units that the guest left with it are occupied again as long as they are sold to the stay, and their departure tasks are skipped. 409
 * `unit_conflict` where one is promised or given to another by now, or is not there any more.
 */
export const reoccupy = async (
  trx: Trx,
  reservationId: string,
  days: { businessDate: string; departure: string },
): Promise<void> => {
  const rows = await lockRows(trx, [reservationId], leftAtCheckOut)
  const unitIds = rows.map((row) => row.unitId)
  const lost = await lostUnit(trx, unitIds, { reservationId, ...days })
  if (lost !== null)
    throw conflict('unit_conflict', 'The unit is not free for the guest any more', [{ field: 'unitId', message: lost }])
  const back = await daysBack(trx, unitIds, { reservationId, ...days })
  await clearFor(trx, back, { reservationId, ...days })
  await sql(
    trx,
    `update unit_assignment a set status = 'occupied', during = daterange(a.starts_on, greatest(a.starts_on + 1, v."to"))
     from unnest(?::uuid[], ?::date[]) as v (id, "to") where a.id = v.id`,
    [rows.map((row) => row.id), rows.map((row) => back.get(row.unitId) ?? days.departure)],
  )
  for (const { unitId } of rows) {
    const tasks = await sql<Task>(
      trx,
      `select * from housekeeping_task where unit_id = ? and reservation_id = ? and kind = 'departure' and status in ('open', 'started')
       order by id for no key update`,
      [unitId, reservationId],
    )
    if (tasks.length > 0) await skipHeld(trx, tasks, await holdUnit(trx, unitId), 'not_needed')
  }
  await serveAgain(trx, unitIds, { reservationId, ...days })
  await announceOccupancy(trx, 'occupied', rows)
}
