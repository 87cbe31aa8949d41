import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'

type Stay = {
  id: string
  propertyId: string
  version: number
  bookingId: string
  number: string
  arrival: string
  departure: string
}
type Told = { reservationId: string; data: Record<string, unknown> }

/** Tells of the units of stays, one event each, with what listeners know a stay by. */
export const tellStays = async (
  trx: Trx,
  type: 'reservation.unit_assigned' | 'reservation.unit_unassigned' | 'assignment.stranded',
  told: readonly Told[],
): Promise<void> => {
  if (told.length === 0) return
  const stays = new Map(
    (
      await sql<Stay>(
        trx,
        `select r.id, r.property_id, r.version, r.booking_id, b.number || '-' || r.position as number, r.arrival, r.departure
         from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = any(?::uuid[])`,
        [told.map((one) => one.reservationId)],
      )
    ).map((row) => [row.id, row]),
  )
  await emitAll(
    trx,
    told.flatMap(({ reservationId, data }) => {
      const stay = stays.get(reservationId)
      if (!stay) return []
      const { propertyId, version, bookingId, number, arrival, departure } = stay
      return [
        {
          type,
          propertyId,
          entity: { type: 'reservation', id: reservationId, version },
          data: { reservationId, number, bookingId, arrival, departure, ...data },
        },
      ]
    }),
  )
}

/** Units given to stays or taken from them, grouped by stay. */
export const byStay = (
  rows: readonly { reservationId: string; unitId: string | null }[],
  more: { status?: 'proposed' | 'locked' | 'occupied' } = {},
): Told[] => {
  const units = new Map<string, string[]>()
  for (const { reservationId, unitId } of rows)
    units.set(reservationId, [...(units.get(reservationId) ?? []), ...(unitId === null ? [] : [unitId])])
  return [...units].map(([reservationId, unitIds]) => ({
    reservationId,
    data: {
      unitId: unitIds[0] ?? null,
      unitIds: [...new Set(unitIds)],
      ...more,
      ...(more.status === undefined ? {} : { locked: more.status !== 'proposed' }),
    },
  }))
}
