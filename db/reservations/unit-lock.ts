import {
  conflict,
  invalid,
  notFound,
  overtaken,
  renamedField,
  unprocessable,
  versionConflict,
} from '../../config/errors.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ReservationRow, UnitRow } from '../rows.ts'
import {
  lackingUnits,
  lockPools,
  clearUnits,
  placeStays,
  presentDay,
  releaseUnits,
  tellAssigned,
} from '../units/index.ts'
import { assignUnits, findFree, lockPoolsOf } from './assign.ts'
import { stayLifecycle } from './rules/states.ts'

type Stay = Pick<ReservationRow, 'propertyId' | 'status' | 'unitTypeId' | 'arrival' | 'departure' | 'version'> & {
  today: string
}

const lockStay = async (trx: Trx, reservationId: string, expectedVersion: number | null = null): Promise<Stay> => {
  const stay = await sqlOne<Stay>(
    trx,
    `select r.property_id, r.status, r.unit_type_id, r.arrival, r.departure, r.version, ${presentDay('y')} as today
     from reservation r join property y on y.tenant_id = r.tenant_id and y.id = r.property_id where r.id = ? for no key update of r`,
    [reservationId],
  )
  if (!stay) throw notFound()
  if (expectedVersion !== null && expectedVersion !== stay.version) throw versionConflict(stay.version)
  stayLifecycle.allow('promised a unit', stay.status)
  return stay
}

type Asked = Pick<UnitRow, 'id' | 'propertyId' | 'unitPoolId' | 'status' | 'activeFrom' | 'activeUntil'> & {
  quantity: number | null
}

/** A unit that serves the type of the stay, on all of its days. */
const judge = (unit: Asked | null, stay: Stay, from: string, to: string) => {
  if (unit?.propertyId !== stay.propertyId || unit.status !== 'active')
    throw unprocessable('unit_not_in_property', 'The unit does not belong to the property', [
      { field: 'unitId', message: 'is not an active unit of the property' },
    ])
  if (unit.quantity === null)
    throw unprocessable('unit_type_mismatch', 'The unit is of another type', [
      { field: 'unitId', message: 'does not serve the type that is reserved' },
    ])
  if (unit.activeFrom > from || (unit.activeUntil !== null && unit.activeUntil < to))
    throw conflict('unit_conflict', 'The unit is not there on all days of the stay', [
      { field: 'unitId', message: 'is not active on all days of the stay' },
    ])
  return { ...unit, quantity: unit.quantity }
}

export type Part = {
  /** Nights `[from, to)` of the stay; all that are to come unless said. */
  from?: string | undefined
  to?: string | undefined
  /** Promised: the system never moves it. Else it is proposed, and gives way to others. */
  lock?: boolean
  expectedVersion?: number | null
}

/** The nights of a part of a stay that are to come. 400 for days that are none of them. */
const partOf = (stay: Stay, { from, to }: Part): { from: string; to: string } => {
  const first = stay.arrival > stay.today ? stay.arrival : stay.today
  const part = { from: from ?? first, to: to ?? stay.departure }
  if (part.from < first) throw invalid([{ field: 'from', message: `must not be before ${first}` }])
  if (part.to > stay.departure) throw invalid([{ field: 'to', message: `must not be after ${stay.departure}` }])
  if (part.to <= part.from) throw invalid([{ field: 'to', message: 'must be after from' }])
  return part
}

/** Takes the nights `[from, to)` off rows of a stay; what is before and after stays with their units. The pools are locked. */
const cutRows = (trx: Trx, ids: readonly string[], from: string, to: string) =>
  sql(
    trx,
    `update unit_assignment set status = 'released' where id = any(?::uuid[]) and starts_on < ?::date and ends_on > ?::date`,
    [ids, to, from],
  )

type Row = {
  id: string
  unitId: string
  status: 'proposed' | 'locked'
  from: string
  to: string
  rank: number
  units: number
}

/**
 * Gives a confirmed stay the unit that its guest has asked for, and promises it (R8): the system never moves it. Proposed stays give way; 409 `unit_conflict`
 * where another is promised it or in it, or it is blocked. It stands for one of those that the stay had of the pool. A part of the stay may be given it: the
 * rest stays where it was.
 */
export const promiseUnit = async (
  trx: Trx,
  reservationId: string,
  unitId: string,
  { lock = true, expectedVersion = null, ...asked }: Part = {},
): Promise<void> => {
  const stay = await lockStay(trx, reservationId, expectedVersion)
  const { from, to } = partOf(stay, asked)
  const pool = await sqlOne<{ id: string }>(trx, `select unit_pool_id as id from unit where id = ?`, [unitId])
  if (pool) await lockPools(trx, [pool.id])
  const unit = judge(
    await sqlOne<Asked>(
      trx,
      `select u.id, u.property_id, u.unit_pool_id, u.status, u.active_from, u.active_until,
         (select case when count(*) = count(s.quantity) then max(s.quantity) end from reservation_night n
          left join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id and s.unit_pool_id = u.unit_pool_id
          where n.reservation_id = ? and n.date >= ?::date and n.date < ?::date and n.status <> 'released') as quantity
       from unit u where u.id = ?`,
      [reservationId, from, to, unitId],
    ),
    stay,
    from,
    to,
  )
  if (unit.unitPoolId !== pool?.id) throw overtaken()
  await clearUnits(trx, { unitIds: [unitId], from, to, reservationId }).catch((error: unknown) => {
    throw renamedField(error, 'unitIds', 'unitId')
  })
  // A stay may hold several units of the pool. One makes room for the new one: this one if it already has it, else a proposed one.
  const rows = await sql<Row>(
    trx,
    `with had as (
       select a.unit_id, row_number() over (order by a.unit_id = cast(:unitId as uuid) desc, bool_or(a.status = 'locked'), a.unit_id) as rank, count(*) over () as units
       from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id and u.unit_pool_id = :poolId
       where a.reservation_id = :reservationId and a.status in ('proposed', 'locked') and a.starts_on < cast(:to as date) and a.ends_on > cast(:from as date)
       group by a.unit_id)
     select a.id, a.unit_id, a.status, a.starts_on as "from", a.ends_on as "to", h.rank::int as rank, h.units::int as units
     from unit_assignment a join had h on h.unit_id = a.unit_id
     where a.reservation_id = :reservationId and a.status in ('proposed', 'locked') and a.starts_on < cast(:to as date) and a.ends_on > cast(:from as date)
       and (h.unit_id = :unitId or (h.rank = 1 and h.units >= :quantity) or :quantity = 1)`,
    { unitId, reservationId, poolId: unit.unitPoolId, quantity: unit.quantity, from, to },
  )
  await cutRows(
    trx,
    rows.map((row) => row.id),
    from,
    to,
  )
  const rest = rows.flatMap((row) => [
    ...(row.from < from ? [{ ...row, to: from }] : []),
    ...(row.to > to ? [{ ...row, from: to }] : []),
  ])
  await sql(
    trx,
    `insert into unit_assignment (unit_id, reservation_id, during, status)
     select v.unit_id, ?, daterange(v."from", v."to"), v.status from unnest(?::uuid[], ?::date[], ?::date[], ?::text[]) as v (unit_id, "from", "to", status)`,
    [
      reservationId,
      [unitId, ...rest.map((row) => row.unitId)],
      [from, ...rest.map((row) => row.from)],
      [to, ...rest.map((row) => row.to)],
      [lock ? 'locked' : 'proposed', ...rest.map((row) => row.status)],
    ],
  )
  if (unit.quantity === 1 && rest.length === 0)
    await sql(trx, `delete from stranded_stay where reservation_id = ? and unit_pool_id = ?`, [
      reservationId,
      unit.unitPoolId,
    ])
  await tellAssigned(trx, [{ reservationId, unitId }], lock)
}

/** Gives a part of a stay the best fit on the nights where it lacks units, and promises what it has on the part if `lock` says so. */
const assignPart = async (
  trx: Trx,
  reservationId: string,
  { from, to }: { from: string; to: string },
  lock: boolean,
): Promise<void> => {
  const lacking = (await lackingUnits(trx, [reservationId])).filter((need) => need.from < to && need.to > from)
  const needs = lacking.map((need) => ({
    ...need,
    from: need.from > from ? need.from : from,
    to: need.to < to ? need.to : to,
  }))
  await lockPoolsOf(
    trx,
    reservationId,
    needs.map((need) => need.poolId),
  )
  const free = await findFree(trx, needs, reservationId)
  for (const given of free ?? []) await promiseUnit(trx, reservationId, given.unitId, { ...given, lock })
  if (free === null && (await placeStays(trx, needs)).length > 0)
    throw unprocessable('unit_not_assigned', 'No unit is free for these nights')
  if (!lock) return
  const proposed = await sql<{ unitId: string; from: string; to: string }>(
    trx,
    `select unit_id, greatest(starts_on, ?::date) as "from", least(ends_on, ?::date) as "to" from unit_assignment
     where reservation_id = ? and status = 'proposed' and starts_on < ?::date and ends_on > ?::date order by unit_id, starts_on`,
    [from, to, reservationId, to, from],
  )
  for (const row of proposed) await promiseUnit(trx, reservationId, row.unitId, { ...row, lock })
}

/**
 * Gives a confirmed stay the best fit where it lacks units, on a part of it if `from` or `to` is given, and promises what it has then if `lock` says so.
 * 422 `unit_not_assigned` where none is free.
 */
export const assignBestFit = async (
  trx: Trx,
  reservationId: string,
  { lock = false, expectedVersion = null, from, to }: Part = {},
): Promise<void> => {
  const stay = await lockStay(trx, reservationId, expectedVersion)
  if (from !== undefined || to !== undefined) return assignPart(trx, reservationId, partOf(stay, { from, to }), lock)
  if ((await assignUnits(trx, reservationId)) === 'stranded')
    throw unprocessable('unit_not_assigned', 'No unit is free for the stay')
  if (!lock) return
  const rows = await sql<{ reservationId: string; unitId: string }>(
    trx,
    `update unit_assignment set status = 'locked' where reservation_id = ? and status = 'proposed' returning reservation_id, unit_id`,
    [reservationId],
  )
  await tellAssigned(trx, rows, true)
}

/** Takes the units of a confirmed stay away; it waits for others. */
export const unassignUnits = async (trx: Trx, reservationId: string, expectedVersion: number | null): Promise<void> => {
  await lockStay(trx, reservationId, expectedVersion)
  await releaseUnits(trx, [reservationId])
}

/** Turns a stay's promised unit into a proposed one, which the system may move. */
export const withdrawPromise = async (trx: Trx, reservationId: string): Promise<void> => {
  await lockStay(trx, reservationId)
  const rows = await sql<{ reservationId: string; unitId: string }>(
    trx,
    `update unit_assignment set status = 'proposed' where reservation_id = ? and status = 'locked' returning reservation_id, unit_id`,
    [reservationId],
  )
  await tellAssigned(trx, rows, false)
}
