import { invalid, unprocessable } from '../../config/errors.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { blocksAmong, createGuests, fillAges, resolveGuests } from '../guests/index.ts'
import type { NewGuest } from '../guests/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { blocker, warning } from './rules/blockers.ts'
import type { Blocker, Warning } from './rules/blockers.ts'
import type { NamedGuests } from './named-guests.ts'

/** A guest as a request names them: a profile that is there, or one to be made. */
export type Named = ({ guestId: string } | Omit<NewGuest, 'source'>) & { age?: number | null | undefined }

export type PartyRoom = { guests?: readonly Named[] | undefined; adults: number; childrenAges: readonly number[] }

export type Party = {
  bookerGuestId: string
  /** Guests of each room; the first is the main one. A room that names none is the booker's. */
  rooms: { guestId: string; age: number | null }[][]
}

type Asked = {
  source: 'staff' | 'api'
  booker: Named
  rooms: readonly PartyRoom[]
  language: string
  /** Begins the fields of a room, and of the booker, in errors. */
  roomAt?: (room: number) => string
  bookerAt?: string
}

/**
 * The people of a booking as profiles: those that are named by id are held against erasure, those that are described are made, all in the same few
 * statements. 422 `occupancy_exceeded` where a room names more people than it is booked for.
 */
export const nameParty = async (
  trx: Trx,
  { source, booker, rooms, language, roomAt = (room) => `rooms.${room}.`, bookerAt = 'booker.' }: Asked,
): Promise<Party> => {
  const crowded = rooms.findIndex(
    ({ guests = [], adults, childrenAges }) => guests.length > adults + childrenAges.length,
  )
  if (crowded >= 0)
    throw unprocessable('occupancy_exceeded', 'More guests are named than the room is booked for', [
      { field: `${roomAt(crowded)}guests`, message: 'names more people than the party has' },
    ])
  const places = [
    { field: bookerAt, named: booker },
    ...rooms.flatMap(({ guests = [] }, room) =>
      guests.map((named, place) => ({ field: `${roomAt(room)}guests.${place}.`, named })),
    ),
  ]
  const known = await resolveGuests(
    trx,
    places.flatMap(({ named }) => ('guestId' in named ? [named.guestId] : [])),
    (id) => `${places.find(({ named }) => 'guestId' in named && named.guestId === id)?.field ?? ''}guestId`,
  )
  const described = places.flatMap(({ field, named }) => ('guestId' in named ? [] : [{ field, named }]))
  const made = await createGuests(
    trx,
    described.map(({ named: { age: _age, ...person } }) => ({ language, ...person, source })),
    { fieldOf: (index) => described[index]?.field ?? '' },
  )
  const idOf = new Map(described.map(({ named }, index) => [named, made[index]!]))
  const of = (named: Named) => ('guestId' in named ? known.get(named.guestId)! : idOf.get(named)!)
  const bookerGuestId = of(booker)
  return {
    bookerGuestId,
    rooms: rooms.map(({ guests = [] }, room) => {
      const people = guests.map((named) => ({ guestId: of(named), age: named.age ?? null }))
      const twice = people.findIndex(
        (one, place) => people.findIndex((other) => other.guestId === one.guestId) !== place,
      )
      if (twice >= 0) throw invalid([{ field: `${roomAt(room)}guests.${twice}`, message: 'is named twice' }])
      return people.length > 0 ? people : [{ guestId: bookerGuestId, age: null }]
    }),
  }
}

/** Blocks against people of a booking: those that refuse stand in the way, those that warn are told of (R16 of guests.md). */
export const barredAmong = async (
  trx: Trx,
  propertyId: string,
  guestIds: readonly string[],
): Promise<{ blockers: Blocker[]; warnings: Warning[] }> => {
  const blocks = await blocksAmong(trx, propertyId, 'select unnest(?::uuid[])', [...new Set(guestIds)])
  const isBarred = blocks.some(({ level }) => level === 'refuse')
  return {
    blockers: blocker(isBarred, 'guest_barred', 'A guest is barred from the house', 'barred_guest'),
    warnings: warning(!isBarred && blocks.length > 0, 'guest_warned', 'The house has a warning about a guest'),
  }
}

/** Writes the guests of rooms that were just written. Answers the main guest of each. */
export const writeParty = async (
  trx: Trx,
  booking: Pick<BookingRow, 'bookerGuestId'>,
  rooms: readonly Pick<ReservationRow, 'id'>[],
  party: Pick<Party, 'rooms'>,
): Promise<NamedGuests> => {
  const rows = rooms.flatMap(({ id }, index) =>
    (party.rooms[index] ?? []).map(({ guestId, age }, place) => ({
      id,
      guestId,
      age,
      role: place === 0 ? 'primary' : 'companion',
    })),
  )
  const written = sql(
    trx,
    `insert into reservation_guest (reservation_id, guest_id, role, age) select * from unnest(?::uuid[], ?::uuid[], ?::text[], ?::int[])`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.guestId),
      rows.map((row) => row.role),
      rows.map((row) => row.age),
    ],
  )
  await Promise.all([
    written,
    fillAges(
      trx,
      rooms.map((one) => one.id),
    ),
  ])
  return {
    bookerGuestId: booking.bookerGuestId ?? '',
    primaryOf: new Map(rows.filter((row) => row.role === 'primary').map((row) => [row.id, row.guestId])),
  }
}
