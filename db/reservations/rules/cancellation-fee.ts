import { localInstant } from '../../../config/time.ts'
import { feeAt, nextDeadline } from '../../properties/rules/policies.ts'
import type { FeeBase, FeeInstants, SaleProperty } from '../../properties/index.ts'
import type { BookingRow, ReservationNightRow, ReservationRow } from '../../rows.ts'
import { feeBase } from './fee-base.ts'
import { policiesOf } from './policies.ts'

export type StayFee = {
  reservationId: string
  fee: number
  nextDeadline: Date | null
  base: FeeBase
  instants: FeeInstants
}

export type NightAmount = Pick<ReservationNightRow, 'reservationId' | 'amount' | 'status'>

/**
 * The cost of cancelling each confirmed reservation at an instant, by its own copy of the policy; a held one costs nothing (R28). `nights` are in order of date;
 * those that are not sold any more, or that a fee has paid for, are no part of it.
 */
export const feesOf = (
  property: SaleProperty,
  booking: Pick<BookingRow, 'createdAt'>,
  reservations: readonly ReservationRow[],
  now: Date,
  nights: readonly NightAmount[],
): StayFee[] =>
  reservations.map((one) => {
    const base = feeBase(
      one,
      nights.filter((night) => night.reservationId === one.id),
    )
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
