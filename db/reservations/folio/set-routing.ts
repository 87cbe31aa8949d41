import { unprocessable, versionConflict } from '../../../config/errors.ts'
import { reservationChanged } from '../../../config/events/reservations.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lockStay } from '../lock.ts'
import { isLive } from '../rules/states.ts'
import { lockFoliosById } from './lock.ts'

/** Categories that a stay is charged in; its fees stay on the primary folio. */
export const routedCategories = [
  'room',
  'rooms',
  'food',
  'beverage',
  'laundry',
  'spa',
  'parking',
  'tours',
  'other',
] as const

export type NewRoute = {
  folioId: string
  /** All of them, where it is left out. */
  categories?: readonly string[] | undefined
  /** Nights or days of service, both included. */
  from?: string | undefined
  until?: string | undefined
}

/**
 * Sets which folios take which charges of a stay from now on; what is posted stays where it is. Replaces all routes. 422 `reference_not_found` for a folio that
 * the property does not have, `folio_closed` for one that is closed.
 */
export const setRouting = async (
  trx: Trx,
  reservationId: string,
  routes: readonly NewRoute[],
  expected: number | null,
): Promise<void> => {
  const { booking, stay } = await lockStay(trx, reservationId)
  if (expected !== null && stay.version !== expected) throw versionConflict(stay.version)
  if (!isLive(stay.status) || stay.status === 'held')
    throw unprocessable('rule_violated', 'Charges are routed while a stay is confirmed or in the house', [
      { field: 'status', message: 'must be confirmed or checked in' },
    ])
  const folios = await lockFoliosById(
    trx,
    routes.map((route) => route.folioId),
  )
  routes.forEach((route, index) => {
    const folio = folios.find((one) => one.id === route.folioId && one.propertyId === booking.propertyId)
    const field = `routes.${index}.folioId`
    if (!folio)
      throw unprocessable('reference_not_found', 'The property does not have this folio', [
        { field, message: 'does not exist' },
      ])
    if (folio.status === 'closed')
      throw unprocessable('folio_closed', `Folio ${folio.number} is closed`, [{ field, message: 'is closed' }])
    if (route.from !== undefined && route.until !== undefined && route.from > route.until)
      throw unprocessable('rule_violated', 'A route ends on or after the day it begins', [
        { field: `routes.${index}.until`, message: 'must not be before from' },
      ])
  })
  await sql(trx, `delete from folio_route where reservation_id = ?`, [reservationId])
  await sql(
    trx,
    `insert into folio_route (reservation_id, position, folio_id, categories, "from", "until")
     select ?, v.position, (v.route ->> 'folioId')::uuid,
       case when jsonb_exists(v.route, 'categories') then array(select jsonb_array_elements_text(v.route -> 'categories')) end,
       (v.route ->> 'from')::date, (v.route ->> 'until')::date
     from jsonb_array_elements(?::jsonb) with ordinality as v (route, position)`,
    [reservationId, JSON.stringify(routes)],
  )
  const [now] = await sql<{ version: number }>(
    trx,
    `update reservation set version = version + 1 where id = ? returning version`,
    [reservationId],
  )
  await emit(trx, reservationChanged, {
    propertyId: booking.propertyId,
    id: reservationId,
    version: now?.version ?? null,
    changed: [{ field: 'routing', before: null, after: null }],
    data: {
      reservationId,
      number: `${booking.number}-${stay.position}`,
      bookingId: booking.id,
      status: stay.status,
    },
  })
}
