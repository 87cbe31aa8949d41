import { ApiError, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { addDays, daysBetween, localInstant, todayIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import type { RestrictionOf } from './calendar.ts'
import { catalogueOf, readProperty } from './catalogue.ts'
import type { Catalogue, SaleExtra, SalePlan, SaleProperty, SaleType } from './catalogue.ts'
import { countParty, fits } from '../rules/party.ts'
import type { CountedParty, Party } from '../rules/party.ts'
import { extrasOf } from '../rules/stay-price.ts'
import type { Stay } from '../rules/stay-price.ts'
import { findPromoCode, promoCodeInvalid, promoCovers, promoIncludes } from '../terms/promo.ts'
import type { PromoCode } from '../terms/promo.ts'
import { sentenceOf, stayChecks } from '../rules/restrictions.ts'
import type { Check } from '../rules/restrictions.ts'

/** Audience: guests see what is public, staff sees all that is active. */
export type Audience = 'portal' | 'staff'

/** One question about a stay: the property, what it sells, and when. */
export type Sale = {
  property: SaleProperty
  catalogue: Catalogue
  audience: Audience
  locale: string
  stay: Stay
  nights: number
  /** In the property's zone; the day of arrival where that is the night that goes on past midnight. */
  today: string
  now: Date
  arrivalAt: Date
  promo: PromoCode | null
}

const missing = () => notFound('There is no such property here', 'property_not_found')

/** Guests know of live and suspended properties with a portal; all others are as if they were not there. */
export const propertyFor = async (trx: Trx, propertyId: string, audience: Audience): Promise<SaleProperty> => {
  const property = await readProperty(trx, propertyId)
  if (!property) throw missing()
  const shown = property.settings.portal.enabled && (property.status === 'live' || property.status === 'suspended')
  if (audience === 'portal' && !shown) throw missing()
  return property
}

/** A draft is booked by staff alone, for the take-over of stays that were booked before. */
export const isSelling = (property: Pick<SaleProperty, 'status'>, audience: Audience) =>
  property.status === 'live' || (audience === 'staff' && property.status === 'draft')

export const notSelling = () => unprocessable('property_not_selling', 'This property takes no bookings at present')

/** A locale of the property: the one asked for where it has it or another variety of its language, else its first. */
export const localeOf = (property: Pick<SaleProperty, 'locales'>, asked: string | undefined): string => {
  const first = property.locales[0] ?? 'en'
  if (asked === undefined) return first
  return (
    property.locales.find((locale) => locale === asked) ??
    property.locales.find((locale) => locale.split('-')[0] === asked.split('-')[0]) ??
    first
  )
}

type SaleRequest = Stay & {
  propertyId: string
  rooms: number
  audience: Audience
  locale?: string | undefined
  promoCode?: string | null | undefined
  /** Answer of `propertyFor` to the audience in this transaction. */
  property?: SaleProperty | undefined
}

/**
 * The desk sells from the business date on: after midnight, until the night audit has rolled it, that is the night which has begun. Where days are closed
 * ahead of the calendar, it is the day that the house has come to.
 */
const firstArrival = ({ businessDate }: SaleProperty, audience: Audience, calendarDay: string): string =>
  audience === 'staff' ? (businessDate ?? calendarDay) : calendarDay

/** Opens a question. 400 for days that make no stay, 404 and 422 as the property is; a promo code that is no good is 422. */
export const openSale = async (trx: Trx, request: SaleRequest): Promise<Sale> => {
  const property = request.property ?? (await propertyFor(trx, request.propertyId, request.audience))
  const { arrival, departure, audience } = request
  const calendarDay = todayIn(property.timezone, property.now)
  const nights = daysBetween(arrival, departure)
  if (nights < 1) throw invalid([{ field: 'departure', message: 'must be after arrival' }])
  const first = firstArrival(property, audience, calendarDay)
  if (arrival < first) throw invalid([{ field: 'arrival', message: `must not be before today, ${first}` }])
  const today = arrival < calendarDay ? arrival : calendarDay
  const { portal } = property.settings
  const most = audience === 'portal' ? portal.maxNights : 366
  if (nights > most)
    throw invalid([{ field: 'departure', message: `a stay has at most ${most} nights` }], 'too_many_nights')
  if (request.rooms > (audience === 'portal' ? portal.maxRooms : 9))
    throw invalid(
      [{ field: 'rooms', message: `a booking has at most ${audience === 'portal' ? portal.maxRooms : 9} rooms` }],
      'too_many_rooms',
    )
  const catalogue = await catalogueOf(trx, property)
  const promo = request.promoCode ? await findPromoCode(trx, property.id, request.promoCode) : null
  if (request.promoCode && !(promo && promoCovers(promo, { arrival, departure, today }))) throw promoCodeInvalid()
  return {
    property,
    catalogue,
    audience,
    locale: localeOf(property, request.locale),
    stay: { arrival, departure },
    nights,
    today,
    now: property.now,
    arrivalAt: localInstant(arrival, property.checkInFrom, property.timezone),
    promo,
  }
}

/** Moves a request to a stay that begins `days` later; null if that is before today or outside the promo code. */
export const shiftSale = (sale: Sale, days: number): Sale | null => {
  const { property, promo, today } = sale
  const stay = { arrival: addDays(sale.stay.arrival, days), departure: addDays(sale.stay.departure, days) }
  if (stay.arrival < today || (promo && !promoCovers(promo, { ...stay, today }))) return null
  return { ...sale, stay, arrivalAt: localInstant(stay.arrival, property.checkInFrom, property.timezone) }
}

/** The promo code as a price sees it, where its scope has the plan and the type. */
export const promoFor = ({ promo }: Sale, planId: string, typeId: string) =>
  promo && promoIncludes(promo, planId, typeId) ? { id: promo.id, type: promo.type, value: promo.value } : null

export const typeIsOffered = (sale: Pick<Sale, 'audience'>, type: SaleType) =>
  type.pools.length > 0 && (sale.audience === 'staff' || type.bookable)

/** Plans with visibility `code` show with a code that names them. */
export const planIsOffered = ({ audience, promo }: Pick<Sale, 'audience' | 'promo'>, plan: SalePlan) =>
  audience === 'staff' ||
  plan.visibility === 'public' ||
  (plan.visibility === 'code' && (promo?.ratePlanIds.includes(plan.id) ?? false))

/** The portal's own limits of time; staff has none. */
const portalChecks = (sale: Sale): Check[] => {
  if (sale.audience === 'staff') return []
  const { stay, today, now, arrivalAt } = sale
  const { portal } = sale.property.settings
  const minutes = Math.floor((arrivalAt.getTime() - now.getTime()) / 60_000)
  const ahead = daysBetween(today, stay.arrival)
  // Without a limit of its own, the portal still sells arrivals of the same day.
  return [
    {
      code: 'portal_min_advance',
      passed: portal.minAdvanceMinutes === 0 || minutes >= portal.minAdvanceMinutes,
      actual: minutes,
      limit: portal.minAdvanceMinutes,
    },
    {
      code: 'portal_max_advance',
      passed: ahead <= portal.maxAdvanceDays,
      actual: ahead,
      limit: portal.maxAdvanceDays,
    },
  ]
}

/** Every check of a stay of a plan and type apart from price and counters, passed or not. */
export const allChecks = (sale: Sale, restrictionOf: RestrictionOf, plan: SalePlan, type: SaleType): Check[] => {
  const { stay, today } = sale
  return [
    ...portalChecks(sale),
    ...stayChecks({ ...stay, today, on: (date) => restrictionOf(plan, type.id, date), plan }),
  ]
}

/** All that speaks against a stay of a plan and type apart from price and counters. */
export const violations = (sale: Sale, restrictionOf: RestrictionOf, plan: SalePlan, type: SaleType): Check[] =>
  allChecks(sale, restrictionOf, plan, type).filter((check) => !check.passed)

export type RoomRequest = Party & {
  unitTypeId: string
  ratePlanId: string
  extras: { extraId: string; quantity: number }[]
}
export type SaleRoom = {
  plan: SalePlan
  type: SaleType
  party: Party
  counted: CountedParty
  extras: RoomRequest['extras']
}

const unknown = (field: string) =>
  new ApiError('not_found', 'Not found', { errors: [{ field, message: 'is not sold here' }] })

const extraProblem = (sale: Sale, extra: SaleExtra | undefined, quantity: number): string | null => {
  if (!extra || (sale.audience === 'portal' && !extra.bookableOnline && !extra.mandatory))
    return 'is not offered for this room'
  if (quantity > extra.maxQuantity) return `at most ${extra.maxQuantity}`
  // The cut-off binds guests; the desk knows what the house can still do.
  if (
    sale.audience === 'portal' &&
    !extra.mandatory &&
    sale.now.getTime() > sale.arrivalAt.getTime() - extra.cutoffHours * 3_600_000
  )
    return `is ordered at least ${extra.cutoffHours} hours before arrival`
  return null
}

/** Finds the records that a request names. 404 for those not sold to the audience. */
export const findRooms = (sale: Sale, rooms: readonly RoomRequest[]): SaleRoom[] =>
  rooms.map((room, index) => {
    const type = sale.catalogue.unitTypes.find((known) => known.id === room.unitTypeId)
    if (!type || !typeIsOffered(sale, type)) throw unknown(`rooms.${index}.unitTypeId`)
    const plan = sale.catalogue.ratePlans.find((known) => known.id === room.ratePlanId)
    if (!plan || !planIsOffered(sale, plan) || !plan.unitTypes.some((entry) => entry.unitTypeId === type.id))
      throw unknown(`rooms.${index}.ratePlanId`)
    const party = { adults: room.adults, childrenAges: room.childrenAges }
    return { plan, type, party, counted: countParty(sale.catalogue, party), extras: room.extras }
  })

/** Resolves rooms, and refuses parties that do not fit and extras that are not available. */
export const resolveRooms = (sale: Sale, rooms: readonly RoomRequest[]): SaleRoom[] => {
  const resolved = findRooms(sale, rooms)
  const crowded = resolved.flatMap(({ type, counted }, index) =>
    fits(type, counted)
      ? []
      : [
          {
            field: `rooms.${index}`,
            message: `takes at most ${type.maxOccupancy} guests, of these ${type.maxAdults} adults and ${type.maxChildren} children`,
          },
        ],
  )
  if (crowded.length > 0) throw unprocessable('occupancy_exceeded', 'The party does not fit the room', crowded)
  const refused = resolved.flatMap(({ type, extras }, index) =>
    extras.flatMap(({ extraId, quantity }, position) => {
      const repeated = extras.findIndex((other) => other.extraId === extraId) !== position
      const problem = repeated
        ? 'is named twice'
        : extraProblem(
            sale,
            extrasOf(sale.catalogue, type).find((known) => known.id === extraId),
            quantity,
          )
      return problem ? [{ field: `rooms.${index}.extras.${position}`, message: problem }] : []
    }),
  )
  if (refused.length > 0) throw unprocessable('extra_unavailable', 'An extra cannot be had', refused)
  return resolved
}

/** 422 with one entry per rule, room and night. */
export const refuseRestricted = (sale: Sale, restrictionOf: RestrictionOf, rooms: readonly SaleRoom[]) => {
  const errors: FieldError[] = rooms.flatMap(({ plan, type }, index) =>
    violations(sale, restrictionOf, plan, type).map((check) => ({
      field: check.date ? `rooms.${index}.nights.${check.date}` : `rooms.${index}`,
      message: `${check.code}: ${sentenceOf(check)}`,
    })),
  )
  if (errors.length > 0)
    throw unprocessable('restriction_violated', 'The stay is not possible at this rate', errors.slice(0, 50))
}
