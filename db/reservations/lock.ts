import { notFound, versionConflict } from '../../config/errors.ts'
import { prepared, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { businessDay } from '../financial/index.ts'
import { readProperty } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import { lockGroupRow } from './group/lock.ts'
import type { BookingRow, DepositRow, ReservationRow } from '../rows.ts'

export type LockedBooking = { booking: BookingRow; reservations: ReservationRow[]; now: Date }

/** Property of a booking, read without a lock, for what must be locked before it; null where there is none. */
export const propertyOfBooking = async (trx: Trx, bookingId: string): Promise<string | null> =>
  (await preparedOne<{ propertyId: string }>(trx, `select property_id from booking where id = ?`, [bookingId]))
    ?.propertyId ?? null

/** The booking that a reservation is of. 404. */
export const bookingOfReservation = async (trx: Trx, reservationId: string): Promise<string> => {
  const row = await sqlOne<{ bookingId: string }>(trx, `select booking_id from reservation where id = ?`, [
    reservationId,
  ])
  if (!row) throw notFound()
  return row.bookingId
}

/**
 * Locks a booking and then its reservations, and reads both with the database's clock: the first step of every transition. The
 * business day, where the command is dated by it, comes before.
 */
export const lockBooking = async (trx: Trx, bookingId: string): Promise<LockedBooking | null> => {
  const found = await preparedOne<BookingRow & { now: Date }>(
    trx,
    `select b.*, now() as now from booking b where b.id = ? for no key update`,
    [bookingId],
  )
  if (!found) return null
  const { now, ...booking } = found
  if (booking.groupId) await lockGroupRow(trx, booking.groupId)
  const reservations = await prepared<ReservationRow>(
    trx,
    `select * from reservation where booking_id = ? order by id for no key update`,
    [bookingId],
  )
  return { booking, reservations: reservations.sort((a, b) => a.position - b.position), now }
}

/** The bookings of some reservations, locked by id, and then all reservations of them. */
export const lockBookings = async (
  trx: Trx,
  reservationIds: readonly string[],
): Promise<{ bookings: BookingRow[]; reservations: ReservationRow[] }> => {
  const bookings = await sql<BookingRow>(
    trx,
    `select * from booking where id in (select booking_id from reservation where id = any(?::uuid[])) order by id for no key update`,
    [reservationIds],
  )
  const groupIds = [...new Set(bookings.flatMap((one) => (one.groupId ? [one.groupId] : [])))].sort()
  for (const groupId of groupIds) await lockGroupRow(trx, groupId)
  const reservations = await prepared<ReservationRow>(
    trx,
    `select * from reservation where booking_id = any(?::uuid[]) order by id for no key update`,
    [bookings.map((one) => one.id)],
  )
  return { bookings, reservations }
}

export type LockedStay = LockedBooking & { stay: ReservationRow; property: SaleProperty; businessDate: string }

/**
 * One stay with all that comes before it in the order of locks: the business day, its booking, the booking's reservations. 404; 409 `version_conflict`
 * where it is not of the version that the caller expects.
 */
export const lockStay = async (
  trx: Trx,
  reservationId: string,
  expectedVersion: number | null = null,
): Promise<LockedStay> => {
  const place = await sqlOne<{ bookingId: string; propertyId: string }>(
    trx,
    `select booking_id, property_id from reservation where id = ?`,
    [reservationId],
  )
  if (!place) throw notFound()
  const businessDate = await businessDay(trx, place.propertyId)
  const [locked, property] = await Promise.all([lockBooking(trx, place.bookingId), readProperty(trx, place.propertyId)])
  const stay = locked?.reservations.find((one) => one.id === reservationId)
  if (!locked || !property || !stay) throw notFound()
  if (expectedVersion !== null && expectedVersion !== stay.version) throw versionConflict(stay.version)
  return { ...locked, stay, property, businessDate }
}

export const depositsOf = (trx: Trx, reservationIds: readonly string[]): Promise<DepositRow[]> =>
  sql<DepositRow>(
    trx,
    `select * from deposit where reservation_id = any(?::uuid[]) order by reservation_id, due_at, position`,
    [reservationIds],
  )
