import { ApiError } from '../../config/errors.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { businessDay } from '../financial/index.ts'
import { queueMessage } from '../ocp/index.ts'
import { cancelPaymentsOf, paymentState } from '../payment/index.ts'
import { moveInventory } from '../units/index.ts'
import { readWords } from '../guests/index.ts'
import { confirmRooms, wordsOf } from './confirm.ts'
import { dueAtBooking, isCovered } from './rules/deposits.ts'
import { refundCredit, settleCredit } from './credit.ts'
import { lockPrimaryFolios } from './folio/lock.ts'
import { depositsOf, lockBooking, propertyOfBooking } from './lock.ts'
import type { LockedBooking } from './lock.ts'
import { lockKnownBooker } from './named-guests.ts'
import { stockMoves } from './night-moves.ts'

export type Settled = 'confirmed' | 'rescued' | 'settled' | 'refunded' | 'waiting' | 'nothing'

/**
 * Applies the money of a booking, whatever came first: it confirms held rooms (T8), buys expired ones again at the quoted
 * price while their nights are free (T21), pays the folios of confirmed ones, and goes back where none of this is possible (R14 of
 * public.md). Repeating it changes nothing.
 */
export const confirmPaid = async (trx: Trx, bookingId: string): Promise<Settled> => {
  const propertyId = await propertyOfBooking(trx, bookingId)
  if (!propertyId) return 'nothing'
  const businessDate = await businessDay(trx, propertyId)
  const locked = await lockBooking(trx, bookingId)
  if (!locked) return 'nothing'
  const { booking, reservations, now } = locked
  const held = reservations.filter((one) => one.status === 'held')
  if (held.length > 0) {
    const deposits = await depositsOf(
      trx,
      held.map((one) => one.id),
    )
    if (!isCovered(dueAtBooking(booking, deposits), booking.credit, await paymentState(trx, 'booking', bookingId)))
      return 'waiting'
    await confirmRooms(trx, { locked, rooms: held, deposits, words: await wordsOf(trx, booking), businessDate }, 'T8')
    return 'confirmed'
  }
  const paying = reservations.filter(
    (one) => one.status === 'confirmed' || one.status === 'checked_in' || one.status === 'checked_out',
  )
  if (paying.length > 0) {
    if (booking.credit === 0) return 'nothing'
    const locks = await lockPrimaryFolios(
      trx,
      paying.map((one) => one.id),
    )
    const withFolio = paying.filter((one) => locks.some((folio) => folio.reservationId === one.id))
    const folios = withFolio.map((one) => locks.find((folio) => folio.reservationId === one.id)!)
    const left = await settleCredit(trx, { booking, reservations: withFolio, folios, now, businessDate })
    await refundCredit(trx, bookingId, left, 'late_payment')
    return 'settled'
  }
  if (await rescue(trx, locked, businessDate)) return 'rescued'
  await cancelPaymentsOf(trx, 'booking', bookingId)
  if (booking.credit === 0) return 'nothing'
  await refundCredit(trx, bookingId, booking.credit, 'late_payment')
  await queueMessage(trx, {
    propertyId,
    templateKey: 'payment-returned',
    dedupeKey: `returned-${bookingId}-${booking.version}`,
    reservationId: reservations[0]?.id ?? null,
  })
  return 'refunded'
}

/** Tells whether a property is closed for good. It is held, so that none is archived meanwhile. */
const isArchived = async (trx: Trx, propertyId: string): Promise<boolean> =>
  (await sqlOne<{ status: string }>(trx, `select status from property where id = ? for key share`, [propertyId]))
    ?.status === 'archived'

/**
 * Takes the nights of an expired hold again, if its credit covers what was due and they are free at this moment. A property that is closed for good takes no
 * guest.
 */
const rescue = async (trx: Trx, locked: LockedBooking, businessDate: string): Promise<boolean> => {
  const { booking, reservations } = locked
  const rooms = reservations.filter((one) => one.status === 'expired')
  const ids = rooms.map((one) => one.id)
  const words = await readWords(trx, booking)
  const isNamed = words !== null || booking.bookerGuestId !== null
  if (rooms.length === 0 || booking.credit === 0 || !isNamed || rooms.some((one) => one.arrival < businessDate))
    return false
  const deposits = await depositsOf(trx, ids)
  if (booking.credit < dueAtBooking(booking, deposits)) return false
  if (await isArchived(trx, booking.propertyId)) return false
  if (words) await lockKnownBooker(trx, words)
  try {
    await moveInventory(trx, await stockMoves(trx, ids, 'released', { sold: 1 }))
  } catch (error) {
    // Nothing was written yet: the refusal comes from the locked rows, before any of them is changed.
    if (error instanceof ApiError && (error.code === 'sold_out' || error.code === 'beyond_horizon')) return false
    throw error
  }
  await confirmRooms(trx, { locked, rooms, deposits, words, businessDate }, 'T21')
  return true
}
