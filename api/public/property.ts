import { invalid, unprocessable } from '../../config/errors.ts'
import { Day, Int, LocaleTag, Matching, Obj, Opt, Uuid, Amount } from '../../config/schema.ts'
import { addDays, daysBetween, todayIn } from '../../config/time.ts'
import { portalMethods, readyImages, propertyFor, searchDays } from '../../db/properties/index.ts'
import { propertyInPath, publicProperty } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { cached, placeOf } from './cache.ts'
import { methodLabel } from './methods.ts'
import { Availability, Config, Gallery, PaymentMethods, Rooms } from './property-schemas.ts'
import { configOf, roomsOf, stayOf, texts } from './property-views.ts'

const access = publicProperty(propertyInPath)
const Locale = Obj({ locale: Opt(LocaleTag) })
const minutes = 60

const AvailabilityQuery = Obj({
  arrival: Opt(Day),
  departure: Opt(Day),
  from: Opt(Day),
  to: Opt(Day),
  adults: Opt(Int(1, 40, { default: 2 })),
  children: Opt(Matching('^[0-9]{1,2}(,[0-9]{1,2}){0,39}$', 120)),
  rooms: Opt(Int(1, 9, { default: 1 })),
  promoCode: Opt(Matching('^[A-Za-z0-9-]{3,30}$', 30)),
  unitTypeId: Opt(Uuid),
  locale: Opt(LocaleTag),
})

/** Ages from `5,9`. */
const agesOf = (children: string | undefined): number[] => {
  const ages = children === undefined ? [] : children.split(',').map(Number)
  if (ages.some((age) => age > 17))
    throw unprocessable('age_invalid', 'Children are 0 to 17 years old', [
      { field: 'children', message: 'must be ages from 0 to 17' },
    ])
  return ages
}

const onlyPair = 'send arrival and departure, or from and to'

export const routes = [
  route({
    id: 'public.property.config',
    method: 'GET',
    path: '/api/public/property/:propertyId/config',
    summary: 'Read portal configuration, rules and disclosures of a property',
    access,
    query: Locale,
    returns: Config,
    cache: 'public, max-age=60, stale-while-revalidate=300',
    handle: async ({ trx, propertyId, query }) => {
      const place = await placeOf(trx, propertyId, query.locale)
      const kept = await cached(place, 'config', 5 * minutes, () => configOf(trx, place))
      const now = new Date()
      return { ...kept, serverTime: now, today: todayIn(kept.timezone, now) }
    },
  }),
  route({
    id: 'public.property.rooms',
    method: 'GET',
    path: '/api/public/property/:propertyId/rooms',
    summary: 'List unit types and rates for the portal',
    access,
    query: Locale,
    returns: Rooms,
    cache: 'public, max-age=60, stale-while-revalidate=300',
    handle: async ({ trx, propertyId, query }) => {
      const place = await placeOf(trx, propertyId, query.locale)
      return cached(place, 'rooms', 5 * minutes, () => roomsOf(trx, place))
    },
  }),
  route({
    id: 'public.property.availability',
    method: 'GET',
    path: '/api/public/property/:propertyId/availability',
    summary: 'Find offers for a stay or prices by day',
    access,
    query: AvailabilityQuery,
    returns: Availability,
    cache: 'public, max-age=10',
    errors: ['too_many_nights', 'too_many_rooms', 'age_invalid', 'promo_code_invalid', 'range_too_long'],
    handle: async ({ trx, propertyId, query }) => {
      const { arrival, departure, from, to, adults = 2, rooms = 1 } = query
      const ages = agesOf(query.children)
      const place = await placeOf(trx, propertyId, query.locale)
      const unitTypeIds = query.unitTypeId === undefined ? undefined : [query.unitTypeId]
      if (arrival !== undefined && departure !== undefined && from === undefined && to === undefined) {
        const stay = {
          arrival,
          departure,
          adults,
          ages,
          rooms,
          promoCode: query.promoCode?.toUpperCase() ?? null,
          unitTypeIds,
        }
        return cached(place, `stay:${JSON.stringify(stay)}`, 10, () => stayOf(trx, place, stay))
      }
      if (from === undefined || to === undefined || arrival !== undefined || departure !== undefined)
        throw invalid([
          { field: 'arrival', message: onlyPair },
          { field: 'from', message: onlyPair },
        ])
      const length = daysBetween(from, to) + 1
      if (length < 1) throw invalid([{ field: 'to', message: 'must not be before from' }])
      if (length > 92) throw invalid([{ field: 'to', message: 'at most 92 days' }], 'range_too_long')
      const days = {
        propertyId,
        from,
        until: to,
        party: { adults, childrenAges: ages },
        unitTypeIds,
        audience: 'portal' as const,
        locale: place.locale,
      }
      return cached(place, `days:${JSON.stringify(days)}`, 10, () => searchDays(trx, days))
    },
  }),
  route({
    id: 'public.property.gallery',
    method: 'GET',
    path: '/api/public/property/:propertyId/gallery',
    summary: 'List images for the portal',
    access,
    query: Locale,
    returns: Gallery,
    cache: 'public, max-age=600',
    handle: async ({ trx, propertyId, query }) => {
      const place = await placeOf(trx, propertyId, query.locale)
      return cached(place, 'gallery', 10 * minutes, async () => {
        const property = await propertyFor(trx, propertyId, 'portal')
        const text = texts(property, place.locale)
        return {
          images: (await readyImages(trx, propertyId)).map((image) => ({ ...image, caption: text(image.caption) })),
        }
      })
    },
  }),
  route({
    id: 'public.property.paymentMethods',
    method: 'GET',
    path: '/api/public/property/:propertyId/payment-methods',
    summary: 'List payment methods open to guests',
    access,
    query: Obj({ arrival: Opt(Day), total: Opt(Amount), locale: Opt(LocaleTag) }),
    returns: PaymentMethods,
    cache: 'public, max-age=60, stale-while-revalidate=300',
    handle: async ({ trx, propertyId, query }) => {
      const place = await placeOf(trx, propertyId, query.locale)
      const { timezone, methods } = await cached(place, 'ways-to-pay', minutes, async () => {
        const property = await propertyFor(trx, propertyId, 'portal')
        const text = texts(property, place.locale)
        const offers = await portalMethods(trx, propertyId)
        return {
          timezone: property.timezone,
          methods: offers.map((offer) => ({ ...offer, instructions: text(offer.instructions) })),
        }
      })
      const today = todayIn(timezone)
      const { arrival, total } = query
      return {
        methods: methods
          .filter((offer) => arrival === undefined || arrival >= addDays(today, offer.minDaysBeforeArrival))
          .filter((offer) => total === undefined || offer.maxAmount === null || total <= offer.maxAmount)
          .map((offer) => ({
            method: offer.method,
            label: methodLabel(offer.method, place.locale),
            instructions: offer.instructions,
            maxInstallments: offer.maxInstallments,
            gateway:
              offer.provider === null ? null : { provider: offer.provider, publishableKey: offer.publishableKey },
          })),
      }
    },
  }),
]
