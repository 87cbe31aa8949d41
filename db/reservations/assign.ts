import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { lockPools, freeUnits, lackingUnits, placeStays, planStays, takeIn, tellAssigned } from '../units/index.ts'
import type { Need } from '../units/index.ts'
import type { ReservationRow } from '../rows.ts'

export type Assigned = 'assigned' | 'already' | 'stranded' | 'nothing'
type Given = Need & { unitId: string }

/**
 * Proposes units for a confirmed reservation, or one in house, that lacks some for its nights to come, best fit (R8 of units.md). A stay that has grown gets one
 * unit for all its nights where it can. Where none is free, proposed stays give way (R9); what then finds none is stranded, and told of once.
 * A guest in the house is in units of tonight that are added at once.
 */
export const assignUnits = async (trx: Trx, reservationId: string): Promise<Assigned> => {
  const reservation = await sqlOne<Pick<ReservationRow, 'status'>>(
    trx,
    `select status from reservation where id = ? for no key update`,
    [reservationId],
  )
  if (reservation?.status !== 'confirmed' && reservation?.status !== 'checked_in') return 'nothing'
  const lacking = await lackingUnits(trx, [reservationId])
  if (lacking.length === 0) return 'already'
  const poolIds = [...new Set(lacking.map((need) => need.poolId))]
  await lockPoolsOf(trx, reservationId, poolIds)
  const whole = (await lackingUnits(trx, [reservationId], 'fixed')).filter((need) => poolIds.includes(need.poolId))
  const found = await findFree(trx, whole, reservationId)
  const stranded = found ? [] : await placeStays(trx, lacking)
  if (found) await give(trx, reservationId, poolIds, found)
  if (reservation.status === 'checked_in') await takeIn(trx, reservationId)
  return stranded.length > 0 ? 'stranded' : 'assigned'
}

/** Locks pools, and those in which the stay has units: commands that go on to lock its rows must find these locked before any row is written. */
export const lockPoolsOf = async (trx: Trx, reservationId: string, poolIds: readonly string[]): Promise<void> => {
  const held = await sql<{ poolId: string }>(
    trx,
    `select distinct u.unit_pool_id as pool_id from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.reservation_id = ? and a.status in ('proposed', 'locked', 'occupied')`,
    [reservationId],
  )
  await lockPools(trx, [...poolIds, ...held.map(({ poolId }) => poolId)])
}

/** The units that `assignUnits` would give a stay at this moment; null where it lacks none. Changes nothing. */
export const previewUnits = async (
  trx: Trx,
  reservationId: string,
): Promise<{ given: Given[]; replaces: string[] } | null> => {
  const lacking = await lackingUnits(trx, [reservationId])
  if (lacking.length === 0) return null
  const poolIds = [...new Set(lacking.map((need) => need.poolId))]
  const whole = (await lackingUnits(trx, [reservationId], 'fixed')).filter((need) => poolIds.includes(need.poolId))
  const found = await findFree(trx, whole, reservationId)
  if (found) return { given: found, replaces: poolIds }
  const plans = await planStays(trx, lacking)
  const given = plans
    .flatMap((plan) => plan.changes)
    .flatMap(({ reservationId: of, poolId, from, to, toUnitId }) =>
      of === reservationId && toUnitId !== null
        ? [{ reservationId, poolId, unitTypeId: '', from, to, unitId: toUnitId }]
        : [],
    )
  return { given, replaces: [] }
}

/** A free unit for each need, or null. Needs of the same days and pool are one search. */
export const findFree = async (trx: Trx, needs: readonly Need[], reservationId: string): Promise<Given[] | null> => {
  const alike = new Map<string, Need[]>()
  for (const need of needs) {
    const key = `${need.poolId} ${need.unitTypeId} ${need.from} ${need.to}`
    alike.set(key, [...(alike.get(key) ?? []), need])
  }
  const given: Given[] = []
  for (const same of alike.values()) {
    const { poolId, unitTypeId, from, to } = same[0]!
    // As many more as could be given to its other nights.
    const search = { poolIds: [poolId], unitTypeId, from, to, reservationId, limit: needs.length }
    const free = (await freeUnits(trx, search)).filter(
      ({ unitId }) => !given.some((one) => one.unitId === unitId && one.from < to && one.to > from),
    )
    if (free.length < same.length) return null
    given.push(...same.flatMap((need, index) => (free[index] ? [{ ...need, unitId: free[index].unitId }] : [])))
  }
  return given
}

const give = async (trx: Trx, reservationId: string, poolIds: readonly string[], given: readonly Given[]) => {
  await sql(
    trx,
    `update unit_assignment a set status = 'released' from unit u
     where a.reservation_id = ? and a.status = 'proposed' and u.tenant_id = a.tenant_id and u.id = a.unit_id and u.unit_pool_id = any(?::uuid[])`,
    [reservationId, poolIds],
  )
  await sql(
    trx,
    `insert into unit_assignment (unit_id, reservation_id, during, status)
     select v.unit_id, ?, daterange(v."from", v."to"), 'proposed' from unnest(?::uuid[], ?::date[], ?::date[]) as v (unit_id, "from", "to")`,
    [reservationId, given.map((one) => one.unitId), given.map((one) => one.from), given.map((one) => one.to)],
  )
  await sql(trx, `delete from stranded_stay where reservation_id = ? and unit_pool_id = any(?::uuid[])`, [
    reservationId,
    poolIds,
  ])
  await tellAssigned(trx, given, false)
}
