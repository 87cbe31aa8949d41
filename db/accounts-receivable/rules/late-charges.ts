import { daysBetween } from '../../../config/time.ts'
import { scaled, shareOf } from '../../lib/amounts.ts'

/** Basis points: of the open amount once, and of it for each 30 days. */
export type LateChargeRates = { fineRate: number; monthlyInterestRate: number }
export type LateCharges = { fine: number; interest: number; asOf: string }

const daysOfMonth = 30

/** The charges for an overdue installment on a day, in minor units, each half-up (R16). Proposed, never booked by itself. */
export const lateChargesOf = (
  { open, dueOn }: { open: number; dueOn: string },
  { fineRate, monthlyInterestRate }: LateChargeRates,
  asOf: string,
): LateCharges => {
  const days = Math.max(0, daysBetween(dueOn, asOf))
  if (days === 0) return { fine: 0, interest: 0, asOf }
  return {
    fine: shareOf(open, fineRate),
    interest: scaled(open, monthlyInterestRate * days, 10_000 * daysOfMonth),
    asOf,
  }
}
