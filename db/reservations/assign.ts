import { contextOf, sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { emit } from '../events.ts'
import type { ReservationRow } from '../rows.ts'

/** First number of the advisory lock of a pool's units. */
const poolClass = 7103
/** A gap of this many days or more is as good as none at all. */
const widest = 60

export type Assigned = 'assigned' | 'already' | 'stranded' | 'nothing'
type Share = { poolId: string; quantity: number; given: number }

/**
 * Proposes units for a confirmed reservation that lacks some, best fit: free for the whole stay, of the type's own units first, leaving
 * the smallest gap before and after (R8 of units.md). The exclusion constraint stands behind it. What finds none is stranded.
 */
export const assignUnits = async (trx: Trx, reservationId: string): Promise<Assigned> => {
  const reservation = await sqlOne<ReservationRow & { number: string }>(
    trx,
    `select r.*, b.number from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = ? for no key update of r`,
    [reservationId],
  )
  if (reservation?.status !== 'confirmed') return 'nothing'
  const shares = await sql<Share>(
    trx,
    `select p.unit_pool_id as pool_id, p.quantity, (select count(*)::int from unit_assignment a
        join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id and u.unit_pool_id = p.unit_pool_id
        where a.reservation_id = ? and a.status in ('proposed', 'locked', 'occupied')) as given
     from unit_type_pool p where p.unit_type_id = ? order by p.unit_pool_id`,
    [reservationId, reservation.unitTypeId],
  )
  const lacking = shares.filter((share) => share.given < share.quantity)
  if (lacking.length === 0) return 'already'
  const taken: { unitId: string; poolId: string }[] = []
  for (const share of lacking) {
    await sql(trx, `select pg_advisory_xact_lock(?, hashtext(?))`, [
      poolClass,
      `${contextOf(trx).tenantId} ${share.poolId}`,
    ])
    const wanted = share.quantity - share.given
    const units = await bestFits(trx, reservation, share.poolId, wanted)
    if (units.length < wanted) return strand(trx, reservation, share.poolId)
    taken.push(...units.map((unit) => ({ unitId: unit.id, poolId: share.poolId })))
  }
  await sql(
    trx,
    `insert into unit_assignment (unit_id, reservation_id, during, status)
     select u, ?, daterange(?::date, ?::date), 'proposed' from unnest(?::uuid[]) u`,
    [reservationId, reservation.arrival, reservation.departure, taken.map((one) => one.unitId)],
  )
  await emit(trx, {
    type: 'reservation.unit_assigned',
    propertyId: reservation.propertyId,
    entity: { type: 'reservation', id: reservationId, version: reservation.version },
    data: {
      reservationId,
      number: `${reservation.number}-${reservation.position}`,
      arrival: reservation.arrival,
      departure: reservation.departure,
      unitIds: taken.map((one) => one.unitId),
      status: 'proposed',
    },
  })
  return 'assigned'
}

const bestFits = (
  trx: Trx,
  stay: Pick<ReservationRow, 'arrival' | 'departure' | 'unitTypeId'>,
  poolId: string,
  most: number,
) =>
  sql<{ id: string }>(
    trx,
    `select u.id from unit u
     left join lateral (select max(upper(a.during)) as at from unit_assignment a
       where a.unit_id = u.id and a.status in ('proposed', 'locked', 'occupied', 'blocked') and upper(a.during) <= ?::date) before on true
     left join lateral (select min(lower(a.during)) as at from unit_assignment a
       where a.unit_id = u.id and a.status in ('proposed', 'locked', 'occupied', 'blocked') and lower(a.during) >= ?::date) after on true
     where u.unit_pool_id = ? and u.status = 'active' and u.active_from <= ?::date and (u.active_until is null or u.active_until >= ?::date)
       and not exists (select from unit_assignment a where a.unit_id = u.id and a.status in ('proposed', 'locked', 'occupied', 'blocked')
         and a.during && daterange(?::date, ?::date))
     order by u.unit_type_id = ? desc, least(?, coalesce(?::date - before.at, ?)) + least(?, coalesce(after.at - ?::date, ?)), u.position, u.name, u.id
     limit ?`,
    [
      stay.arrival,
      stay.departure,
      poolId,
      stay.arrival,
      stay.departure,
      stay.arrival,
      stay.departure,
      stay.unitTypeId,
      widest,
      stay.arrival,
      widest,
      widest,
      stay.departure,
      widest,
      most,
    ],
  )

const strand = async (
  trx: Trx,
  reservation: ReservationRow & { number: string },
  poolId: string,
): Promise<Assigned> => {
  await emit(trx, {
    type: 'assignment.stranded',
    propertyId: reservation.propertyId,
    entity: { type: 'reservation', id: reservation.id, version: reservation.version },
    data: {
      reservationId: reservation.id,
      number: `${reservation.number}-${reservation.position}`,
      unitPoolId: poolId,
      from: reservation.arrival,
      to: reservation.departure,
    },
  })
  return 'stranded'
}
