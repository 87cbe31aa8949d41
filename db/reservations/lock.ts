import { notFound } from '../../config/errors.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { businessDay } from '../financial/index.ts'
import { readProperty } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type { BookingRow, DepositRow, FolioRow, ReservationRow } from '../rows.ts'

export type LockedBooking = { booking: BookingRow; reservations: ReservationRow[]; now: Date }

/** Property of a booking, read without a lock, for what must be locked before it; null where there is none. */
export const propertyOfBooking = async (trx: Trx, bookingId: string): Promise<string | null> =>
  (await sqlOne<{ propertyId: string }>(trx, `select property_id from booking where id = ?`, [bookingId]))
    ?.propertyId ?? null

/**
 * Locks a booking and then its reservations, and reads both with the database's clock: the first step of every transition. The
 * business day, where the command is dated by it, comes before.
 */
export const lockBooking = async (trx: Trx, bookingId: string): Promise<LockedBooking | null> => {
  const found = await sqlOne<BookingRow & { now: Date }>(
    trx,
    `select b.*, now() as now from booking b where b.id = ? for no key update`,
    [bookingId],
  )
  if (!found) return null
  const { now, ...booking } = found
  const reservations = await sql<ReservationRow>(
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
  const reservations = await sql<ReservationRow>(
    trx,
    `select * from reservation where booking_id = any(?::uuid[]) order by id for no key update`,
    [bookings.map((one) => one.id)],
  )
  return { bookings, reservations }
}

export type LockedStay = LockedBooking & { stay: ReservationRow; property: SaleProperty; businessDate: string }

/** One stay with all that comes before it in the order of locks: the business day, its booking, the booking's reservations. 404. */
export const lockStay = async (trx: Trx, reservationId: string): Promise<LockedStay> => {
  const place = await sqlOne<{ bookingId: string; propertyId: string }>(
    trx,
    `select booking_id, property_id from reservation where id = ?`,
    [reservationId],
  )
  if (!place) throw notFound()
  const businessDate = await businessDay(trx, place.propertyId)
  const locked = await lockBooking(trx, place.bookingId)
  const property = await readProperty(trx, place.propertyId)
  const stay = locked?.reservations.find((one) => one.id === reservationId)
  if (!locked || !property || !stay) throw notFound()
  return { ...locked, stay, property, businessDate }
}

/** All folios of a reservation, locked by id. */
export const lockFolios = (trx: Trx, reservationId: string): Promise<FolioRow[]> =>
  sql<FolioRow>(trx, `select * from folio where reservation_id = ? order by id for no key update`, [reservationId])

/** Primary folios of reservations, locked by id. */
export const lockPrimaryFolios = (trx: Trx, reservationIds: readonly string[]): Promise<FolioRow[]> =>
  sql<FolioRow>(
    trx,
    `select * from folio where reservation_id = any(?::uuid[]) and is_primary order by id for no key update`,
    [reservationIds],
  )

export const depositsOf = (trx: Trx, reservationIds: readonly string[]): Promise<DepositRow[]> =>
  sql<DepositRow>(
    trx,
    `select * from deposit where reservation_id = any(?::uuid[]) order by reservation_id, due_at, position`,
    [reservationIds],
  )
