import { audiencesOf } from '../../db/guests/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { readReservation, toldAtBooking } from '../../db/reservations/index.ts'
import type { BookingShown, ReservationListed, ReservationShown } from '../../db/reservations/index.ts'
import type { Admission } from '../lib/caller.ts'

/** A reservation of a list without its amounts, for roles that may not read folios. */
export const withoutSums = ({
  roomTotal: _r,
  extrasTotal: _e,
  taxTotal: _t,
  total: _a,
  feeAmount: _f,
  balance: _b,
  ...row
}: ReservationListed) => row

/** The audiences whose notes the caller reads. */
export const audiencesFor = (admission: Admission) => audiencesOf(admission.role, admission.can('read', 'Guest'))

/** A reservation as the caller may see it: notes of their audiences, amounts where they may read folios. */
export const showReservation = (found: ReservationShown, admission: Admission) => {
  const audiences = audiencesFor(admission)
  const shown = { ...found, notes: found.notes.filter((note) => audiences.includes(note.audience)) }
  if (admission.can('read', 'Folio')) return shown
  const {
    roomTotal: _r,
    extrasTotal: _e,
    taxTotal: _t,
    total: _a,
    postedTotal: _p,
    feeAmount: _f,
    deposits: _d,
    fees: _c,
    folioSummary: _s,
    ...rest
  } = shown
  const { credit: _m, ...booking } = shown.booking
  return {
    ...rest,
    booking,
    nights: shown.nights.map(({ amount: _n, taxes: _x, components: _o, ...night }) => night),
    extras: shown.extras.map(({ unitAmount: _u, amount: _n, taxes: _x, ...extra }) => extra),
  }
}

/** A booking as the caller may see it: amounts where they may read folios. */
export const showBooking = (found: BookingShown, admission: Admission) => {
  if (admission.can('read', 'Folio')) return found
  const { total: _a, credit: _c, balance: _b, projected: _p, commissionRate: _r, ...rest } = found
  return { ...rest, reservations: found.reservations.map(withoutSums) }
}

/** A reservation to which people were added, with the notes and warnings of which the desk is told then. */
export const toldOfStay = async (trx: Trx, reservationId: string, admission: Admission) => {
  const found = await readReservation(trx, reservationId)
  const told = await toldAtBooking(trx, { bookingId: found.bookingId, reservationId }, audiencesFor(admission))
  return { ...showReservation(found, admission), ...told }
}
