import { sum } from '../../lib/amounts.ts'
import type { FeeBase } from '../../properties/index.ts'
import type { ReservationNightRow, ReservationRow } from '../../rows.ts'

/**
 * The part of a stay that a fee for its end is taken of: nights that are sold and were not paid for otherwise, with the services to come. Nights on a folio are owed
 * already. `nights` are those of the stay, in order of date.
 */
export const feeBase = (
  { roomTotal, total, postedTotal }: Pick<ReservationRow, 'roomTotal' | 'total' | 'postedTotal'>,
  nights: readonly Pick<ReservationNightRow, 'amount' | 'status'>[],
): FeeBase => {
  const of = (status: ReservationNightRow['status']) =>
    nights.filter((night) => night.status === status).map((night) => night.amount)
  return { nights: of('open'), roomTotal: roomTotal - sum(of('charged')), total: total - postedTotal }
}
