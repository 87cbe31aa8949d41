import type { OverrideRule } from '../../../config/override-rules.ts'
import { addDays } from '../../../config/time.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { createBooking, payForBooking } from '../../reservations/index.ts'
import type { Granted } from '../../reservations/index.ts'
import { sol } from '../ids.ts'
import type { Stay } from './stays.ts'

/** An override of the desk, which the demo's receptionist may make. */
export const waive = (rules: OverrideRule[], reason: string): Granted => ({ rules, reason, priceCutBps: null })

const token = { all: 'success', due: 'success', disputed: 'disputed', pix: 'pix_unpaid', declined: 'decline' } as const

const mailOf = ([first, last]: Stay['who']) =>
  `${first}.${last}@guests.example`
    .normalize('NFD')
    .replaceAll(/[^a-zA-Z0-9.@]/g, '')
    .toLowerCase()

const roomOf = (stay: Stay, today: string) => ({
  unitTypeId: stay.unitTypeId,
  ratePlanId: stay.ratePlanId,
  arrival: addDays(today, stay.from),
  departure: addDays(today, stay.from + stay.nights),
  adults: stay.adults,
  childrenAges: [...(stay.ages ?? [])],
  extras: [],
  ...(stay.requests ? { requests: stay.requests } : {}),
})

const bookerOf = ({ who }: Stay) => ({
  firstName: who[0],
  lastName: who[1],
  nationality: who[2],
  language: who[3],
  email: mailOf(who),
})

/**
 * Books a stay by its money: held until the gateway has it, or confirmed at once where the booker is trusted. A walk-in is checked in
 * at once. Answers the booking's id.
 */
export const book = async (trx: Trx, stay: Stay, today: string): Promise<string> => {
  const isPaid = stay.money !== 'none'
  const isWalkIn = stay.source === 'walk_in'
  const bookingId = await createBooking(trx, {
    propertyId: sol.propertyId,
    source: stay.source,
    booker: bookerOf(stay),
    rooms: [roomOf(stay, today)],
    externalReference: stay.ref,
    ...(isPaid ? { hold: { kind: 'payment' as const } } : {}),
    ...(isWalkIn ? { checkIn: {} } : {}),
    override: waive(
      [...(isWalkIn ? (['early_check_in', 'unit_condition'] as const) : []), ...(isPaid ? [] : (['deposit'] as const))],
      'A guest of many years',
    ),
  })
  if (stay.money === 'none') return bookingId
  await payForBooking(trx, bookingId, {
    method: stay.money === 'pix' ? 'pix' : 'card',
    amount: stay.money === 'due' || stay.money === 'disputed' ? 'due' : 'all',
    cardToken: token[stay.money],
  })
  return bookingId
}

/** The only room of a booking that is known by its reference, with its first folio. */
export const roomOfRef = async (trx: Trx, ref: string): Promise<{ bookingId: string; id: string; folioId: string }> => {
  const room = await sqlOne<{ bookingId: string; id: string; folioId: string }>(
    trx,
    `select r.booking_id, r.id, f.id as folio_id from booking b
     join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id
     join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id and f.is_primary
     where b.external_reference = ? order by r.position limit 1`,
    [ref],
  )
  if (!room) throw new Error(`no confirmed booking ${ref}`)
  return room
}
