import { randomUUID } from 'node:crypto'
import { overtaken, renamedField } from '../../config/errors.ts'
import { reservationHeld } from '../../config/events/reservations.ts'
import { nameFirms } from '../guests/index.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { expression, insertRow, insertRows } from '../lib/records.ts'
import { holdTaxRules } from '../properties/index.ts'
import type { DeskRoom, DeskSale } from '../properties/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { moveInventory, requireSoldAs } from '../units/index.ts'
import type { PoolNight } from '../units/index.ts'
import { confirmRooms } from './confirm.ts'
import { Booking } from './models.ts'
import { draftRooms, placesIn, writeRooms } from './hold-rows.ts'
import type { RoomWords } from './hold-rows.ts'
import { tellOverbooked } from './import.ts'
import { writeParty } from './party.ts'
import type { Party, PartyRoom } from './party.ts'
import { quoteTaken } from './quote-use.ts'
import { recordTransition } from './record.ts'
import { isWaived } from './rules/blockers.ts'
import { bookingNumber } from './rules/number.ts'
import type { Granted, Override } from './rules/blockers.ts'
import { promiseUnit } from './unit-lock.ts'

export type NewRoom = DeskRoom &
  PartyRoom &
  Partial<RoomWords> & {
    /** A unit that is promised to the stay at once. */
    unitId?: string | undefined
    /** Total that the caller expects; another one is 409 `price_changed`. */
    expectedTotal?: number | undefined
  }

export type NewHold = { kind: 'option' | 'payment'; until?: string | undefined }

const isTaken = (error: unknown) =>
  error instanceof Error && 'constraint' in error && error.constraint === 'booking_number'
/** Another booking was made from the quote meanwhile. */
const isUsed = (error: unknown) =>
  error instanceof Error && 'constraint' in error && error.constraint === 'booking_quote'

type Draft = Pick<BookingRow, 'id' | 'number' | 'propertyId' | 'currency' | 'bookerGuestId'>

/** Rooms of a booking, new or locked, with what becomes of them. */
type Taking = {
  booking: BookingRow
  /** Rooms that the booking has already. */
  standing: readonly ReservationRow[]
  sale: DeskSale
  rooms: readonly NewRoom[]
  party: Party
  isHeld: boolean
  businessDate: string
  override: Granted | null
  used: Override | null
  now: Date
}

/** Keeps the rules of the taxes that rooms are sold with, so that none of them changes before the rooms are seen. */
export const holdTaxes = (trx: Trx, { rooms, taxRules }: Pick<DeskSale, 'rooms' | 'taxRules'>) =>
  holdTaxRules(
    trx,
    taxRules,
    rooms.flatMap(({ quoted: { nights, extras } }) =>
      [...nights, ...extras].flatMap(({ taxes }) => taxes.map(({ taxRuleId }) => taxRuleId)),
    ),
  )

/** Writes rooms, takes their nights, and confirms them or leaves them held: T3 or T4. */
export const takeRooms = async (trx: Trx, taking: Taking): Promise<ReservationRow[]> => {
  const { booking, standing, sale, rooms, party, isHeld, businessDate, override, used, now } = taking
  await holdTaxes(trx, sale)
  const after = standing.reduce((last, one) => Math.max(last, one.position), 0)
  const drafted = await draftRooms(
    trx,
    sale.rooms,
    rooms.map(({ requests = null, arrivalTime = null, departureTime, purpose }) => ({
      requests,
      arrivalTime,
      departureTime,
      purpose,
    })),
    placesIn(booking.id, rooms, after),
  )
  // A room that joins a hold waits for its deposit as the others do.
  const bookedAt = isHeld ? booking.createdAt : null
  const { reservations: written, deposits } = await writeRooms(trx, booking, drafted, bookedAt)
  const named = await writeParty(trx, booking, written, party)
  const short = new Set<string>()
  const force = isWaived(override, 'availability')
  await moveInventory(trx, sale.moves(isHeld ? { held: 1 } : { sold: 1 }), {
    check: (locked) =>
      requireSoldAs(
        trx,
        sale.property.publicVersion,
        sale.rooms.map((room) => room.sold.unitType),
        locked,
      ),
    ...(force
      ? {
          force,
          onShort: (nights: PoolNight[]) => nights.forEach((row) => short.add(`${row.poolId} ${row.night}`)),
        }
      : {}),
  })
  const overbooked = written.filter((_, index) => {
    const { quoted, sold } = sale.rooms[index]!
    return quoted.nights.some((night) => sold.unitType.pools.some((pool) => short.has(`${pool.poolId} ${night.date}`)))
  })
  if (overbooked.length > 0)
    await sql(trx, `update reservation set overbooked = true, version = version + 1 where id = any(?::uuid[])`, [
      overbooked.map((one) => one.id),
    ])
  const forced: readonly string[] = short.size > 0 ? ['availability'] : []
  const told =
    override && (used || forced.length > 0)
      ? { rules: [...new Set([...(used?.rules ?? []), ...forced])], reason: override.reason }
      : null
  const held = await sql<ReservationRow>(
    trx,
    `update reservation r set primary_guest_id = v.guest_id from unnest(?::uuid[], ?::uuid[]) as v(id, guest_id) where r.id = v.id returning r.*`,
    [written.map((one) => one.id), written.map((one) => named.primaryOf.get(one.id))],
  )
  const made = held.sort((a, b) => a.position - b.position)
  if (isHeld)
    await recordTransition(trx, {
      id: 'T3',
      booking,
      reservations: made,
      event: reservationHeld,
      businessDate,
      override: told,
      data: {},
    })
  else
    await confirmRooms(
      trx,
      {
        locked: { booking, reservations: [...standing, ...made], now },
        rooms: made,
        deposits,
        words: null,
        businessDate,
        override: told,
        withUnit: new Set(made.flatMap((one, index) => (rooms[index]?.unitId === undefined ? [] : [one.id]))),
      },
      'T4',
    )
  await tellOverbooked(
    trx,
    booking,
    made.filter((one) => overbooked.some((each) => each.id === one.id)),
  )
  return made
}

/** A unit for each room that names one; the counters are moved, and nothing is written to folios afterwards. `roomAt` begins the fields of a room in errors. */
export const promiseUnits = async (
  trx: Trx,
  made: readonly ReservationRow[],
  rooms: readonly NewRoom[],
  roomAt: (index: number) => string,
) => {
  for (const [index, one] of made.entries()) {
    const unitId = rooms[index]?.unitId
    if (unitId === undefined) continue
    await promiseUnit(trx, one.id, unitId).catch((error: unknown) => {
      throw renamedField(error, 'unitId', `${roomAt(index)}unitId`)
    })
  }
}

/** The firm that a booking is for, and the agency that made it, with its commission in basis points at this moment. */
export type Firms = { companyId: string | null; agencyId: string | null; commissionRate: number | null }

/** The firms that a request names. 422 `reference_not_found`, `company_archived`. */
export const firmsOf = async (
  trx: Trx,
  { companyId, agencyId }: { companyId?: string | null | undefined; agencyId?: string | undefined },
): Promise<Firms> => {
  const firms = await nameFirms(trx, [
    { field: 'companyId', id: companyId },
    { field: 'agencyId', id: agencyId, kind: 'agency' },
  ])
  return {
    companyId: companyId ?? null,
    agencyId: agencyId ?? null,
    commissionRate: agencyId === undefined ? null : (firms.get(agencyId)?.commissionRate ?? null),
  }
}

type NewBooking = Pick<BookingRow, 'source' | 'language' | 'groupId' | 'groupRowKey' | 'companyId'> & {
  bookerGuestId: string
}

/** Writes confirmed bookings of a house with new numbers, in the same statements whatever their number. Answers them in their order. */
export const insertBookings = async (
  trx: Trx,
  { propertyId, currency }: Pick<BookingRow, 'propertyId' | 'currency'>,
  given: readonly NewBooking[],
): Promise<BookingRow[]> => {
  const emails = await sql<{ id: string; emailIndex: Buffer | null }>(
    trx,
    `select id, email_index from guest where id = any(?::uuid[])`,
    [given.map((one) => one.bookerGuestId)],
  )
  const emailOf = new Map(emails.map((one) => [one.id, one.emailIndex]))
  const drafts = given.map((one) => ({
    ...one,
    id: randomUUID(),
    number: bookingNumber(),
    propertyId,
    currency,
    emailIndex: emailOf.get(one.bookerGuestId) ?? null,
  }))
  await insertRows(trx, Booking, drafts).catch((error: unknown) => {
    throw isTaken(error) ? overtaken() : error
  })
  const written = await sql<BookingRow>(trx, `select * from booking where id = any(?::uuid[])`, [
    drafts.map((one) => one.id),
  ])
  const byId = new Map(written.map((one) => [one.id, one]))
  return drafts.map((one) => byId.get(one.id)!)
}

export const insertBooking = async (
  trx: Trx,
  draft: Draft,
  {
    source,
    language,
    externalReference,
    promoCodeId,
    quoteId,
    hold,
    groupId,
    firms,
  }: { source: BookingRow['source']; externalReference?: string | undefined } & {
    language: string
    promoCodeId: string | null
    quoteId: string | null
    groupId?: string | undefined
    firms?: Firms | undefined
    hold: { kind: NewHold['kind']; expiresAt: Date; capAt: Date } | null
  },
): Promise<BookingRow> => {
  const { bookerGuestId } = draft
  const booking = await insertRow(trx, Booking, {
    ...draft,
    source,
    promoCodeId,
    quoteId,
    emailIndex: bookerGuestId ? expression('(select email_index from guest where id = ?)', bookerGuestId) : null,
    externalReference,
    language,
    holdKind: hold?.kind,
    holdExpiresAt: hold?.expiresAt,
    holdCapAt: hold?.capAt,
    holdVersion: hold ? 1 : null,
    groupId,
    companyId: firms?.companyId,
    agencyId: firms?.agencyId,
    commissionRate: firms?.commissionRate,
  }).catch((error: unknown) => {
    if (isUsed(error)) throw quoteTaken()
    throw isTaken(error) ? overtaken() : error
  })
  return booking
}
