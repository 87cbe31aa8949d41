import type { reservationHeld } from '../../config/events/reservations.ts'
import type { DataOf, Event } from '../../config/events/event.ts'
import type { Schema, Static } from '../../config/schema.ts'
import { contextOf, later } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { closeForms, openForms } from '../guests/index.ts'
import { unitsOf } from '../units/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { recordOnTheBooks } from './on-the-books.ts'
import type { Override } from './rules/blockers.ts'
import { transitions } from './rules/states.ts'
import type { TransitionId } from './rules/states.ts'

type Moved = DataOf<typeof reservationHeld>

type ToldBooking = Pick<BookingRow, 'id' | 'number' | 'propertyId'>

type Transition<S extends Schema> = {
  id: TransitionId
  booking: ToldBooking
  /** The bookings of the reservations by id, where there is more than one. */
  bookings?: ReadonlyMap<string, ToldBooking>
  /** As they are after the move. */
  reservations: readonly Pick<
    ReservationRow,
    | 'id'
    | 'bookingId'
    | 'position'
    | 'arrival'
    | 'departure'
    | 'status'
    | 'version'
    | 'total'
    | 'currency'
    | 'unitTypeId'
    | 'ratePlanId'
    | 'adults'
    | 'childrenAges'
  >[]
  event: Event<S>
  /** The command, where it is not the usual one of the transition. */
  command?: string
  reason?: string | null
  businessDate?: string | null
  /** The changes, where more than the status changed; never personal values. */
  changes?: { field: string; before: unknown; after: unknown }[]
  /** Waived rules, and the reason. */
  override?: { rules: readonly string[]; reason: string } | null
  /** Data of the event beside the stay itself, for all of them or for each by its id. */
  data: Omit<Static<S>, keyof Moved> | ((reservationId: string) => Omit<Static<S>, keyof Moved>)
}

type Waived = {
  stay: Pick<ReservationRow, 'id' | 'status'>
  command: string
  override: Override | null
  businessDate: string
}

/** Keeps a rule that was set aside by a command that moves no stay: the history shows it, and the night audit lists it (R8). None does nothing. */
export const recordOverride = (trx: Trx, { stay, command, override, businessDate }: Waived): void => {
  if (override === null) return
  const { actor, requestId } = contextOf(trx)
  later(
    trx,
    `insert into reservation_event (reservation_id, transition, command, "from", "to", override, actor, business_date, request_id)
     values (?, 'R8', ?, ?, ?, ?::jsonb, ?::jsonb, ?::date, ?)`,
    [
      stay.id,
      command,
      stay.status,
      stay.status,
      JSON.stringify(override),
      JSON.stringify(actor),
      businessDate,
      requestId,
    ],
  )
}

/** The last step of every transition: its history and its event, one of each per reservation, and what it changes on the books. */
export const recordTransition = async <S extends Schema>(
  trx: Trx,
  {
    id,
    booking,
    bookings,
    reservations,
    event,
    command: named,
    reason,
    businessDate,
    changes,
    override,
    data,
  }: Transition<S>,
): Promise<void> => {
  const { command, from, to } = transitions[id]
  const changed = changes ?? [{ field: 'status', before: from, after: to }]
  const { actor, requestId } = contextOf(trx)
  const reservationIds = reservations.map((one) => one.id)
  later(
    trx,
    `insert into reservation_event (reservation_id, transition, command, "from", "to", changes, reason, override, actor, business_date, request_id)
     select r, ?, ?, ?, ?, ?::jsonb, ?, ?::jsonb, ?::jsonb, ?::date, ? from unnest(?::uuid[]) r`,
    [
      id,
      named ?? command,
      from,
      to,
      JSON.stringify(changed),
      reason ?? null,
      override ? JSON.stringify(override) : null,
      JSON.stringify(actor),
      businessDate ?? null,
      requestId,
      reservationIds,
    ],
  )
  recordOnTheBooks(trx, id, reservationIds)
  if (reservations.some(({ status }) => status === 'confirmed' || status === 'checked_in'))
    openForms(trx, reservationIds)
  if (reservations.some(({ status }) => status === 'cancelled' || status === 'no_show'))
    await closeForms(trx, reservationIds)
  // A hold has no unit yet.
  const units = id === 'T3' ? null : await unitsOf(trx, reservationIds)
  const facts = reservations.map((one) => {
    const { number } = bookings?.get(one.bookingId) ?? booking
    const stay: Moved = {
      reservationId: one.id,
      number: `${number}-${one.position}`,
      bookingId: one.bookingId,
      status: one.status,
      arrival: one.arrival,
      departure: one.departure,
      unitTypeId: one.unitTypeId,
      unitId: units?.get(one.id) ?? null,
      ratePlanId: one.ratePlanId,
      adults: one.adults,
      childrenAges: one.childrenAges,
      total: one.total,
      currency: one.currency,
      businessDate: businessDate ?? null,
    }
    return {
      propertyId: booking.propertyId,
      id: one.id,
      version: one.version,
      changed,
      data: { ...stay, ...(typeof data === 'function' ? data(one.id) : data) } as Static<S>,
    }
  })
  await emitAll(trx, event, facts)
}
