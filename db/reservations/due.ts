import { sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import type { BookingRow, DepositRow, FolioRow, ReservationRow } from '../rows.ts'
import { dueAtBooking } from './confirm.ts'
import { projectedBalance } from './credit.ts'
import { lockBooking, lockPrimaryFolios, depositsOf } from './lock.ts'
import { uncovered } from './rules/deposits.ts'
import { bookingStatus, isLive } from './rules/states.ts'
import type { BookingStatus } from './rules/states.ts'

export type Money = { booking: BookingRow; reservations: readonly ReservationRow[]; folios: readonly FolioRow[]; deposits: readonly DepositRow[]; now: Date }

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

/** What a guest must pay now by the policies (R11 of public.md): of held rooms what was due at booking, of others what has fallen due. */
export const dueNowOf = ({ booking, reservations, folios, deposits, now }: Money): number => {
  const held = reservations.filter((one) => one.status === 'held').map((one) => one.id)
  const ofHold = dueAtBooking(booking, deposits.filter((one) => held.includes(one.reservationId)))
  const ofStays = reservations
    .filter((one) => one.status === 'confirmed' || one.status === 'checked_in')
    .map((one) => {
      const credits = folios.find((folio) => folio.reservationId === one.id)?.credits ?? 0
      return uncovered(deposits.filter((deposit) => deposit.reservationId === one.id), credits, now)
    })
  return Math.max(0, ofHold + sum(ofStays) - booking.credit)
}

/** What may be paid at all: the price of all live rooms and what was charged beside it, less the money that is there. */
export const payableOf = ({ booking, reservations, folios }: Money): number => {
  const owed = reservations
    .filter((one) => isLive(one.status))
    .map((one) => {
      const folio = folios.find((each) => each.reservationId === one.id)
      return folio ? projectedBalance(one, folio) : one.total
    })
  return Math.max(0, sum(owed) - booking.credit)
}

export type BookingDue = {
  propertyId: string
  currency: string
  number: string
  status: BookingStatus
  holdExpiresAt: Date | null
  /** Minor units. */
  dueNow: number
  payable: number
  arrival: string
}

/** Locks a booking and says what is due of it and what is payable at all; null where there is none. For who takes a guest's payment. */
export const lockBookingDue = async (trx: Trx, bookingId: string): Promise<BookingDue | null> => {
  const locked = await lockBooking(trx, bookingId)
  if (!locked) return null
  const { booking, reservations, now } = locked
  const ids = reservations.map((one) => one.id)
  const folios = await lockPrimaryFolios(trx, ids)
  const money = { booking, reservations, folios, deposits: await depositsOf(trx, ids), now }
  return { ...factsOf(booking, reservations), dueNow: dueNowOf(money), payable: payableOf(money) }
}

const factsOf = (booking: BookingRow, reservations: readonly ReservationRow[]) => ({
  propertyId: booking.propertyId,
  currency: booking.currency,
  number: booking.number,
  status: bookingStatus(reservations),
  holdExpiresAt: booking.holdExpiresAt,
  arrival: reservations.map((one) => one.arrival).sort()[0] ?? '',
})

export type BookingState = { number: string; status: BookingStatus; holdExpiresAt: Date | null }

/** How a booking stands, as a guest who waits for a payment is told; one query. */
export const readBookingState = async (trx: Trx, bookingId: string): Promise<BookingState | null> => {
  const row = await sqlOne<{ number: string; holdExpiresAt: Date | null; rooms: { status: ReservationRow['status']; updatedAt: string }[] }>(
    trx,
    `select b.number, b.hold_expires_at, (select jsonb_agg(jsonb_build_object('status', r.status, 'updatedAt', r.updated_at)) from reservation r
       where r.tenant_id = b.tenant_id and r.booking_id = b.id) as rooms
     from booking b where b.id = ?`,
    [bookingId],
  )
  if (!row) return null
  return {
    number: row.number,
    status: bookingStatus(row.rooms.map((room) => ({ status: room.status, updatedAt: new Date(room.updatedAt) }))),
    holdExpiresAt: row.holdExpiresAt,
  }
}
