import {
  Amount,
  Bool,
  Count,
  Currency,
  Day,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  SignedAmount,
  Uuid,
} from '../schema.ts'
import { Code, Nights, event } from './event.ts'
import type { Event } from './event.ts'

const ReservationStatus = OneOf(['held', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'expired'])

const booking = {
  entity: 'booking',
  subject: 'Booking',
  data: Obj({
    bookingId: Uuid,
    number: Code,
    source: Code,
    reservationIds: List(Uuid, { max: 100 }),
    companyId: Nullable(Uuid),
    agencyId: Nullable(Uuid),
    groupId: Nullable(Uuid),
    holdExpiresAt: Nullable(Instant),
  }),
} as const
export const bookingCreated = event({ type: 'booking.created', ...booking })
export const bookingChanged = event({ type: 'booking.changed', ...booking })
export const bookingHoldExtended = event({ type: 'booking.hold_extended', ...booking })

const moveData = {
  reservationId: Uuid,
  number: Code,
  bookingId: Uuid,
  status: ReservationStatus,
  arrival: Day,
  departure: Day,
  unitTypeId: Uuid,
  unitId: Nullable(Uuid),
  ratePlanId: Uuid,
  adults: Count,
  childrenAges: List(Int(0, 17), { max: 50 }),
  total: Amount,
  currency: Currency,
  businessDate: Nullable(Day),
}
const move = { entity: 'reservation', subject: 'Reservation', data: Obj(moveData) } as const
export const reservationHeld = event({ type: 'reservation.held', ...move, listeners: ['ocp'] })
export const reservationConfirmed = event({
  type: 'reservation.confirmed',
  ...move,
  data: Obj({ ...moveData, rescued: Bool }),
  listeners: ['ocp'],
})
export const reservationAmended = event({
  type: 'reservation.amended',
  ...move,
  data: Obj({ ...moveData, difference: SignedAmount }),
  listeners: ['ocp'],
})
export const reservationCheckedIn = event({ type: 'reservation.checked_in', ...move, listeners: ['ocp'] })
export const reservationCheckedOut = event({ type: 'reservation.checked_out', ...move, listeners: ['ocp'] })
export const reservationCancelled = event({
  type: 'reservation.cancelled',
  ...move,
  data: Obj({ ...moveData, reason: Nullable(Code), feeAmount: Amount }),
  listeners: ['ocp'],
})
export const reservationNoShowRecorded = event({
  type: 'reservation.no_show_recorded',
  ...move,
  data: Obj({ ...moveData, reason: Nullable(Code), feeAmount: Amount }),
  listeners: ['ocp'],
})
export const reservationMoved = event({
  type: 'reservation.moved',
  ...move,
  data: Obj({ ...moveData, fromUnitId: Nullable(Uuid) }),
  listeners: ['ocp'],
})
export const reservationCheckInReverted = event({
  type: 'reservation.check_in_reverted',
  ...move,
  listeners: ['ocp plans'],
})
export const reservationCheckOutReverted = event({
  type: 'reservation.check_out_reverted',
  ...move,
  listeners: ['ocp plans'],
})
export const reservationReinstated = event({ type: 'reservation.reinstated', ...move, listeners: ['ocp'] })
export const reservationExpired = event({ type: 'reservation.expired', ...move, listeners: ['ocp'] })

const stayData = { reservationId: Uuid, number: Code, bookingId: Uuid, status: ReservationStatus }
const stay = { entity: 'reservation', subject: 'Reservation', data: Obj(stayData) } as const
export const reservationChanged = event({ type: 'reservation.changed', ...stay, listeners: ['ocp plans'] })
export const reservationGuestsChanged = event({ type: 'reservation.guests_changed', ...stay, listeners: ['ocp plans'] })
export const reservationExtrasChanged = event({ type: 'reservation.extras_changed', ...stay, listeners: ['ocp plans'] })
export const reservationUnitAssigned = event({
  type: 'reservation.unit_assigned',
  ...stay,
  data: Obj({ ...stayData, unitId: Nullable(Uuid), locked: Bool }),
})
export const reservationUnitUnassigned = event({
  type: 'reservation.unit_unassigned',
  ...stay,
  data: Obj({ ...stayData, unitId: Nullable(Uuid) }),
})
export const reservationOverbooked = event({
  type: 'reservation.overbooked',
  ...stay,
  listeners: ['issues'],
  data: Obj({ ...stayData, nights: Nights }),
})
export const reservationDepartureMissed = event({
  type: 'reservation.departure_missed',
  ...stay,
  data: Obj({ ...stayData, departure: Day, businessDate: Day }),
})

export const reservationsEvents: Event[] = [
  bookingCreated,
  bookingChanged,
  bookingHoldExtended,
  reservationHeld,
  reservationConfirmed,
  reservationAmended,
  reservationCheckedIn,
  reservationCheckedOut,
  reservationCancelled,
  reservationNoShowRecorded,
  reservationMoved,
  reservationCheckInReverted,
  reservationCheckOutReverted,
  reservationReinstated,
  reservationExpired,
  reservationChanged,
  reservationGuestsChanged,
  reservationExtrasChanged,
  reservationUnitAssigned,
  reservationUnitUnassigned,
  reservationOverbooked,
  reservationDepartureMissed,
]
