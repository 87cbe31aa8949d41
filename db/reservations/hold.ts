import { randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../config/errors.ts'
import { roomsOfQuote } from '../../config/quote.ts'
import type { QuoteClaims } from '../../config/quote.ts'
import { expireHold } from '../../jobs/inventory.ts'
import { contextOf, preparedOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { enqueue } from '../enqueue.ts'
import { blockAgainst } from '../guests/blocks.ts'
import { promoCodeInvalid, redeemPromoCode } from '../properties/promo.ts'
import { checkSellable } from '../properties/sellable.ts'
import type { SaleProperty } from '../properties/catalogue.ts'
import type { Sellable } from '../properties/sellable.ts'
import type { BookingRow } from '../rows.ts'
import { blindIndex } from '../sealing/index.ts'
import { moveInventory } from '../units/inventory.ts'
import { requireSoldAs } from '../units/type-changes.ts'
import { sealWords } from './booker.ts'
import type { HeldWords } from './booker.ts'
import { insertHeldRooms } from './hold-rows.ts'
import { checkHoldShare, checkLimits, lockLimits } from './limits.ts'
import './reap.ts'
import { recordTransition } from './record.ts'
import { holdLifeMs } from './rules/holds.ts'
import { bookingNumber } from './rules/number.ts'

export type HoldRequest = {
  /** Of a quote whose signature and expiry were checked. */
  claims: QuoteClaims
  words: HeldWords
  arrivalTime: string | null
  /** Of the client's address (R10 of public.md); 16 bytes. */
  addressHash: Buffer
  locale: string | undefined
  /** As `propertyFor` has answered it to guests in this transaction. */
  property?: SaleProperty | undefined
  /** Reads what it wants of the booking while nobody waits for the counters yet. */
  beforeCounters?: (bookingId: string) => Promise<unknown>
}

export type Held = { bookingId: string; repeated: boolean }

const findByQuote = (trx: Trx, quoteId: string) =>
  preparedOne<Pick<BookingRow, 'id' | 'emailIndex'>>(trx, `select id, email_index from booking where quote_id = ?`, [
    quoteId,
  ])

const ofQuote = async (trx: Trx, quoteId: string, emailIndex: Buffer): Promise<Held | null> => {
  const known = await findByQuote(trx, quoteId)
  if (!known) return null
  if (!known.emailIndex?.equals(emailIndex)) throw conflict('quote_used', 'This quote has been used; ask for a new one')
  return { bookingId: known.id, repeated: true }
}

/**
 * Holds the rooms of a portal's quote, all or none (T3, R5 to R9 of public.md): the quoted price stands, everything else is checked
 * again. The same quote with the same e-mail answers the booking that stands.
 */
export const holdStay = async (
  trx: Trx,
  { claims, words, arrivalTime, addressHash, locale, property, beforeCounters }: HoldRequest,
): Promise<Held> => {
  const { propertyId } = claims
  const emailIndex = blindIndex(trx, 'email', words.booker.email)
  const stranger = { propertyId, emailIndex, addressHash }
  await lockLimits(trx, stranger)
  const known = await ofQuote(trx, claims.jti, emailIndex)
  if (known) return known
  await checkLimits(trx, stranger)

  const rooms = roomsOfQuote(claims)
  const sellable = await checkSellable(trx, {
    propertyId,
    arrival: claims.arrival,
    departure: claims.departure,
    rooms,
    audience: 'portal',
    locale: locale ?? claims.locale,
    promoCode: claims.promoCode,
    property,
  })
  const number = words.booker.document?.number ?? null
  if ((await blockAgainst(trx, propertyId, sellable.today, { documentNumber: number })) === 'refuse')
    throw unprocessable('booking_refused', 'This booking cannot be made online; contact the property')

  const booking = await insertBooking(trx, { claims, words, emailIndex, addressHash, sellable })
  if (!booking) {
    // Somebody else used the quote a moment ago, with another e-mail.
    const used = await ofQuote(trx, claims.jti, emailIndex)
    if (!used) throw new Error(`quote ${claims.jti} is used by a booking that cannot be found`)
    return used
  }
  const reservations = await insertHeldRooms(
    trx,
    booking,
    rooms.map((quoted, index) => ({ quoted, sold: sellable.rooms[index]! })),
    { requests: words.requests, arrivalTime },
  )
  await recordTransition(trx, {
    id: 'T3',
    booking,
    reservations,
    event: 'reservation.held',
    data: { holdExpiresAt: booking.holdExpiresAt?.toISOString() },
  })
  const { tenantId } = contextOf(trx)
  if (tenantId && booking.holdExpiresAt)
    await enqueue(trx, expireHold, { tenantId, bookingId: booking.id }, { at: booking.holdExpiresAt })
  await beforeCounters?.(booking.id)
  // Last, so that the counters, which everybody wants, are locked for as short as can be.
  const { holdShare } = sellable.property.settings.portal
  const wanted = { propertyId, holdShare, rooms: sellable.rooms.map((room) => ({ pools: room.unitType.pools })) }
  await moveInventory(trx, sellable.moves({ held: 1 }), {
    check: async (locked) => {
      const types = sellable.rooms.map((room) => room.unitType)
      await requireSoldAs(trx, sellable.property.publicVersion, types, locked)
      await checkHoldShare(trx, wanted, locked)
    },
  })
  if (claims.promoCodeId) await redeem(trx, claims.promoCodeId, booking)
  return { bookingId: booking.id, repeated: false }
}

type NewBooking = Pick<HoldRequest, 'claims' | 'words' | 'addressHash'> & { emailIndex: Buffer; sellable: Sellable }

/** Null where the quote has a booking already. A number that is taken is drawn again. */
const insertBooking = async (
  trx: Trx,
  { claims, words, addressHash, emailIndex, sellable }: NewBooking,
): Promise<BookingRow | null> => {
  const id = randomUUID()
  const { checkoutMinutes, paymentMaxHours } = sellable.property.settings.holds
  const sealed = await sealWords(trx, id, words)
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const booking = await preparedOne<BookingRow>(
      trx,
      `insert into booking (id, property_id, number, source, currency, quote_id, promo_code_id, sealed, email_index, address_hash, accepted_terms,
         language, hold_kind, hold_expires_at, hold_cap_at, hold_version)
       values (?, ?, ?, 'portal', ?, ?, ?, ?, ?, ?, ?::jsonb, ?, 'checkout', now() + make_interval(mins => ?),
         now() + make_interval(secs => ? / 1000), 1)
       on conflict do nothing returning *`,
      [
        id,
        claims.propertyId,
        bookingNumber(),
        claims.currency,
        claims.jti,
        claims.promoCodeId,
        sealed,
        emailIndex,
        addressHash,
        JSON.stringify({ version: words.termsVersion, at: new Date().toISOString() }),
        sellable.locale,
        checkoutMinutes,
        holdLifeMs('card', paymentMaxHours),
      ],
    )
    if (booking) return booking
    if (await findByQuote(trx, claims.jti)) return null
  }
  throw new Error('no booking number was free in five draws')
}

/** Counts the use of a code, and refuses one use too many of the same booker (R19 of properties.md); under the code's lock. */
const redeem = async (trx: Trx, promoCodeId: string, booking: BookingRow) => {
  const { maxPerBooker } = await redeemPromoCode(trx, promoCodeId)
  if (maxPerBooker === null) return
  const used = await preparedOne<{ count: number }>(
    trx,
    `select count(*) as count from booking b where b.promo_code_id = ? and b.email_index = ? and b.id <> ?
       and exists (select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id and r.status in ('held', 'confirmed', 'checked_in', 'checked_out'))`,
    [promoCodeId, booking.emailIndex, booking.id],
  )
  if ((used?.count ?? 0) >= maxPerBooker) throw promoCodeInvalid()
}
