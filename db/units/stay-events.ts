import { reservationUnitAssigned, reservationUnitUnassigned } from '../../config/events/reservations.ts'
import { assignmentStranded } from '../../config/events/units.ts'
import type { ReservationRow } from '../rows.ts'
import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import type { Stranded } from './assignments/write.ts'

type Stay = Pick<ReservationRow, 'id' | 'propertyId' | 'version' | 'bookingId' | 'status'> & { number: string }
type Placed = { reservationId: string; unitId: string | null }

const staysOf = async (trx: Trx, ids: readonly string[]): Promise<Map<string, Stay>> => {
  if (ids.length === 0) return new Map()
  const rows = await sql<Stay>(
    trx,
    `select r.id, r.property_id, r.version, r.booking_id, r.status, b.number || '-' || r.position as number
     from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = any(?::uuid[])`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** One fact for each unit of a stay. Those of one stay are of different turns, since events of one record have an order. */
const turnsOf = async (trx: Trx, placed: readonly Placed[]) => {
  const unitsOf = new Map<string, Set<string | null>>()
  for (const { reservationId, unitId } of placed)
    unitsOf.set(reservationId, (unitsOf.get(reservationId) ?? new Set()).add(unitId))
  const stays = await staysOf(trx, [...unitsOf.keys()])
  const factOf = (reservationId: string, unitId: string | null) => {
    const stay = stays.get(reservationId)
    if (!stay) return []
    const { propertyId, version, number, bookingId, status } = stay
    return [{ propertyId, id: reservationId, version, data: { reservationId, number, bookingId, status, unitId } }]
  }
  const most = Math.max(0, ...[...unitsOf.values()].map((units) => units.size))
  return Array.from({ length: most }, (_, turn) =>
    [...unitsOf].flatMap(([id, units]) => {
      const unitId = [...units][turn]
      return unitId === undefined ? [] : factOf(id, unitId)
    }),
  )
}

/** Tells of the units that stays have been given. `locked`: no other plan moves them. */
export const tellAssigned = async (trx: Trx, placed: readonly Placed[], locked: boolean): Promise<void> => {
  for (const facts of await turnsOf(trx, placed))
    await emitAll(
      trx,
      reservationUnitAssigned,
      facts.map((fact) => ({ ...fact, data: { ...fact.data, locked } })),
    )
}

/** Tells of the units that stays have lost. */
export const tellUnassigned = async (trx: Trx, placed: readonly Placed[]): Promise<void> => {
  for (const facts of await turnsOf(trx, placed)) await emitAll(trx, reservationUnitUnassigned, facts)
}

/** Tells of stays that no unit of a pool was found for. */
export const tellStranded = async (trx: Trx, stranded: readonly Stranded[]): Promise<void> => {
  const stays = await staysOf(
    trx,
    stranded.map((one) => one.reservationId),
  )
  await emitAll(
    trx,
    assignmentStranded,
    stranded.flatMap(({ reservationId, poolId, from, to }) => {
      const stay = stays.get(reservationId)
      const data = { unitPoolId: poolId, reservationIds: [reservationId], from, to }
      return stay ? [{ propertyId: stay.propertyId, id: reservationId, version: stay.version, data }] : []
    }),
  )
}

/** The unit that each of the stays is in, else the one that it will have first, else the one that it has left. */
export const unitsOf = async (trx: Trx, reservationIds: readonly string[]): Promise<Map<string, string>> => {
  const rows = await prepared<{ reservationId: string; unitId: string }>(
    trx,
    `select distinct on (reservation_id) reservation_id, unit_id from unit_assignment
     where reservation_id = any(?::uuid[]) and status in ('occupied', 'proposed', 'locked', 'ended')
     order by reservation_id, status = 'ended', status <> 'occupied', case when status = 'ended' then -(ends_on - date '2000-01-01') else starts_on - date '2000-01-01' end, unit_id`,
    [reservationIds],
  )
  return new Map(rows.map((row) => [row.reservationId, row.unitId]))
}
