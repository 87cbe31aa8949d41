import { ApiError, conflict } from '../../config/errors.ts'
import { assignUnit } from '../../jobs/reservations.ts'
import { contextOf, prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { ReservationNightRow, ReservationRow } from '../rows.ts'
import { clearUnits, leaveUnits, lockPools } from '../units/index.ts'
import type { AmendedNight } from './amend-nights.ts'
import { assignUnits } from './assign.ts'

type Days = Pick<ReservationRow, 'arrival' | 'departure'>

/** Keeps a guest in each of their units where it is free or only proposed to others. Answers the rows that cannot last: 409 `unit_conflict` unless another unit may follow. */
const stayOn = async (trx: Trx, reservationId: string, from: string, to: string, allowMove: boolean) => {
  const inside = await sql<{ id: string; unitId: string }>(
    trx,
    `select id, unit_id from unit_assignment where reservation_id = ? and status = 'occupied' and ends_on = ?::date order by unit_id`,
    [reservationId, from],
  )
  if (inside.length === 0) return []
  const taken = allowMove ? await takenOf(trx, inside, { reservationId, from, to }) : []
  const free = inside.filter((one) => !taken.includes(one.id)).map((one) => one.unitId)
  // All at once: what gives way to one of them must not go to another.
  if (free.length > 0) await clearUnits(trx, { unitIds: free, from, to, reservationId })
  return taken
}

/** Rows in whose units others stand on `[from, to)`. */
const takenOf = async (
  trx: Trx,
  rows: readonly { id: string; unitId: string }[],
  days: { reservationId: string; from: string; to: string },
) => {
  const taken: string[] = []
  for (const { id, unitId } of rows)
    try {
      await clearUnits(trx, { ...days, unitIds: [unitId], dryRun: true })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'unit_conflict') throw error
      taken.push(id)
    }
  return taken
}

/** Pools of the units that the stay has, and of those that its nights take. */
const poolsOf = (trx: Trx, reservationId: string) =>
  prepared<{ poolId: string; hasUnit: boolean }>(
    trx,
    `select pool_id, bool_or(has_unit) as has_unit from (
       select u.unit_pool_id as pool_id, true as has_unit from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
         where a.reservation_id = ? and a.status in ('proposed', 'locked', 'occupied')
       union all select s.unit_pool_id, false from reservation_night n
         join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
         where n.reservation_id = ? and n.status <> 'released') p group by 1`,
    [reservationId, reservationId],
  )

/**
 * Moves the units of a stay to its new days (R19). Proposed and locked ones that are not free then, or not of the type any more, are
 * released: answers 'lacking', and others are to be looked for. An occupied one that is not free is 409 `unit_conflict`, or ends where it did and another one
 * follows it ('split').
 */
const reshapeUnits = async (
  trx: Trx,
  before: Days,
  { id, arrival, departure }: Pick<ReservationRow, 'id' | 'arrival' | 'departure'>,
  { sameType, allowMove, isInHouse }: { sameType: boolean; allowMove: boolean; isInHouse: boolean },
): Promise<'settled' | 'lacking' | 'split'> => {
  const pools = await poolsOf(trx, id)
  await lockPools(
    trx,
    pools.filter((one) => one.hasUnit || isInHouse).map((one) => one.poolId),
  )
  // A stay that waits for a unit now waits for other nights.
  await sql(trx, `delete from stranded_stay where reservation_id = ?`, [id])
  if (!pools.some((one) => one.hasUnit)) return 'lacking'
  await sql(
    trx,
    `select u.id from unit u where u.id in (select a.unit_id from unit_assignment a
       where a.reservation_id = ? and a.status in ('proposed', 'locked', 'occupied')) or u.unit_pool_id = any(?::uuid[]) order by u.id for no key update`,
    // A guest in the house may come into any of them, and units are locked in one order.
    [id, isInHouse && !sameType ? pools.map((one) => one.poolId) : []],
  )
  const taken = departure > before.departure ? await stayOn(trx, id, before.departure, departure, allowMove) : []
  // An assignment that began with the stay begins with it still. An occupied unit keeps the day on which the guest came into it.
  const moved = await prepared<{ id: string }>(
    trx,
    `with place as (
       select a.id, a.unit_id, a.status,
         case when a.status <> 'occupied' and a.starts_on = cast(:arrivalBefore as date) then cast(:arrival as date) else a.starts_on end as starts_on,
         case when a.ends_on = cast(:departureBefore as date) and not (a.id = any(cast(:taken as uuid[]))) then cast(:departure as date)
           else least(a.ends_on, cast(:departure as date)) end as ends_on
       from unit_assignment a where a.reservation_id = :id and a.status in ('proposed', 'locked', 'occupied'))
     update unit_assignment a set during = daterange(p.starts_on, p.ends_on)
     from place p join unit u on u.id = p.unit_id
     where a.id = p.id and p.starts_on < p.ends_on and (p.status = 'occupied' or (cast(:sameType as boolean) and u.status = 'active'
       and u.active_from <= p.starts_on and (u.active_until is null or u.active_until >= p.ends_on)
       and not exists (select from unit_assignment o where o.unit_id = p.unit_id and o.id <> p.id
         and o.status in ('proposed', 'locked', 'occupied', 'blocked') and o.starts_on < p.ends_on and o.ends_on > p.starts_on)))
     returning a.id`,
    {
      id,
      arrival,
      departure,
      arrivalBefore: before.arrival,
      departureBefore: before.departure,
      sameType,
      taken,
    },
  )
  const released = await sql<{ id: string }>(
    trx,
    `update unit_assignment set status = 'released' where reservation_id = ? and status in ('proposed', 'locked') and not (id = any(?::uuid[]))
     returning id`,
    [id, moved.map((one) => one.id)],
  )
  if (taken.length > 0) return 'split'
  return moved.length > 0 && released.length === 0 ? 'settled' : 'lacking'
}

export type Rehoused = {
  before: ReservationRow
  after: ReservationRow
  nightsBefore: readonly Pick<ReservationNightRow, 'date' | 'unitTypeId'>[]
  nightsAfter: readonly Pick<AmendedNight, 'date' | 'unitTypeId'>[]
  /** Units are given without being asked for. */
  isAutomatic: boolean
  allowMove: boolean
  businessDate: string
}

type Inside = {
  id: string
  unitId: string
  propertyId: string
  startsOn: string
  poolId: string
  taken: number
}

/**
 * Rows of units that a guest is in beyond `cut`. `taken`: how many units of their pool the nights from then on take by their new type; 0 where the type is not of
 * that pool.
 */
const insideOf = (trx: Trx, reservationId: string, cut: string, unitTypeId: string) =>
  sql<Inside>(
    trx,
    `select a.id, a.unit_id, u.property_id, a.starts_on, u.unit_pool_id as pool_id, coalesce(s.quantity, 0) as taken
     from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     left join unit_type_pool s on s.tenant_id = u.tenant_id and s.unit_type_id = ? and s.unit_pool_id = u.unit_pool_id
     where a.reservation_id = ? and a.status = 'occupied' and a.ends_on > ?::date order by a.starts_on, a.id`,
    [unitTypeId, reservationId, cut],
  )

/**
 * The units that a guest leaves where the new type takes fewer of a pool: those that were added last. 409 `unit_conflict` where they were taken together, as the
 * beds of a room are: nothing says which of them the guest keeps.
 */
const leaveAdded = async (
  trx: Trx,
  reservationId: string,
  inside: readonly Inside[],
  { date, businessDate }: { date: string; businessDate: string },
): Promise<void> => {
  const left = inside.filter(({ poolId, taken }, index) => {
    const before = inside.slice(0, index).filter((one) => one.poolId === poolId).length
    return taken > 0 && before >= taken
  })
  if (left.length === 0) return
  const kept = inside.filter((one) => !left.includes(one))
  if (left.some((one) => kept.some(({ poolId, startsOn }) => poolId === one.poolId && startsOn >= one.startsOn)))
    throw conflict('unit_conflict', 'The guest is in more units than the type takes')
  if (date > businessDate)
    throw conflict('unit_conflict', 'The guest is in units that were added; change the stay on the day they are left')
  await leaveUnits(trx, reservationId, left, businessDate)
}

/** Ends the rows of units that the nights of a guest in the house are no longer sold as, so that another unit follows. Answers whether there are some. 409 `unit_conflict`. */
const leaveUnfit = async (
  trx: Trx,
  reservationId: string,
  changed: { date: string; unitTypeId: string } | undefined,
  { allowMove, businessDate }: { allowMove: boolean; businessDate: string },
): Promise<boolean> => {
  if (changed === undefined) return false
  const { date, unitTypeId } = changed
  const inside = await insideOf(trx, reservationId, date, unitTypeId)
  await leaveAdded(trx, reservationId, inside, { date, businessDate })
  const unfit = inside.filter(({ taken }) => taken === 0)
  if (unfit.length === 0) return false
  // A guest who came in today is moved by hand: the row of a unit has at least its first day.
  if (!allowMove || unfit.some((one) => one.startsOn >= date))
    throw conflict('unit_conflict', 'The guest is in a unit of another type, and has to move')
  await sql(trx, `update unit_assignment set during = daterange(starts_on, ?::date) where id = any(?::uuid[])`, [
    date,
    unfit.map((one) => one.id),
  ])
  return true
}

/**
 * The unit follows the stay where it can; where it cannot, another one is looked for after the commit. A guest in the house who may move has the other one at
 * once, or 409 `unit_conflict`.
 */
export const rehouse = async (
  trx: Trx,
  { before, after, nightsBefore, nightsAfter, isAutomatic, allowMove, businessDate }: Rehoused,
): Promise<void> => {
  const typesOf = (nights: readonly { unitTypeId: string }[]) =>
    [...new Set(nights.map((night) => night.unitTypeId))].sort().join()
  const typeOn = new Map(nightsBefore.map((night) => [night.date, night.unitTypeId]))
  const sameType =
    typesOf(nightsBefore) === typesOf(nightsAfter) &&
    nightsAfter.every(({ date, unitTypeId }) => (typeOn.get(date) ?? unitTypeId) === unitTypeId)
  if (sameType && before.arrival === after.arrival && before.departure === after.departure) return
  const isInHouse = before.status === 'checked_in'
  const mayMove = allowMove && isInHouse
  const reshaped = await reshapeUnits(trx, before, after, { sameType, allowMove: mayMove, isInHouse })
  const changed = nightsAfter.find(({ date, unitTypeId }) => (typeOn.get(date) ?? unitTypeId) !== unitTypeId)
  const hasLeft =
    isInHouse && !sameType && (await leaveUnfit(trx, after.id, changed, { allowMove: mayMove, businessDate }))
  if (reshaped === 'split' || hasLeft) {
    if ((await assignUnits(trx, after.id)) !== 'assigned')
      throw conflict('unit_conflict', 'No unit is free for the nights to come')
    return
  }
  // A guest in the house is in units that are added for tonight.
  if (isInHouse && changed && changed.date <= businessDate) return void (await assignUnits(trx, after.id))
  const { tenantId } = contextOf(trx)
  if (reshaped === 'lacking' && isAutomatic && tenantId)
    await enqueue(trx, assignUnit, { tenantId, reservationId: after.id })
}
