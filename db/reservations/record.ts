import { contextOf, later } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { transitions } from './rules/states.ts'
import type { TransitionId } from './rules/states.ts'

type Transition = {
  id: TransitionId
  booking: Pick<BookingRow, 'id' | 'number' | 'propertyId'>
  /** As they are after the move. */
  reservations: readonly Pick<
    ReservationRow,
    'id' | 'position' | 'arrival' | 'departure' | 'status' | 'version' | 'total' | 'currency'
  >[]
  event: string
  reason?: string | null
  businessDate?: string | null
  /** Where it is not the status that changed; never personal values. */
  changes?: { field: string; before: unknown; after: unknown }[]
  /** What was waived, and why. */
  override?: { rules: readonly string[]; reason: string } | null
  /** Ids, codes and amounts that listeners want beside the usual ones. */
  data?: Record<string, unknown>
}

/** The last step of every transition: its history and its event, one of each per reservation. */
export const recordTransition = async (
  trx: Trx,
  { id, booking, reservations, event, reason, businessDate, changes, override, data }: Transition,
): Promise<void> => {
  const { command, from, to } = transitions[id]
  const changed = changes ?? [{ field: 'status', before: from, after: to }]
  const { actor, requestId } = contextOf(trx)
  later(
    trx,
    `insert into reservation_event (reservation_id, transition, command, "from", "to", changes, reason, override, actor, business_date, request_id)
     select r, ?, ?, ?, ?, ?::jsonb, ?, ?::jsonb, ?::jsonb, ?::date, ? from unnest(?::uuid[]) r`,
    [
      id,
      command,
      from,
      to,
      JSON.stringify(changed),
      reason ?? null,
      override ? JSON.stringify(override) : null,
      JSON.stringify(actor),
      businessDate ?? null,
      requestId,
      reservations.map((one) => one.id),
    ],
  )
  for (const one of reservations)
    await emit(trx, {
      type: event,
      propertyId: booking.propertyId,
      entity: { type: 'reservation', id: one.id, version: one.version },
      changed,
      data: {
        reservationId: one.id,
        bookingId: booking.id,
        number: `${booking.number}-${one.position}`,
        position: one.position,
        arrival: one.arrival,
        departure: one.departure,
        total: one.total,
        currency: one.currency,
        ...data,
      },
    })
}
