import { conflict, unprocessable } from '../../config/errors.ts'
import { reservationChanged } from '../../config/events/reservations.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { seal } from '../lib/sealing/index.ts'
import type { ReservationRow } from '../rows.ts'
import { requestsPlace } from './hold-rows.ts'
import { lockStay } from './lock.ts'
import { recordAnew } from './on-the-books.ts'
import { isLive } from './rules/states.ts'

export type StayFields = {
  arrivalTime?: string | null | undefined
  departureTime?: string | null | undefined
  purpose?: ReservationRow['purpose'] | undefined
  marketSegment?: string | undefined
  requests?: string | null | undefined
}

const afterwards = new Set<keyof StayFields>(['purpose', 'marketSegment'])

/**
 * Changes what is said of a stay. Once the guest has left that is the segment and the purpose alone; a stay that ended otherwise does not change (R50). 409
 * invalid_transition, version_conflict; 422 `transition_blocked`.
 */
export const changeStayFields = async (
  trx: Trx,
  reservationId: string,
  change: StayFields,
  expectedVersion: number | null,
): Promise<void> => {
  const { booking, stay } = await lockStay(trx, reservationId, expectedVersion)
  const asked = (Object.keys(change) as (keyof StayFields)[]).filter((field) => change[field] !== undefined)
  if (!isLive(stay.status) && stay.status !== 'checked_out')
    throw conflict('invalid_transition', 'A stay that has ended does not change any more')
  const late = stay.status === 'checked_out' ? asked.filter((field) => !afterwards.has(field)) : []
  if (late.length > 0)
    throw unprocessable(
      'transition_blocked',
      'The guest has left',
      late.map((field) => ({ field: `blockers.${field}`, message: 'does not change after check-out' })),
    )
  const given = {
    arrivalTime: change.arrivalTime === undefined ? stay.arrivalTime : change.arrivalTime,
    departureTime: change.departureTime === undefined ? stay.departureTime : change.departureTime,
    purpose: change.purpose === undefined ? stay.purpose : change.purpose,
    marketSegment: change.marketSegment ?? stay.marketSegment,
  }
  const changed = (Object.keys(given) as (keyof typeof given)[]).flatMap((field) =>
    given[field] === stay[field] ? [] : [{ field, before: stay[field], after: given[field] }],
  )
  const words = change.requests?.trim()
  const sealed = words ? await seal(trx, 'tenant', requestsPlace(stay.id), { requests: words }) : null
  if (changed.length === 0 && change.requests === undefined) return
  const written = await sqlOne<ReservationRow>(
    trx,
    `update reservation set arrival_time = ?, departure_time = ?, purpose = ?, market_segment = ?,
       requests = case when ?::boolean then ? else requests end, version = version + 1 where id = ? returning *`,
    [
      given.arrivalTime,
      given.departureTime,
      given.purpose,
      given.marketSegment,
      change.requests !== undefined,
      sealed,
      stay.id,
    ],
  )
  if (!written) return
  // Of a stay that is over the books stay as they were.
  if (given.marketSegment !== stay.marketSegment && isLive(stay.status)) recordAnew(trx, [stay.id])
  await emit(trx, reservationChanged, {
    propertyId: stay.propertyId,
    id: stay.id,
    version: written.version,
    changed,
    data: {
      reservationId: stay.id,
      number: `${booking.number}-${stay.position}`,
      bookingId: booking.id,
      status: stay.status,
    },
  })
}
