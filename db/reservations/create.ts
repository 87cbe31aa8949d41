import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, renamedField, unprocessable, versionConflict } from '../../config/errors.ts'
import { bookingCreated } from '../../config/events/reservations.ts'
import { expireHold } from '../../jobs/reservations.ts'
import { businessDay } from '../financial/index.ts'
import { sum } from '../lib/amounts.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { priceForDesk, propertyFor } from '../properties/index.ts'
import type { DeskRoom, DeskSale, SaleProperty } from '../properties/index.ts'
import type { BookingRow } from '../rows.ts'
import { bookingFact } from './booking-fact.ts'
import { checkIn } from './check-in.ts'
import { lockBooking, propertyOfBooking } from './lock.ts'
import { barredAmong, nameParty } from './party.ts'
import type { Named } from './party.ts'
import { redeemPromo } from './promo-use.ts'
import { takeQuote, tellQuoteUsed } from './quote-use.ts'
import { blocker, isWaived, refuseBlocked } from './rules/blockers.ts'
import type { Granted } from './rules/blockers.ts'
import { bookingNumber } from './rules/number.ts'
import { holdTimes } from './rules/hold-times.ts'
import { isLive } from './rules/states.ts'
import { bookWaitlistEntry } from './waitlist.ts'
import { judgePrices } from './desk-prices.ts'
import { pickUpFor } from './group/for-booking.ts'
import { lockGroupRow } from './group/lock.ts'
import { firmsOf, insertBooking, promiseUnits, takeRooms } from './take-rooms.ts'
import type { NewHold, NewRoom } from './take-rooms.ts'

/** Details of a quoted room beside its price. */
export type Quoted = Omit<NewRoom, keyof DeskRoom | 'expectedTotal'>

export type NewBooking = {
  propertyId: string
  source: BookingRow['source']
  booker: Named
  rooms: readonly NewRoom[]
  /** Its rooms come first, at their frozen price; `quoted` says more of them, in their order. */
  quoteId?: string | undefined
  quoted?: readonly Quoted[] | undefined
  /** The request on the waitlist that the booking meets. */
  waitlistEntryId?: string | undefined
  /** The firm that the booking is for, and the agency that makes it. */
  companyId?: string | undefined
  agencyId?: string | undefined
  /** The group whose allotment the rooms pick up. */
  groupId?: string | undefined
  promoCode?: string | undefined
  language?: string | undefined
  externalReference?: string | undefined
  /** Holds the rooms; without it they are confirmed. */
  hold?: NewHold | undefined
  /** The guest stands at the desk: the only room is confirmed and checked in, or nothing happens (R14). */
  checkIn?: { unitId?: string | undefined } | undefined
  override?: Granted | null | undefined
}

const mostLive = 9

const tooManyRooms = () =>
  invalid([{ field: 'rooms', message: `a booking has at most ${mostLive} live rooms` }], 'too_many_rooms')

const unitOfHeld = (field: string) => invalid([{ field, message: 'is for rooms that are confirmed, not held' }])

/** The place of a room in a request, as the beginning of its fields in errors. */
const roomAt = (index: number) => `rooms.${index}.`

/** All rooms of a request, those of its quote first. */
const roomsOf = async (trx: Trx, { propertyId, quoteId, quoted = [], rooms, promoCode }: NewBooking) => {
  if (quoteId === undefined) {
    if (quoted.length > 0) throw invalid([{ field: 'quoted', message: 'is for the rooms of a quote' }])
    if (rooms.length === 0) throw invalid([{ field: 'rooms', message: 'must not be empty without a quote' }])
    return { rooms, promoCode, companyId: null, placeOf: roomAt }
  }
  const quote = await takeQuote(trx, quoteId, propertyId)
  if (quoted.length > quote.rooms.length)
    throw invalid([{ field: `quoted.${quote.rooms.length}`, message: 'the quote has no such room' }])
  if (quote.promoCode !== null && promoCode !== undefined && promoCode.toUpperCase() !== quote.promoCode.toUpperCase())
    throw invalid([{ field: 'promoCode', message: `is that of the quote, ${quote.promoCode}` }])
  const all: NewRoom[] = [...quote.rooms.map((room, index) => ({ ...quoted[index], ...room })), ...rooms]
  if (all.length > mostLive) throw tooManyRooms()
  const count = quote.rooms.length
  const placeOf = (index: number) => (index < count ? `quoted.${index}.` : roomAt(index - count))
  return { rooms: all, promoCode: promoCode ?? quote.promoCode ?? undefined, companyId: quote.companyId, placeOf }
}

/** Rooms of a group are confirmed at its terms. */
const refuseForGroup = ({ hold, quoteId, promoCode }: NewBooking) => {
  const fields = [
    ...(hold ? ['hold'] : []),
    ...(quoteId === undefined ? [] : ['quoteId']),
    ...(promoCode === undefined ? [] : ['promoCode']),
  ]
  if (fields.length > 0) throw invalid(fields.map((field) => ({ field, message: 'is not for rooms of a group' })))
}

const languageOf = (asked: string | undefined, property: SaleProperty) => asked ?? property.locales[0] ?? 'en'

/** The deposits that are due at once for rooms that are confirmed without a hold, as a sum. */
const dueAtOnce = (sale: DeskSale) =>
  sum(sale.rooms.flatMap(({ quoted }) => quoted.deposits.filter((one) => one.dueAt === null).map((one) => one.amount)))

/**
 * Makes a booking of one to nine rooms, all or none: held (T3), confirmed (T4), or with the guest in the house (T4 and T13). Answers its id.
 * 409 sold_out, price_changed, duplicate_reference, unit_conflict; 422 transition_blocked, restriction_violated, occupancy_exceeded, extra_unavailable,
 * hold_too_long, promo_code_invalid, property_not_selling.
 */
export const createBooking = async (trx: Trx, asked: NewBooking): Promise<string> => {
  const { propertyId, source, hold, override = null } = asked
  if (asked.groupId !== undefined) refuseForGroup(asked)
  const { rooms: named, promoCode, companyId, placeOf } = await roomsOf(trx, asked)
  if (asked.checkIn && (named.length !== 1 || hold))
    throw invalid([{ field: 'checkIn', message: 'is for one room that is not held' }])
  const early = hold ? named.findIndex((room) => room.unitId !== undefined) : -1
  if (early >= 0) throw unitOfHeld(`rooms.${early}.unitId`)
  const businessDate = await businessDay(trx, propertyId)
  const { groupId } = asked
  const pickUp = groupId === undefined ? null : await pickUpFor(trx, { groupId, propertyId }, named)
  const rooms = pickUp?.rooms ?? named
  const property = await propertyFor(trx, propertyId, 'staff')
  const sale = await priceForDesk(trx, {
    propertyId,
    property,
    rooms,
    promoCode,
    locale: asked.language,
    waiveRestrictions: isWaived(override, 'restriction'),
  })
  const prices = judgePrices(sale, named, override)
  const firstArrival = rooms.map((room) => room.arrival).sort()[0]!
  const times = hold ? { kind: hold.kind, ...holdTimes(hold, property, firstArrival) } : null
  const language = languageOf(asked.language, property)
  const party = await nameParty(trx, {
    source: source === 'api' ? 'api' : 'staff',
    booker: asked.booker,
    rooms,
    language,
    roomAt: placeOf,
  })
  const barred = await barredAmong(trx, propertyId, [
    party.bookerGuestId,
    ...party.rooms.flat().map((one) => one.guestId),
  ])
  const firms = await firmsOf(trx, {
    companyId: asked.companyId ?? companyId ?? pickUp?.companyId,
    agencyId: asked.agencyId,
  })
  const due = hold || pickUp || source === 'walk_in' ? 0 : dueAtOnce(sale)
  const used = refuseBlocked(
    [...prices, ...barred.blockers, ...blocker(due > 0, 'deposit_missing', `${due} is due at booking`, 'deposit')],
    override,
  )
  const booking = await insertBooking(
    trx,
    {
      id: randomUUID(),
      number: bookingNumber(),
      propertyId,
      currency: property.currency,
      bookerGuestId: party.bookerGuestId,
    },
    {
      source,
      externalReference: asked.externalReference,
      language,
      promoCodeId: sale.promoCodeId,
      quoteId: asked.quoteId ?? null,
      hold: times,
      groupId,
      firms,
    },
  )
  if (asked.waitlistEntryId !== undefined)
    await bookWaitlistEntry(trx, { id: asked.waitlistEntryId, propertyId, bookingId: booking.id })
  const made = await takeRooms(trx, {
    booking,
    standing: [],
    sale: pickUp ? { ...sale, moves: () => pickUp.moves(sale) } : sale,
    rooms,
    party,
    isHeld: hold !== undefined,
    businessDate,
    override,
    used,
    now: property.now,
  })
  await pickUp?.write(
    trx,
    made.map((one) => one.id),
  )
  await redeemPromo(trx, booking)
  const { tenantId } = contextOf(trx)
  if (times && tenantId) await enqueue(trx, expireHold, { tenantId, bookingId: booking.id }, { at: times.expiresAt })
  await emit(trx, bookingCreated, bookingFact(booking, made))
  if (asked.quoteId !== undefined) await tellQuoteUsed(trx, asked.quoteId, booking.id)
  await promiseUnits(trx, made, rooms, placeOf)
  const [room] = made
  if (asked.checkIn && room)
    await checkIn(trx, room.id, { unitId: asked.checkIn.unitId, override }).catch((error: unknown) => {
      throw renamedField(error, 'unitId', 'checkIn.unitId')
    })
  return booking.id
}

/** Adds a room to a booking: to its live hold, else confirmed at once. 409 `hold_expired` where its hold is over. Answers the id of the reservation. */
export const addRoom = async (
  trx: Trx,
  bookingId: string,
  room: NewRoom,
  {
    override = null,
    source = 'staff',
    expectedVersion = null,
  }: { override?: Granted | null; source?: 'staff' | 'api'; expectedVersion?: number | null } = {},
): Promise<string> => {
  const propertyId = await propertyOfBooking(trx, bookingId)
  if (!propertyId) throw notFound()
  const businessDate = await businessDay(trx, propertyId)
  const locked = await lockBooking(trx, bookingId)
  if (!locked) throw notFound()
  const { booking, reservations, now } = locked
  if (expectedVersion !== null && expectedVersion !== booking.version) throw versionConflict(booking.version)
  const live = reservations.filter((one) => isLive(one.status))
  if (live.length === 0 || booking.bookerGuestId === null)
    throw conflict('invalid_transition', 'A room can be added to a live booking whose booker is known')
  if (live.length >= mostLive || reservations.some((one) => one.position >= 99)) throw tooManyRooms()
  if (booking.channelConnectionId !== null && !isWaived(override, 'channel'))
    throw unprocessable('channel_managed', 'The rooms of this booking belong to a channel')
  if (booking.holdExpiresAt !== null && booking.holdExpiresAt <= now)
    throw conflict('hold_expired', 'The hold has ended')
  const isHeld = booking.holdExpiresAt !== null
  if (isHeld && room.unitId !== undefined) throw unitOfHeld('unitId')
  const property = await propertyFor(trx, propertyId, 'staff')
  // A room at the plan of a confirmed group picks up its allotment; another one is sold as to anyone.
  const { groupId } = booking
  const group = groupId === null ? null : await lockGroupRow(trx, groupId)
  const isOfGroup = !isHeld && group?.status === 'confirmed' && group.ratePlanId === room.ratePlanId
  const pickUp = groupId !== null && isOfGroup ? await pickUpFor(trx, { groupId, propertyId }, [room]) : null
  const rooms = pickUp?.rooms ?? [room]
  const sale = await priceForDesk(trx, {
    propertyId,
    property,
    rooms,
    locale: booking.language,
    waiveRestrictions: isWaived(override, 'restriction'),
  })
  const prices = judgePrices(sale, [room], override)
  const party = await nameParty(trx, {
    source,
    booker: { guestId: booking.bookerGuestId },
    rooms,
    language: booking.language,
    roomAt: () => '',
  })
  const barred = await barredAmong(
    trx,
    propertyId,
    party.rooms.flat().map((one) => one.guestId),
  )
  const due = isHeld || pickUp ? 0 : dueAtOnce(sale)
  const used = refuseBlocked(
    [...prices, ...barred.blockers, ...blocker(due > 0, 'deposit_missing', `${due} is due at booking`, 'deposit')],
    override,
  )
  const made = await takeRooms(trx, {
    booking,
    standing: reservations,
    sale: pickUp ? { ...sale, moves: () => pickUp.moves(sale) } : sale,
    rooms,
    party,
    isHeld,
    businessDate,
    override,
    used,
    now,
  })
  await pickUp?.write(
    trx,
    made.map((one) => one.id),
  )
  await promiseUnits(trx, made, rooms, () => '')
  return made[0]!.id
}
