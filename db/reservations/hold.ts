import { randomUUID } from 'node:crypto'
import { conflict, overtaken, unprocessable } from '../../config/errors.ts'
import { reservationHeld } from '../../config/events/reservations.ts'
import { roomsOfQuote } from '../../config/quote.ts'
import type { QuoteClaims } from '../../config/quote.ts'
import { expireHold } from '../../jobs/reservations.ts'
import { contextOf, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { blockAgainst, sealWords } from '../guests/index.ts'
import { checkSellable, keepTaxRules } from '../properties/index.ts'
import type { SaleProperty, Sellable } from '../properties/index.ts'
import type { BookingRow } from '../rows.ts'
import { blindIndex } from '../lib/sealing/index.ts'
import { moveInventory, requireSoldAs } from '../units/index.ts'
import type { HeldWords } from '../guests/index.ts'
import type { BookingParts } from './guest-booking.ts'
import { draftRooms, placesIn, writeRooms } from './hold-rows.ts'
import type { DraftedRooms, HeldRows } from './hold-rows.ts'
import { checkHoldShare, countHolds, judgeHolds, lockLimits } from './limits.ts'
import { redeemPromo } from './promo-use.ts'
import { tellQuoteUsed } from './quote-use.ts'
import { recordTransition } from './record.ts'
import { holdLifeMs } from './rules/holds.ts'
import { bookingNumber } from './rules/number.ts'

export type HoldRequest = {
  /** Claims of a quote whose signature and expiry were checked. */
  claims: QuoteClaims
  words: HeldWords
  arrivalTime: string | null
  /** Hash of the client's address (R10 of public.md); 16 bytes. */
  addressHash: Buffer
  locale: string | undefined
  /** As `propertyFor` has answered it to guests in this transaction. */
  property?: SaleProperty | undefined
  /** The id that a new booking gets. */
  bookingId?: string | undefined
  /** Throws if the caller may make no new hold; not called for a repeated one. */
  judgeNew?: (() => void) | undefined
}

export type Held = {
  bookingId: string
  repeated: boolean
  /** Parts of a new booking to show its guest. */
  parts?: BookingParts
}

const findByQuote = (trx: Trx, quoteId: string) =>
  preparedOne<Pick<BookingRow, 'id' | 'emailIndex'>>(trx, `select id, email_index from booking where quote_id = ?`, [
    quoteId,
  ])

const ofQuote = (known: Pick<BookingRow, 'id' | 'emailIndex'> | null, emailIndex: Buffer): Held | null => {
  if (!known) return null
  if (!known.emailIndex?.equals(emailIndex)) throw conflict('quote_used', 'This quote has been used; ask for a new one')
  return { bookingId: known.id, repeated: true }
}

/**
 * Holds the rooms of a portal's quote, all or none (T3, R5 to R9 of public.md): the quoted price stands, everything else is checked
 * again. The same quote with the same e-mail answers the booking that stands.
 */
export const holdStay = async (trx: Trx, request: HoldRequest): Promise<Held> => {
  const { claims, words, addressHash, property } = request
  const { propertyId } = claims
  const emailIndex = blindIndex(trx, 'email', words.booker.email)
  const stranger = { propertyId, emailIndex, addressHash }
  // Asked together and judged in order: a repeated hold is answered, whatever is sold by now.
  const asked = [
    lockLimits(trx, stranger),
    findByQuote(trx, claims.jti),
    countHolds(trx, stranger),
    checkSellable(trx, {
      propertyId,
      arrival: claims.arrival,
      departure: claims.departure,
      rooms: roomsOfQuote(claims),
      audience: claims.byStaff === true ? 'staff' : 'portal',
      locale: request.locale ?? claims.locale,
      promoCode: claims.promoCode,
      property,
    }),
    keepTaxRules(
      trx,
      claims.rooms.flatMap(({ taxRules }) => taxRules.map(({ taxRuleId }) => taxRuleId)),
    ),
  ] as const
  for (const one of asked) one.catch(() => {})
  await asked[0]
  const known = ofQuote(await asked[1], emailIndex)
  if (known) return known
  request.judgeNew?.()
  judgeHolds(await asked[2])
  const sellable = await asked[3]
  await asked[4]
  const number = words.booker.document?.number ?? null
  if ((await blockAgainst(trx, propertyId, { documentNumber: number })) === 'refuse')
    throw unprocessable('booking_refused', 'This booking cannot be made online; contact the property')
  return write(trx, request, emailIndex, sellable)
}

/** Tells whether a number was drawn twice, or a concurrent request used the quote. */
const isTaken = (error: unknown) =>
  error instanceof Error &&
  'constraint' in error &&
  (error.constraint === 'booking_number' || error.constraint === 'booking_quote')

const write = async (
  trx: Trx,
  { claims, words, arrivalTime, addressHash, bookingId = randomUUID() }: HoldRequest,
  emailIndex: Buffer,
  sellable: Sellable,
): Promise<Held> => {
  const { propertyId } = claims
  const { property } = sellable
  const { checkoutMinutes, paymentMaxHours } = property.settings.holds
  const from = property.now.getTime()
  const draft: Draft = {
    id: bookingId,
    number: bookingNumber(),
    propertyId,
    currency: claims.currency,
    holdExpiresAt: new Date(from + checkoutMinutes * 60_000),
    holdCapAt: new Date(from + holdLifeMs('card', paymentMaxHours)),
    sealed: await sealWords(trx, bookingId, words),
  }
  const rooms = roomsOfQuote(claims).map((quoted, index) => ({ quoted, sold: sellable.rooms[index]! }))
  const drafted = await draftRooms(trx, rooms, { requests: words.requests, arrivalTime }, placesIn(draft.id, rooms))
  const wanted = {
    propertyId,
    holdShare: property.settings.portal.holdShare,
    rooms: sellable.rooms.map((room) => ({ pools: room.unitType.pools })),
  }
  // From here to the counters nothing waits for an answer, so that all of it is one round trip; the counters come last, since every sale wants them.
  const booked = insertBooking(trx, draft, { claims, words, addressHash, emailIndex, sellable })
  const written = writeRooms(trx, draft, drafted)
  const told = tell(trx, draft, drafted)
  const moved = moveInventory(trx, sellable.moves({ held: 1 }), {
    check: async (locked) => {
      const types = sellable.rooms.map((room) => room.unitType)
      await requireSoldAs(trx, property.publicVersion, types, locked)
      await checkHoldShare(trx, wanted, locked)
    },
  })
  const [booking, rows] = await Promise.all([booked, written, told, moved]).catch((error: unknown) => {
    throw isTaken(error) ? overtaken() : error
  })
  if (!booking) throw new Error('a booking that was inserted is answered')
  await redeemPromo(trx, booking)
  if (claims.byStaff === true) await tellQuoteUsed(trx, claims.jti, bookingId)
  return { bookingId, repeated: false, parts: partsOf(booking, rows, words, sellable) }
}

type Draft = Pick<BookingRow, 'id' | 'number' | 'propertyId' | 'currency' | 'sealed'> & {
  holdExpiresAt: Date
  holdCapAt: Date
}
type NewBooking = Pick<HoldRequest, 'claims' | 'words' | 'addressHash'> & { emailIndex: Buffer; sellable: Sellable }

const insertBooking = (
  trx: Trx,
  draft: Draft,
  { claims, words, addressHash, emailIndex, sellable }: NewBooking,
): Promise<BookingRow | null> =>
  preparedOne<BookingRow>(
    trx,
    `insert into booking (id, property_id, number, source, currency, quote_id, promo_code_id, sealed, email_index, address_hash, accepted_terms,
       language, hold_kind, hold_expires_at, hold_cap_at, hold_version)
     values (?, ?, ?, 'portal', ?, ?, ?, ?, ?, ?, ?::jsonb, ?, 'checkout', ?, ?, 1) returning *`,
    [
      draft.id,
      draft.propertyId,
      draft.number,
      draft.currency,
      claims.jti,
      claims.promoCodeId,
      draft.sealed,
      emailIndex,
      addressHash,
      JSON.stringify({ version: words.termsVersion, at: new Date().toISOString() }),
      sellable.locale,
      draft.holdExpiresAt.toISOString(),
      draft.holdCapAt.toISOString(),
    ],
  )

/** History, event and end of the hold that is being written. */
const tell = async (trx: Trx, booking: Draft, { ids, rooms }: DraftedRooms): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await recordTransition(trx, {
    id: 'T3',
    booking,
    reservations: rooms.map(
      ({ quoted: { arrival, departure, total, adults, childrenAges, unitTypeId, ratePlanId } }, index) => ({
        id: ids[index]!,
        bookingId: booking.id,
        position: index + 1,
        arrival,
        departure,
        status: 'held',
        version: 1,
        total,
        currency: booking.currency,
        unitTypeId,
        ratePlanId,
        adults,
        childrenAges,
      }),
    ),
    event: reservationHeld,
    data: {},
  })
  if (tenantId) await enqueue(trx, expireHold, { tenantId, bookingId: booking.id }, { at: booking.holdExpiresAt })
}

/** Parts of a hold that was just written, to show its guest: it has no payment and no folio yet. */
const partsOf = (booking: BookingRow, rows: HeldRows, { booker }: HeldWords, sellable: Sellable): BookingParts => ({
  ...rows,
  booking,
  reservations: rows.reservations.map((one, index) => ({
    ...one,
    unitTypeName: sellable.rooms[index]!.unitType.name,
    ratePlanName: sellable.rooms[index]!.ratePlan.name,
  })),
  folios: [],
  payments: [],
  booker: { firstName: booker.firstName, lastName: booker.lastName, email: booker.email },
  property: sellable.property,
  businessDate: sellable.property.businessDate ?? '',
  now: sellable.property.now,
})
