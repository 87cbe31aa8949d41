import { conflict, forbidden, invalid, notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import { bookingChanged, bookingHoldExtended } from '../../config/events/reservations.ts'
import { localInstant } from '../../config/time.ts'
import { expireHold } from '../../jobs/reservations.ts'
import { businessDay } from '../financial/index.ts'
import { blockAgainst, resolveGuests } from '../guests/index.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { paymentState } from '../payment/index.ts'
import { readProperty } from '../properties/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { bookingFact } from './booking-fact.ts'
import { confirmRooms, wordsOf } from './confirm.ts'
import { depositsOf, lockBooking, propertyOfBooking } from './lock.ts'
import type { LockedBooking } from './lock.ts'
import { barredAmong } from './party.ts'
import { recordOverride } from './record.ts'
import { blocker, refuseBlocked } from './rules/blockers.ts'
import type { Blocker, Granted } from './rules/blockers.ts'
import { dueAtBooking, isCovered, isRunning } from './rules/deposits.ts'

/** A booking with what comes before it in the order of locks. 404; 409 `version_conflict`. */
const lockForDesk = async (
  trx: Trx,
  bookingId: string,
  expectedVersion: number | null,
): Promise<LockedBooking & { businessDate: string }> => {
  const propertyId = await propertyOfBooking(trx, bookingId)
  if (!propertyId) throw notFound()
  const businessDate = await businessDay(trx, propertyId)
  const locked = await lockBooking(trx, bookingId)
  if (!locked) throw notFound()
  const { version } = locked.booking
  if (expectedVersion !== null && expectedVersion !== version) throw versionConflict(version)
  return { ...locked, businessDate }
}

const refuseHoldOver = ({ booking, now }: LockedBooking) => {
  if (booking.holdExpiresAt === null || booking.holdExpiresAt <= now)
    throw conflict('hold_expired', 'The hold has ended')
}

/** Blocks against the people of a hold: its named guests, or the document that its booker gave the portal. */
const barredOf = async (trx: Trx, booking: BookingRow, rooms: readonly ReservationRow[]): Promise<Blocker[]> => {
  const guests = await sql<{ guestId: string }>(
    trx,
    `select guest_id from reservation_guest where reservation_id = any(?::uuid[])`,
    [rooms.map((one) => one.id)],
  )
  const ids = [...guests.map((one) => one.guestId), ...(booking.bookerGuestId ? [booking.bookerGuestId] : [])]
  const { blockers } = await barredAmong(trx, booking.propertyId, ids)
  const words = await wordsOf(trx, booking)
  const documentNumber = words?.booker.document?.number ?? null
  if (blockers.length > 0 || documentNumber === null) return blockers
  const level = await blockAgainst(trx, booking.propertyId, { documentNumber })
  return blocker(level === 'refuse', 'guest_barred', 'A guest is barred from the house', 'barred_guest')
}

/**
 * The desk confirms held rooms, all or those that are named (T8, R16): what they owe at booking must be covered, or waived. Repeating it changes nothing.
 * 409 hold_expired, invalid_transition; 422 transition_blocked.
 */
export const confirmHeld = async (
  trx: Trx,
  bookingId: string,
  {
    reservationIds,
    override = null,
    expectedVersion = null,
  }: { reservationIds?: readonly string[] | undefined; override?: Granted | null; expectedVersion?: number | null },
): Promise<void> => {
  const locked = await lockForDesk(trx, bookingId, expectedVersion)
  const { booking, reservations, businessDate } = locked
  const named = reservationIds ? reservations.filter((one) => reservationIds.includes(one.id)) : reservations
  if (reservationIds && named.length !== new Set(reservationIds).size) throw notFound()
  const rooms = named.filter((one) => one.status === 'held')
  if (rooms.length === 0) {
    if (named.some((one) => one.status === 'confirmed' || one.status === 'checked_in')) return
    if (named.some((one) => one.status === 'expired')) throw conflict('hold_expired', 'The hold has ended')
    throw conflict('invalid_transition', 'No room of the booking is held')
  }
  const deposits = await depositsOf(
    trx,
    rooms.map((one) => one.id),
  )
  const due = dueAtBooking(booking, deposits)
  const state = await paymentState(trx, 'booking', bookingId)
  const covered = isCovered(due, booking.credit, state)
  if (!covered) refuseHoldOver(locked)
  const used = refuseBlocked(
    [
      ...(await barredOf(trx, booking, rooms)),
      ...blocker(due > 0 && !covered, 'deposit_missing', `${due} is due at booking`, 'deposit'),
      ...blocker(
        due > 0 && !covered && isRunning(state),
        'payment_in_progress',
        'A payment is being processed; it confirms the booking by itself',
      ),
    ],
    override,
  )
  await confirmRooms(
    trx,
    { locked, rooms, deposits, words: await wordsOf(trx, booking), businessDate, override: used },
    'T8',
  )
}

/**
 * Moves the end of a hold, or makes an option of it (H2): within its cap, an option within the days of the house and before the day of arrival. A hold of the
 * portal becomes an option by callers that may oversell. 409 hold_expired; 422 hold_too_long, transition_blocked.
 */
export const extendHold = async (
  trx: Trx,
  bookingId: string,
  {
    until,
    kind,
    mayTakeOver,
    expectedVersion = null,
  }: { until: string; kind?: 'option' | undefined; mayTakeOver: boolean; expectedVersion?: number | null },
): Promise<void> => {
  const locked = await lockForDesk(trx, bookingId, expectedVersion)
  const { booking, reservations, now } = locked
  const property = await readProperty(trx, booking.propertyId)
  if (!property) throw notFound()
  refuseHoldOver(locked)
  const isOption = kind === 'option' || booking.holdKind === 'option'
  if (kind === 'option' && booking.source === 'portal' && booking.holdKind !== 'option') {
    if (!mayTakeOver)
      throw forbidden('override_not_permitted', 'Your role may not take over a hold of the portal', [
        { field: 'kind', message: 'availability' },
      ])
    refuseBlocked(
      blocker(
        isRunning(await paymentState(trx, 'booking', bookingId)),
        'payment_in_progress',
        'A payment is being processed; wait for its end',
      ),
    )
  }
  const held = reservations.filter((one) => one.status === 'held')
  const arrival = held.map((one) => one.arrival).sort()[0] ?? ''
  const { holds } = property.settings
  const most = isOption
    ? Math.min(
        booking.createdAt.getTime() + holds.optionMaxDays * 86_400_000,
        localInstant(arrival, '00:00', property.timezone).getTime(),
      )
    : (booking.holdCapAt?.getTime() ?? 0)
  const end = new Date(until)
  if (end <= now) throw invalid([{ field: 'until', message: 'must be in the future' }])
  if (end.getTime() > most)
    throw unprocessable('hold_too_long', 'The hold cannot last so long', [
      { field: 'until', message: `must not be after ${new Date(most).toISOString()}` },
    ])
  const moved = await sqlOne<BookingRow>(
    trx,
    `update booking set hold_kind = ?, hold_expires_at = ?, hold_cap_at = ?, hold_version = hold_version + 1, version = version + 1
     where id = ? returning *`,
    [isOption ? 'option' : booking.holdKind, end, isOption ? new Date(most) : booking.holdCapAt, bookingId],
  )
  const { tenantId } = contextOf(trx)
  if (!moved || !tenantId) return
  await enqueue(trx, expireHold, { tenantId, bookingId }, { at: end })
  await emit(trx, bookingHoldExtended, bookingFact(moved, held))
}

export type BookingChange = {
  bookerGuestId?: string | undefined
  language?: string | undefined
  externalReference?: string | null | undefined
}

/**
 * Changes the booker, language or reference of a booking. Another booker ends the guest tokens of the one before. A hold of the portal has no booker until it
 * is confirmed, and one who is barred is refused as at booking: 422 `transition_blocked`. 409 duplicate_reference, guest_erased, version_conflict.
 */
export const changeBooking = async (
  trx: Trx,
  bookingId: string,
  change: BookingChange,
  { expectedVersion, override }: { expectedVersion: number | null; override: Granted | null },
): Promise<void> => {
  const { booking, reservations, businessDate } = await lockForDesk(trx, bookingId, expectedVersion)
  const booker = change.bookerGuestId
    ? (await resolveGuests(trx, [change.bookerGuestId], 'bookerGuestId')).get(change.bookerGuestId)
    : undefined
  const isNew = booker !== undefined && booker !== booking.bookerGuestId
  const unknown = blocker(
    isNew && booking.bookerGuestId === null,
    'booker_unknown',
    'The booker is known once the hold is confirmed',
  )
  const barred = isNew ? (await barredAmong(trx, booking.propertyId, [booker])).blockers : []
  const used = refuseBlocked([...unknown, ...barred], override)
  const asked = {
    bookerGuestId: booker ?? booking.bookerGuestId,
    language: change.language ?? booking.language,
    externalReference: change.externalReference === undefined ? booking.externalReference : change.externalReference,
  }
  const changed = (['bookerGuestId', 'language', 'externalReference'] as const).flatMap((field) =>
    asked[field] === booking[field] ? [] : [{ field, before: booking[field], after: asked[field] }],
  )
  // A reference is a text, which may be personal: it stays out of what is told.
  const told = changed.map((one) => (one.field === 'externalReference' ? { ...one, before: null, after: null } : one))
  if (changed.length === 0) return
  const written = await sqlOne<BookingRow>(
    trx,
    `update booking set booker_guest_id = ?, language = ?, external_reference = ?, version = version + 1,
       email_index = case when ?::boolean then (select email_index from guest where id = ?) else email_index end,
       guest_tokens_valid_from = case when ?::boolean then now() else guest_tokens_valid_from end
     where id = ? returning *`,
    [asked.bookerGuestId, asked.language, asked.externalReference, isNew, asked.bookerGuestId, isNew, bookingId],
  )
  const [stay] = reservations
  if (stay) recordOverride(trx, { stay, command: 'change_booker', override: used, businessDate })
  if (written) await emit(trx, bookingChanged, { ...bookingFact(written, reservations), changed: told })
}
