import { readBooking, readReservation } from '../../db/reservations/index.ts'
import { resource } from '../lib/resource.ts'
import { Booking, Reservation } from './schemas.ts'
import { showBooking, showReservation } from './views.ts'

/** One reservation. Its commands lock the booking first, so none of them finds it locked. */
export const reservations = resource({
  name: 'reservations',
  subject: 'Reservation',
  table: 'reservation',
  path: '/api/tenants/:tenantId/reservations',
  param: 'reservationId',
  lockedBy: 'command',
  record: Reservation,
  read: readReservation,
  show: showReservation,
})

/** One booking. Its commands lock it after the business day. */
export const bookings = resource({
  name: 'bookings',
  subject: 'Booking',
  table: 'booking',
  path: '/api/tenants/:tenantId/bookings',
  param: 'bookingId',
  lockedBy: 'command',
  record: Booking,
  read: readBooking,
  show: showBooking,
})
