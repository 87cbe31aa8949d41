import { conflict, unprocessable } from '../../config/errors.ts'
import { reservationConfirmed } from '../../config/events/reservations.ts'
import { assignUnit } from '../../jobs/reservations.ts'
import { businessDay } from '../financial/index.ts'
import { blockAgainst, readWords } from '../guests/index.ts'
import type { HeldWords } from '../guests/index.ts'
import { contextOf, prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueueAll } from '../lib/enqueue.ts'
import { giveMethods, paymentState } from '../payment/index.ts'
import { readProperty } from '../properties/index.ts'
import type { BookingRow, DepositRow, FolioRow, ReservationRow } from '../rows.ts'
import { moveInventory } from '../units/index.ts'
import { refundCredit, settleCredit } from './credit.ts'
import { openPrimaryFolios } from './folio/open.ts'
import { depositsOf, lockBooking, propertyOfBooking } from './lock.ts'
import type { LockedBooking } from './lock.ts'
import { guestsNamed, nameGuests } from './named-guests.ts'
import { setNights, stockMoves } from './night-moves.ts'
import { retakePromo } from './promo-use.ts'
import { recordTransition } from './record.ts'
import { dueAtBooking, isCovered, isRunning } from './rules/deposits.ts'
import { bookingStatus } from './rules/states.ts'

/** Rooms whose confirmation is written: those of one booking, or one room of each of several new ones. */
type Confirming = {
  transition: 'T4' | 'T8' | 'T21'
  bookings: readonly BookingRow[]
  rooms: readonly ReservationRow[]
  deposits: readonly DepositRow[]
  primaryOf: ReadonlyMap<string, string>
  businessDate: string
  override?: { rules: readonly string[]; reason: string } | null
  /** Rooms that the desk gives a unit itself. */
  withUnit?: ReadonlySet<string> | undefined
}

/** Deposits that are covered or due at booking guarantee a stay. */
const isGuaranteed = (booking: BookingRow, deposits: readonly DepositRow[]) =>
  deposits.some((one) => one.amount > one.waivedAmount) && (booking.credit > 0 || dueAtBooking(booking, deposits) > 0)

/** Writes rooms as confirmed, opens their folios, asks for units and tells of it: a few statements, whatever the number. Answers both in the order of `rooms`. */
export const writeConfirmed = async (
  trx: Trx,
  { transition, bookings, rooms, deposits, primaryOf, businessDate, override = null, withUnit }: Confirming,
): Promise<{ confirmed: ReservationRow[]; folios: FolioRow[] }> => {
  const [booking] = bookings
  if (!booking) return { confirmed: [], folios: [] }
  const depositsOfBooking = (id: string) => {
    const own = new Set(rooms.filter((one) => one.bookingId === id).map((one) => one.id))
    return deposits.filter((one) => own.has(one.reservationId))
  }
  const guaranteed = new Set(
    deposits.length === 0
      ? []
      : bookings.filter((one) => isGuaranteed(one, depositsOfBooking(one.id))).map((one) => one.id),
  )
  const written = await prepared<ReservationRow>(
    trx,
    `update reservation r set status = 'confirmed', confirmed_at = now(), primary_guest_id = v.guest_id, version = r.version + 1, guarantee = case
         when exists (select from company c where c.tenant_id = b.tenant_id and c.id = b.company_id and c.customer_id is not null) then 'company'
         when v.has_deposit then 'deposit'
         when exists (select from payment_method m where m.tenant_id = b.tenant_id and m.guest_id = b.booker_guest_id and m.status = 'active') then 'method'
         else 'none' end
     from unnest(?::uuid[], ?::uuid[], ?::boolean[]) as v(id, guest_id, has_deposit), booking b
     where r.id = v.id and b.tenant_id = r.tenant_id and b.id = r.booking_id returning r.*`,
    [
      rooms.map((one) => one.id),
      rooms.map((one) => primaryOf.get(one.id)),
      rooms.map((one) => guaranteed.has(one.bookingId)),
    ],
  )
  const byId = new Map(written.map((one) => [one.id, one]))
  const confirmed = rooms.map((one) => byId.get(one.id)!)
  const folios = await openPrimaryFolios(trx, confirmed)
  const property = await readProperty(trx, booking.propertyId)
  const { tenantId } = contextOf(trx)
  if (tenantId && property?.settings.assignment.automatic)
    await enqueueAll(
      trx,
      assignUnit,
      confirmed.filter(({ id }) => !withUnit?.has(id)).map(({ id }) => ({ tenantId, reservationId: id })),
    )
  await recordTransition(trx, {
    id: transition,
    booking,
    bookings: new Map(bookings.map((one) => [one.id, one])),
    reservations: confirmed,
    event: reservationConfirmed,
    businessDate,
    override,
    data: { rescued: transition === 'T21' },
  })
  return { confirmed, folios }
}

type Rooms = {
  locked: LockedBooking
  rooms: readonly ReservationRow[]
  deposits: readonly DepositRow[]
  /** Of a hold of the portal; null where the desk has named its guests already. */
  words: HeldWords | null
  businessDate: string
  override?: { rules: readonly string[]; reason: string } | null
  /** Rooms that the desk gives a unit itself. */
  withUnit?: ReadonlySet<string>
}

/**
 * Confirms rooms of a locked booking: from a hold (T8), at once (T4), or after a hold by late money (T21). The callers of the last two have taken the
 * nights.
 */
export const confirmRooms = async (
  trx: Trx,
  { locked, rooms, deposits, words, businessDate, override = null, withUnit }: Rooms,
  transition: 'T4' | 'T8' | 'T21',
): Promise<void> => {
  const { booking, reservations, now } = locked
  const ids = rooms.map((one) => one.id)
  const { bookerGuestId, primaryOf } = words
    ? await nameGuests(trx, booking, rooms, words)
    : await guestsNamed(trx, booking, rooms)
  if (transition === 'T8') await moveInventory(trx, await stockMoves(trx, ids, 'open', { held: -1, sold: 1 }))
  if (transition === 'T21') {
    // Late money buys at the quoted price, so the code counts again where it still can.
    await retakePromo(trx, booking)
    await setNights(trx, ids, 'released', 'open')
  }
  const othersHeld = reservations.some((one) => one.status === 'held' && !ids.includes(one.id))
  await sql(
    trx,
    `update booking set booker_guest_id = ?, sealed = case when ?::boolean then sealed end, hold_kind = case when ?::boolean then hold_kind end,
       hold_expires_at = case when ?::boolean then hold_expires_at end, hold_cap_at = case when ?::boolean then hold_cap_at end,
       hold_version = case when ?::boolean then hold_version end, ended_at = null, version = version + 1 where id = ?`,
    [bookerGuestId, othersHeld, othersHeld, othersHeld, othersHeld, othersHeld, booking.id],
  )
  giveMethods(trx, booking.id, bookerGuestId)
  const { confirmed, folios } = await writeConfirmed(trx, {
    transition,
    bookings: [booking],
    rooms: rooms.toSorted((a, b) => a.position - b.position),
    deposits,
    primaryOf,
    businessDate,
    override,
    withUnit,
  })
  const left = await settleCredit(trx, { booking, reservations: confirmed, folios, now, businessDate })
  if (left > 0 && !othersHeld) await refundCredit(trx, booking.id, left, 'late_payment')
}

/** Confirmed, or nothing to do; `waiting` while a payment is still running. */
export type Confirmation = 'confirmed' | 'already' | 'waiting'

/**
 * Confirms a held booking at the guest's request, where nothing that is due is unpaid (R13 of public.md). A repeated call does no harm. Null where there is no
 * such booking.
 */
export const confirmBooking = async (trx: Trx, bookingId: string): Promise<Confirmation | null> => {
  const propertyId = await propertyOfBooking(trx, bookingId)
  if (!propertyId) return null
  const businessDate = await businessDay(trx, propertyId)
  const locked = await lockBooking(trx, bookingId)
  if (!locked) return null
  const { booking, reservations, now } = locked
  const rooms = reservations.filter((one) => one.status === 'held')
  if (rooms.length === 0) return endedAs(bookingStatus(reservations))
  const deposits = await depositsOf(
    trx,
    rooms.map((one) => one.id),
  )
  const due = dueAtBooking(booking, deposits)
  const state = await paymentState(trx, 'booking', bookingId)
  const covered = isCovered(due, booking.credit, state)
  if (due > 0 && !covered && isRunning(state)) return 'waiting'
  if (!covered && booking.holdExpiresAt !== null && booking.holdExpiresAt <= now) throw holdExpired()
  if (due > 0 && !covered)
    throw unprocessable('payment_required', 'Pay what is due now; the payment then confirms the booking by itself')
  const words = await wordsOf(trx, booking)
  if (words) await refuseBarred(trx, booking, words)
  await confirmRooms(trx, { locked, rooms, deposits, words, businessDate }, 'T8')
  return 'confirmed'
}

/** The words of a portal's hold; null where the desk has named its booker already. */
export const wordsOf = async (trx: Trx, booking: BookingRow): Promise<HeldWords | null> => {
  const words = await readWords(trx, booking)
  if (!words && booking.bookerGuestId === null) throw new Error(`the words of hold ${booking.id} are gone`)
  return words
}

const holdExpired = () => conflict('hold_expired', 'The hold has ended; ask for a new quote')

const endedAs = (status: ReturnType<typeof bookingStatus>): Confirmation => {
  if (status === 'expired') throw holdExpired()
  if (status === 'cancelled' || status === 'no_show')
    throw conflict('invalid_transition', 'The booking has been cancelled')
  return 'already'
}

const refuseBarred = async (trx: Trx, booking: BookingRow, words: HeldWords) => {
  const number = words.booker.document?.number
  if (number === undefined) return
  if ((await blockAgainst(trx, booking.propertyId, { documentNumber: number })) === 'refuse')
    throw unprocessable('booking_refused', 'This booking cannot be made online; contact the property')
}
