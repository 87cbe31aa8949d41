import { sum } from '../lib/amounts.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { moveAllocations, releaseMoney } from '../payment/index.ts'
import type { BookingRow, DepositRow, FolioRow, ReservationRow } from '../rows.ts'
import { tellCovered } from './deposits.ts'
import { addLines, announceBalances } from './folio/lines.ts'
import { outlookOf } from './folio/outlook.ts'
import { depositsOf } from './lock.ts'
import { moneyOf, shareOut, uncovered } from './rules/deposits.ts'

const methodNames: Record<string, string> = { card: 'Card', pix: 'Pix', boleto: 'Boleto' }

/**
 * Moves the credit of a booking to the primary folios of its rooms, as payment lines: first what installments are due, then what
 * the stays will owe. Booking, reservations and folios are locked. Answers the credit that no folio takes.
 */
export const settleCredit = async (
  trx: Trx,
  {
    booking,
    reservations,
    folios,
    now,
    businessDate,
  }: {
    booking: BookingRow
    reservations: readonly ReservationRow[]
    folios: readonly FolioRow[]
    now: Date
    businessDate: string
  },
): Promise<number> => {
  if (booking.credit === 0) return 0
  const deposits = await depositsOf(
    trx,
    reservations.map((one) => one.id),
  )
  const all = await sql<Pick<FolioRow, 'reservationId' | 'credits'>>(
    trx,
    `select reservation_id, credits from folio where reservation_id = any(?::uuid[])`,
    [reservations.map((one) => one.id)],
  )
  const outlook = await outlookOf(trx, reservations)
  const stays = reservations.map((reservation, index) => {
    const folio = folios[index]!
    const own = deposits.filter((one: DepositRow) => one.reservationId === reservation.id)
    return {
      due: uncovered(own, moneyOf(all, reservation.id), now),
      payable: folio.status === 'open' ? Math.max(0, folio.balance + (outlook.get(folio.id)?.toCome ?? 0)) : 0,
    }
  })
  const parts = shareOut(booking.credit, stays)
  const destinations = folios.flatMap((folio, index) =>
    parts[index] ? [{ folioId: folio.id, amount: parts[index], stage: folio.stage }] : [],
  )
  if (destinations.length === 0) return booking.credit
  const moved = await moveAllocations(trx, booking.id, destinations)
  const total = sum(moved.map((one) => one.amount))
  const methods = await sql<{ id: string; method: string }>(
    trx,
    `select id, method from payment where id = any(?::uuid[])`,
    [[...new Set(moved.map((one) => one.paymentId))]],
  )
  await sql(trx, `update booking set credit = credit - ?, version = version + 1 where id = ?`, [total, booking.id])
  const lines = await addLines(
    trx,
    moved.map((one) => ({
      folioId: one.targetId,
      kind: 'payment' as const,
      category: null,
      description: methodNames[methods.find((each) => each.id === one.paymentId)?.method ?? ''] ?? 'Payment',
      amount: -one.amount,
      businessDate,
      source: { type: 'payment_allocation', id: one.allocationId },
      paymentId: one.paymentId,
    })),
  )
  await announceBalances(
    trx,
    moved.map((one) => one.targetId),
    lines,
  )
  await tellCovered(trx, lines)
  return booking.credit - total
}

/**
 * Takes off a booking what buys nothing: gateways send their part back, and money that was recorded by hand stands unallocated until a person hands it back. The
 * target's `revert` takes both off. The booking is locked.
 */
export const refundCredit = async (
  trx: Trx,
  bookingId: string,
  amount: number,
  reason: 'late_payment' | 'cancellation',
): Promise<void> => {
  if (amount > 0) await releaseMoney(trx, { targetType: 'booking', targetId: bookingId, amount, reason })
}
