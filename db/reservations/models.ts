import { model } from '../lib/models.ts'

export const Booking = model('booking')

export const BookingGroup = model('booking_group')

export const ReservationNote = model<'reservation_note', { createdBy: { type: string; id: string | null } }>(
  'reservation_note',
)

export const Quote = model('quote')

export const WaitlistEntry = model('waitlist_entry')
