import type { BookingRow, ReservationRow } from '../rows.ts'

/** A booking with some of its rooms, as events tell of it. */
export const bookingFact = (booking: BookingRow, reservations: readonly Pick<ReservationRow, 'id'>[]) => ({
  propertyId: booking.propertyId,
  id: booking.id,
  version: booking.version,
  data: {
    bookingId: booking.id,
    number: booking.number,
    source: booking.source,
    reservationIds: reservations.map((one) => one.id),
    companyId: booking.companyId,
    agencyId: booking.agencyId,
    groupId: booking.groupId,
    holdExpiresAt: booking.holdExpiresAt?.toISOString() ?? null,
  },
})
