import { alertsOf } from '../guests/index.ts'
import type { Audience } from '../guests/index.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { notesToTell } from './notes.ts'
import { barredAmong } from './party.ts'
import type { Warning } from './rules/blockers.ts'
import type { TransitionId } from './rules/states.ts'

export type Alert = { id: string; text: string }

const onlyAlert = ({ id, text }: Alert): Alert => ({ id, text })
/** One of each: a person may be of several stays. */
const once = (alerts: readonly Alert[]): Alert[] => [
  ...new Map(alerts.map((alert) => [alert.id, onlyAlert(alert)])).values(),
]

/** Commands at which notes are told, by their transition. */
const momentOf = { T8: 'booking', T13: 'check_in', T16: 'check_out' } as const

/** Notes of a stay and of its guests that are told at a transition to readers of the audiences. */
export const alertsAt = async (
  trx: Trx,
  transition: TransitionId,
  {
    reservationId,
    guestIds,
    audiences,
  }: { reservationId: string; guestIds: readonly string[]; audiences: readonly Audience[] },
): Promise<Alert[]> => {
  const moment = transition in momentOf ? momentOf[transition as keyof typeof momentOf] : null
  if (moment === null) return []
  const [ofGuests, ofStay] = await Promise.all([
    alertsOf(trx, guestIds, { audiences, alertAt: moment }),
    notesToTell(trx, [reservationId], moment, audiences),
  ])
  return once([...ofGuests, ...ofStay])
}

type Booked = { bookingId: string; reservationId?: string }

/** Notes and warnings of which the desk is told when it books a guest: of all people of a booking, or of one of its stays (R16 of guests.md). */
export const toldAtBooking = async (
  trx: Trx,
  { bookingId, reservationId }: Booked,
  audiences: readonly Audience[],
): Promise<{ alerts: Alert[]; warnings: Warning[] }> => {
  const people = await prepared<{ guestId: string; propertyId: string }>(
    trx,
    `select distinct x.guest_id, b.property_id from booking b
     cross join lateral (
       select b.booker_guest_id as guest_id where cast(:reservationId as uuid) is null
       union select n.guest_id from reservation r join reservation_guest n on n.tenant_id = r.tenant_id and n.reservation_id = r.id
         where r.tenant_id = b.tenant_id and r.booking_id = b.id and (cast(:reservationId as uuid) is null or r.id = :reservationId)) x
     where b.id = :bookingId and x.guest_id is not null order by x.guest_id`,
    { bookingId, reservationId: reservationId ?? null },
  )
  const [first] = people
  if (!first) return { alerts: [], warnings: [] }
  const guestIds = people.map((one) => one.guestId)
  const [alerts, { warnings }] = await Promise.all([
    alertsOf(trx, guestIds, { audiences, alertAt: 'booking' }),
    barredAmong(trx, first.propertyId, guestIds),
  ])
  return { alerts: once(alerts), warnings }
}
