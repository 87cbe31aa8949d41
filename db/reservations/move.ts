import { conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { reservationMoved } from '../../config/events/reservations.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ReservationNightRow, ReservationRow, UnitRow } from '../rows.ts'
import { moveInventory, moveUnit } from '../units/index.ts'
import type { Move } from '../units/index.ts'
import { returnPickUps } from './group/pick-up.ts'
import { lockStay } from './lock.ts'
import { recordTransition } from './record.ts'
import { isWaived, refuseBlocked, usedOverride } from './rules/blockers.ts'
import type { Override, OverrideRule } from './rules/blockers.ts'
import { unfitBlockers } from './rules/plans.ts'
import { stayLifecycle } from './rules/states.ts'

export const moveReasons = ['guest_request', 'maintenance', 'upgrade', 'noise', 'operational', 'other'] as const
export type MoveReason = (typeof moveReasons)[number]

type Moving = {
  unitId: string
  /** The first night in the new unit: the business date or a later one. */
  from?: string | undefined
  reason: MoveReason
  note?: string | undefined
  override?: Override | null
  expectedVersion?: number | null
}

type Asked = Pick<UnitRow, 'id' | 'propertyId' | 'unitPoolId' | 'unitTypeId' | 'status' | 'activeFrom' | 'activeUntil'>
type Share = { unitTypeId: string; poolId: string; quantity: number }

const notHere = () =>
  unprocessable('unit_not_in_property', 'The unit does not belong to the property', [
    { field: 'unitId', message: 'is not an active unit of the property' },
  ])

/** The type that nights have in a unit: their own where its pool serves that, else the unit's. */
const typeIn = (unit: Asked, shares: readonly Share[], present: string): string => {
  const serves = (typeId: string) => shares.some((one) => one.unitTypeId === typeId && one.poolId === unit.unitPoolId)
  if (serves(present)) return present
  const other = unit.unitTypeId !== null && serves(unit.unitTypeId) ? unit.unitTypeId : undefined
  const type = other ?? shares.find((one) => one.poolId === unit.unitPoolId)?.unitTypeId
  if (type === undefined)
    throw unprocessable('unit_type_mismatch', 'No type is sold in this unit', [
      { field: 'unitId', message: 'serves no type' },
    ])
  return type
}

/**
 * T15: a guest in the house gets another unit. Nights from `from` on count against the pools of the type that the unit serves, and keep their price. At once where
 * that is the business date; a later night promises the unit. 409 sold_out, unit_conflict; 422 unit_occupied, unit_type_mismatch, unit_not_in_property.
 */
export const moveStay = async (
  trx: Trx,
  reservationId: string,
  { unitId, from: asked, reason, note, override = null, expectedVersion = null }: Moving,
): Promise<void> => {
  const { booking, stay, property, businessDate } = await lockStay(trx, reservationId, expectedVersion)
  stayLifecycle.allow('given another unit', stay.status)
  const from = asked ?? businessDate
  if (from < businessDate) throw invalid([{ field: 'from', message: `must not be before ${businessDate}` }])
  if (from >= stay.departure)
    throw invalid([{ field: 'from', message: `must be before the departure, ${stay.departure}` }])
  const unit = await sqlOne<Asked>(
    trx,
    `select id, property_id, unit_pool_id, unit_type_id, status, active_from, active_until from unit where id = ?`,
    [unitId],
  )
  if (unit?.propertyId !== stay.propertyId || unit.status !== 'active') throw notHere()
  if (unit.activeFrom > from || (unit.activeUntil !== null && unit.activeUntil < stay.departure))
    throw conflict('unit_conflict', 'The unit is not there on all days of the stay')
  const nights = await sql<ReservationNightRow>(
    trx,
    `select * from reservation_night where reservation_id = ? and date >= ?::date and status <> 'released' order by date`,
    [stay.id, from],
  )
  const shares = await sql<Share>(
    trx,
    `select unit_type_id, unit_pool_id as pool_id, quantity from unit_type_pool
     where unit_type_id in (select unit_type_id from unit_type_pool where unit_pool_id = ?) or unit_type_id = any(?::uuid[])
     order by count(*) over (partition by unit_type_id), quantity, unit_type_id`,
    [unit.unitPoolId, nights.map((night) => night.unitTypeId)],
  )
  const changed = nights
    .map((night) => ({ night, typeId: typeIn(unit, shares, night.unitTypeId) }))
    // A charged night stays as it was sold.
    .filter(({ night, typeId }) => typeId !== night.unitTypeId && night.status === 'open')
  // Nights that are sold as another type go back to the allotment of the group, while they still say of which type they were.
  const returned = await returnPickUps(
    trx,
    changed.map(({ night }) => ({ reservationId: stay.id, date: night.date })),
  )
  const moves = changed.flatMap(({ night, typeId }): Move[] => [
    ...shares
      .filter((one) => one.unitTypeId === night.unitTypeId)
      .map((one) => ({ poolId: one.poolId, night: night.date, sold: -one.quantity })),
    ...shares
      .filter((one) => one.unitTypeId === typeId)
      .map((one) => ({ poolId: one.poolId, night: night.date, sold: one.quantity })),
  ])
  let isShort = false
  const force = isWaived(override, 'availability')
  await moveInventory(trx, [...returned, ...moves], force ? { force, onShort: () => void (isShort = true) } : {})
  await sql(
    trx,
    `update reservation_night n set unit_type_id = v.type_id from unnest(?::date[], ?::uuid[]) as v(date, type_id)
     where n.reservation_id = ? and n.date = v.date`,
    [changed.map(({ night }) => night.date), changed.map(({ typeId }) => typeId), stay.id],
  )
  const used: OverrideRule[] = []
  const [left = null] = await moveUnit(trx, {
    reservationId: stay.id,
    unitId,
    from,
    to: stay.departure,
    businessDate,
    judge: (wanted) => void used.push(...(refuseBlocked(unfitBlockers(wanted, property), override)?.rules ?? [])),
  })
  const moved = await sqlOne<ReservationRow>(
    trx,
    `update reservation set overbooked = overbooked or ?, version = version + 1 where id = ? returning *`,
    [isShort, stay.id],
  )
  if (!moved) throw notFound()
  await recordTransition(trx, {
    id: 'T15',
    command: 'move',
    booking,
    reservations: [moved],
    event: reservationMoved,
    reason: note ? `${reason}: ${note}` : reason,
    businessDate,
    override: usedOverride(override, [...(isShort ? ['availability' as const] : []), ...used]),
    changes: [{ field: 'unitId', before: left, after: unitId }],
    data: { fromUnitId: left },
  })
}
