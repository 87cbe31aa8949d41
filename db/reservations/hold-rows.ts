import { randomUUID } from 'node:crypto'
import type { QuotedRoom } from '../../config/quote.ts'
import type { SellableRoom } from '../properties/index.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { BookingRow, DepositRow, ReservationExtraRow, ReservationNightRow, ReservationRow } from '../rows.ts'
import { seal } from '../lib/sealing/index.ts'

export type PricedRoom = { quoted: QuotedRoom; sold: SellableRoom }
export const requestsPlace = (reservationId: string) => ({
  table: 'reservation',
  rowId: reservationId,
  purpose: 'requests',
})

/** A guest's words about a room: requests, times and purpose. */
export type RoomWords = {
  requests: string | null
  arrivalTime: string | null
  departureTime?: string | null | undefined
  purpose?: ReservationRow['purpose'] | undefined
}

/** Rooms with their ids, before they are written. */
export type DraftedRooms = {
  ids: string[]
  rooms: readonly PricedRoom[]
  words: readonly RoomWords[]
  sealed: (Buffer | null)[]
  /** The place of each room. */
  places: readonly RoomPlace[]
}
export type RoomPlace = { bookingId: string; position: number }

/** Places of new rooms of one booking, after the last room that it has. */
export const placesIn = (bookingId: string, rooms: readonly unknown[], after = 0): RoomPlace[] =>
  rooms.map((_, index) => ({ bookingId, position: after + index + 1 }))

/** `words` are one for all rooms, or those of each. */
export const draftRooms = async (
  trx: Trx,
  rooms: readonly PricedRoom[],
  words: RoomWords | readonly RoomWords[],
  places: readonly RoomPlace[],
): Promise<DraftedRooms> => {
  const ids = rooms.map(() => randomUUID())
  const ofEach = rooms.map((_, index) => ('requests' in words ? words : words[index]!))
  const sealed = await Promise.all(
    ofEach.map(async ({ requests }, index) =>
      requests === null ? null : seal(trx, 'tenant', requestsPlace(ids[index]!), { requests }),
    ),
  )
  return { ids, rooms, words: ofEach, sealed, places }
}

export type HeldRows = {
  /** As the rooms that they were drafted from. */
  reservations: ReservationRow[]
  nights: ReservationNightRow[]
  extras: ReservationExtraRow[]
  deposits: DepositRow[]
}

/**
 * Writes rooms of one or more bookings of a house with their nights, extras and installments: one statement per table, whatever the number. All are asked for at once, so that
 * what the caller asks for next comes after them.
 */
export const writeRooms = async (
  trx: Trx,
  house: Pick<BookingRow, 'propertyId' | 'currency'>,
  drafted: DraftedRooms,
  /** The moment from which installments that are due at booking are due; null is now. */
  bookedAt: Date | null = null,
): Promise<HeldRows> => {
  const { ids, rooms } = drafted
  const asked = [
    insertReservations(trx, house, drafted),
    insertNights(trx, ids, rooms),
    insertExtras(trx, ids, rooms),
    insertDeposits(trx, ids, rooms, bookedAt),
  ] as const
  const [reservations, nights, extras, deposits] = await Promise.all(asked)
  const written = new Map(reservations.map((one) => [one.id, one]))
  return { reservations: ids.map((id) => written.get(id)!), nights, extras, deposits }
}

const insertReservations = (
  trx: Trx,
  { propertyId, currency }: Pick<BookingRow, 'propertyId' | 'currency'>,
  { ids, rooms, words, sealed, places }: DraftedRooms,
) =>
  prepared<ReservationRow>(
    trx,
    `insert into reservation (id, booking_id, position, property_id, status, unit_type_id, rate_plan_id, arrival, departure, adults, children_ages,
       policies, currency, room_total, extras_total, tax_total, total, arrival_time, departure_time, purpose,
       market_segment, requests)
     select (v->>'id')::uuid, (v->>'bookingId')::uuid, (v->>'position')::int, ?, 'held', (v->>'unitTypeId')::uuid, (v->>'ratePlanId')::uuid, (v->>'arrival')::date,
       (v->>'departure')::date, (v->>'adults')::int, array(select jsonb_array_elements_text(v->'childrenAges')::int), v->'policies', ?,
       (v->>'roomTotal')::bigint, (v->>'extrasTotal')::bigint, (v->>'taxTotal')::bigint, (v->>'total')::bigint, v->>'arrivalTime', v->>'departureTime',
       v->>'purpose', v->>'marketSegment', decode(v->>'requests', 'hex')
     from jsonb_array_elements(?::jsonb) v returning *`,
    [
      propertyId,
      currency,
      JSON.stringify(
        rooms.map(({ quoted, sold }, index) => ({
          id: ids[index],
          ...places[index],
          unitTypeId: quoted.unitTypeId,
          ratePlanId: quoted.ratePlanId,
          arrival: quoted.arrival,
          departure: quoted.departure,
          adults: quoted.adults,
          childrenAges: quoted.childrenAges,
          policies: sold.policies,
          roomTotal: quoted.roomTotal,
          extrasTotal: quoted.extrasTotal,
          taxTotal: quoted.taxTotal,
          total: quoted.total,
          marketSegment: sold.ratePlan.marketSegment,
          arrivalTime: words[index]?.arrivalTime ?? null,
          departureTime: words[index]?.departureTime ?? null,
          purpose: words[index]?.purpose ?? null,
          requests: sealed[index]?.toString('hex') ?? null,
        })),
      ),
    ],
  )

const insertNights = (trx: Trx, ids: readonly string[], rooms: readonly PricedRoom[]) =>
  prepared<ReservationNightRow>(
    trx,
    `insert into reservation_night (reservation_id, date, unit_type_id, rate_plan_id, amount, taxes, components)
     select (v->>'reservationId')::uuid, (v->>'date')::date, (v->>'unitTypeId')::uuid, (v->>'ratePlanId')::uuid, (v->>'amount')::bigint, v->'taxes',
       v->'components' from jsonb_array_elements(?::jsonb) v returning *`,
    [
      JSON.stringify(
        rooms.flatMap(({ quoted }, index) =>
          quoted.nights.map((night) => ({
            reservationId: ids[index],
            unitTypeId: quoted.unitTypeId,
            ratePlanId: quoted.ratePlanId,
            ...night,
          })),
        ),
      ),
    ],
  )

const insertExtras = (trx: Trx, ids: readonly string[], rooms: readonly PricedRoom[]) => {
  const extras = rooms.flatMap(({ quoted }, index) =>
    quoted.extras.map((extra) => ({ ...extra, reservationId: ids[index] })),
  )
  if (extras.length === 0) return Promise.resolve([])
  return prepared<ReservationExtraRow>(
    trx,
    `with added as (insert into reservation_extra (reservation_id, extra_id, name, basis, quantity, "from", "until", unit_amount, amount, taxes)
     select (v->>'reservationId')::uuid, (v->>'extraId')::uuid, v->>'name', v->>'basis', (v->>'quantity')::int, (v->>'from')::date,
       (v->>'until')::date, (v->>'unitAmount')::bigint, (v->>'amount')::bigint, v->'taxes' from jsonb_array_elements(?::jsonb) v returning *)
     select * from added order by reservation_id, name, id`,
    [JSON.stringify(extras)],
  )
}

/** Stores the installments of the quote; those due at booking are due from that moment on. */
const insertDeposits = (trx: Trx, ids: readonly string[], rooms: readonly PricedRoom[], bookedAt: Date | null) => {
  const deposits = rooms.flatMap(({ quoted }, index) =>
    quoted.deposits.map((deposit, position) => ({
      reservationId: ids[index],
      position: position + 1,
      dueAt: deposit.dueAt,
      amount: deposit.amount,
    })),
  )
  if (deposits.length === 0) return Promise.resolve([])
  return prepared<DepositRow>(
    trx,
    `insert into deposit (reservation_id, position, due_at, amount)
     select (v->>'reservationId')::uuid, (v->>'position')::int, coalesce((v->>'dueAt')::timestamptz, ?::timestamptz, now()), (v->>'amount')::bigint
     from jsonb_array_elements(?::jsonb) v returning *`,
    [bookedAt, JSON.stringify(deposits)],
  )
}
