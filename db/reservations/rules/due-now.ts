import { sum } from '../../lib/amounts.ts'
import type { BookingRow, DepositRow, FolioRow, ReservationRow } from '../../rows.ts'
import { dueAtBooking, moneyOf, uncovered } from './deposits.ts'

export type Money = {
  booking: BookingRow
  reservations: readonly ReservationRow[]
  /** All of the reservations. */
  folios: readonly FolioRow[]
  deposits: readonly DepositRow[]
  now: Date
}

/** Amount that policies make due now (R11 of public.md): for held rooms what was due at booking, for others what has fallen due. */
export const dueNowOf = ({ booking, reservations, folios, deposits, now }: Money): number => {
  const held = reservations.filter((one) => one.status === 'held').map((one) => one.id)
  const ofHold = dueAtBooking(
    booking,
    deposits.filter((one) => held.includes(one.reservationId)),
  )
  const ofStays = reservations
    .filter((one) => one.status === 'confirmed' || one.status === 'checked_in')
    .map((one) => {
      const own = deposits.filter((deposit) => deposit.reservationId === one.id)
      return uncovered(own, moneyOf(folios, one.id), now)
    })
  return Math.max(0, ofHold + sum(ofStays) - booking.credit)
}
