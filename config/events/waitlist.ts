import { Day, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { event } from './event.ts'
import type { Event } from './event.ts'

const entry = {
  entity: 'waitlist_entry',
  subject: 'Booking',
  data: Obj({
    waitlistEntryId: Uuid,
    propertyId: Uuid,
    status: OneOf(['waiting', 'booked', 'closed']),
    arrival: Day,
    departure: Day,
    bookingId: Nullable(Uuid),
  }),
} as const
export const waitlistEntryCreated = event({ type: 'waitlist_entry.created', ...entry })
export const waitlistEntryChanged = event({ type: 'waitlist_entry.changed', ...entry })
export const waitlistEntryMatched = event({ type: 'waitlist_entry.matched', ...entry })
export const waitlistEntryBooked = event({ type: 'waitlist_entry.booked', ...entry })
export const waitlistEntryClosed = event({ type: 'waitlist_entry.closed', ...entry })

export const waitlistEvents: Event[] = [
  waitlistEntryCreated,
  waitlistEntryChanged,
  waitlistEntryMatched,
  waitlistEntryBooked,
  waitlistEntryClosed,
]
