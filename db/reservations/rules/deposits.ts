import { sum } from '../../lib/amounts.ts'
import type { PaymentState } from '../../payment/index.ts'
import type { BookingRow, DepositRow, FolioRow } from '../../rows.ts'

export type Due = { dueAt: Date; amount: number; waivedAmount: number }

/** Part of the installments due by an instant that the money does not cover; money fills them in order of `dueAt` (R26). */
export const uncovered = (installments: readonly Due[], money: number, by: Date): number => {
  const due = sum(installments.filter((one) => one.dueAt <= by).map((one) => one.amount - one.waivedAmount))
  return Math.max(0, due - money)
}

/** Money that covers the installments of a stay: the credits of all its folios, whichever of them it was put on (R26). */
export const moneyOf = (
  folios: readonly Pick<FolioRow, 'reservationId' | 'credits'>[],
  reservationId: string,
): number => sum(folios.filter((one) => one.reservationId === reservationId).map((one) => one.credits))

export type InstallmentStatus = 'open' | 'due' | 'covered' | 'waived'

/** Installments in order of `dueAt` with the part of each that the money covers (R26). */
export const installmentsOf = <Row extends Due>(
  installments: readonly Row[],
  money: number,
  now: Date,
): (Row & { covered: number; status: InstallmentStatus })[] => {
  let left = Math.max(0, money)
  return installments.map((one) => {
    const owed = one.amount - one.waivedAmount
    const covered = Math.min(left, owed)
    left -= covered
    const status =
      owed === 0 && one.waivedAmount > 0 ? 'waived' : covered >= owed ? 'covered' : one.dueAt <= now ? 'due' : 'open'
    return { ...one, covered, status }
  })
}

/**
 * Shares money out among stays: first what each still owes by its installments, then what it will owe in all. Answers a part for
 * each stay, in order; their sum is at most the money.
 */
export const shareOut = (money: number, stays: readonly { due: number; payable: number }[]): number[] => {
  let left = money
  const take = (wanted: number) => {
    const taken = Math.max(0, Math.min(left, wanted))
    left -= taken
    return taken
  }
  const first = stays.map((stay) => take(Math.min(stay.due, stay.payable)))
  return stays.map((stay, index) => (first[index] ?? 0) + take(stay.payable - (first[index] ?? 0)))
}

/** The amount that the policies of rooms make due at booking, from the installments of a hold that fell due with it. */
export const dueAtBooking = (booking: Pick<BookingRow, 'createdAt'>, deposits: readonly DepositRow[]) =>
  sum(deposits.filter((one) => one.dueAt <= booking.createdAt).map((one) => one.amount - one.waivedAmount))

/** Tells whether the money of a booking covers what was due (R12): only money does, so a hold with nothing due still expires. */
export const isCovered = (due: number, credit: number, state: PaymentState) =>
  credit + state.authorised > 0 && credit + state.authorised >= due

/** Its outcome is not known yet, so nothing may be decided about the hold. */
export const isRunning = (state: { live: readonly Pick<PaymentState['live'][number], 'status'>[] }) =>
  state.live.some((payment) => payment.status === 'unknown' || payment.status === 'processing')
