import type { PolicySnapshots } from '../../config/policy-rules.ts'
import { localInstant } from '../../config/time.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { SaleProperty, FeeBase, FeeInstants } from '../properties/index.ts'
import { feeAt, nextDeadline } from '../properties/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'

export const policiesOf = (reservation: Pick<ReservationRow, 'policies'>) => reservation.policies as PolicySnapshots

export type StayFee = {
  reservationId: string
  fee: number
  nextDeadline: Date | null
  base: FeeBase
  instants: FeeInstants
}

type NightAmount = { reservationId: string; amount: number }

/** What cancelling each confirmed reservation costs at an instant, by its own copy of the policy; a held one costs nothing (R28). */
export const cancellationFees = async (
  trx: Trx,
  property: SaleProperty,
  booking: Pick<BookingRow, 'createdAt'>,
  reservations: readonly ReservationRow[],
  now: Date,
): Promise<StayFee[]> =>
  feesOf(
    property,
    booking,
    reservations,
    now,
    await prepared<NightAmount>(
      trx,
      `select reservation_id, amount from reservation_night where reservation_id = any(?::uuid[]) order by reservation_id, date`,
      [reservations.map((one) => one.id)],
    ),
  )

/** Fees of a cancellation, from nights that were read already, by date. */
export const feesOf = (
  property: SaleProperty,
  booking: Pick<BookingRow, 'createdAt'>,
  reservations: readonly ReservationRow[],
  now: Date,
  nights: readonly NightAmount[],
): StayFee[] =>
  reservations.map((one) => {
    const base = {
      nights: nights.filter((night) => night.reservationId === one.id).map((night) => night.amount),
      roomTotal: one.roomTotal,
      total: one.total,
    }
    const instants = {
      arrivalAt: localInstant(one.arrival, property.checkInFrom, property.timezone),
      bookedAt: booking.createdAt,
      now,
    }
    const { rules } = policiesOf(one).cancellation
    const costs = one.status === 'confirmed'
    return {
      reservationId: one.id,
      fee: costs ? feeAt(rules, base, instants) : 0,
      nextDeadline: costs ? nextDeadline(rules, base, instants) : null,
      base,
      instants,
    }
  })
