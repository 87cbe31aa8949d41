import { unprocessable } from '../../config/errors.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
import { ChildrenAges, extraBases } from '../../config/quote.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  List,
  LocaleTag,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { claimsOf, policiesShown, priceStay, scheduleOf, addTaxes } from '../../db/properties/index.ts'
import { propertyInBody, publicProperty } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { signToken } from '../../config/tokens.ts'

const lifeSeconds = 15 * 60
/** No hold takes a longer one. */
const longestQuote = 40_000

const QuoteRequest = Obj({
  propertyId: Uuid,
  arrival: Day,
  departure: Day,
  rooms: List(
    Obj({
      unitTypeId: Uuid,
      ratePlanId: Uuid,
      adults: Int(1, 40),
      childrenAges: List(Int(0, 99), { max: 40 }),
      extras: List(Obj({ extraId: Uuid, quantity: Int(1, 99) }), { max: 20 }),
    }),
    { min: 1, max: 9 },
  ),
  promoCode: Opt(Matching('^[A-Za-z0-9-]{3,30}$', 30)),
  locale: Opt(LocaleTag),
})

const Words = Text(0, 50_000)

export const QuotedPolicies = Obj(
  {
    cancellation: Obj({ text: Words, tiers: List(Obj({ until: Nullable(Instant), fee: Amount }), { max: 60 }) }),
    deposit: Obj({ text: Words }),
    noShow: Obj({ text: Words, fee: Amount }),
  },
  { title: 'QuotedPolicies' },
)

export const Quote = Obj(
  {
    quote: Text(1, 200_000),
    expiresAt: Instant,
    currency: Currency,
    holdMinutes: Int(5, 30),
    rooms: List(
      Obj({
        unitTypeId: Uuid,
        ratePlanId: Uuid,
        adults: Int(1, 40),
        childrenAges: ChildrenAges,
        nights: List(Obj({ date: Day, amount: Amount }), { max: 90 }),
        extras: List(
          Obj({
            extraId: Uuid,
            name: Text(0, 200),
            basis: OneOf([...extraBases]),
            quantity: Int(1, 99),
            amount: Amount,
            mandatory: Bool,
          }),
          { max: 50 },
        ),
        taxes: List(Obj({ code: Text(1, 20), name: Text(0, 200), included: Bool, amount: Amount }), { max: 50 }),
        total: Amount,
      }),
      { max: 9 },
    ),
    total: Amount,
    dueNow: Amount,
    schedule: List(Obj({ dueAt: Instant, amount: Amount }), { max: 60 }),
    policies: QuotedPolicies,
  },
  { title: 'Quote' },
)

export const routes = [
  route({
    id: 'public.quotes.create',
    method: 'POST',
    path: '/api/public/quotes',
    summary: 'Price a stay and freeze it for 15 minutes',
    access: publicProperty(propertyInBody),
    body: QuoteRequest,
    example: {
      propertyId: sampleId('propertyId'),
      arrival: sampleDay(30),
      departure: sampleDay(32),
      rooms: [
        {
          unitTypeId: sampleId('unitTypeId'),
          ratePlanId: sampleId('ratePlanId'),
          adults: 2,
          childrenAges: [],
          extras: [],
        },
      ],
    },
    returns: Quote,
    readOnly: true,
    // Asked again, it is made again: a kept one would be past its time, and strangers could have any number of them kept.
    idempotency: 'off',
    errors: [
      'too_many_nights',
      'too_many_rooms',
      'sold_out',
      'beyond_horizon',
      'restriction_violated',
      'occupancy_exceeded',
      'age_invalid',
      'extra_unavailable',
      'promo_code_invalid',
      'property_not_selling',
      'total_too_large',
      'not_found',
    ],
    handle: async ({ trx, propertyId, body }) => {
      const young = body.rooms.flatMap((room, index) =>
        room.childrenAges.flatMap((age, position) =>
          age > 17 ? [{ field: `rooms.${index}.childrenAges.${position}`, message: 'must be 0 to 17' }] : [],
        ),
      )
      if (young.length > 0) throw unprocessable('age_invalid', 'Children are 0 to 17 years old', young)
      const stay = await priceStay(trx, { ...body, propertyId, audience: 'portal' })
      const claims = claimsOf(trx, stay)
      const expiresAt = new Date(Date.now() + lifeSeconds * 1000)
      const quote = await signToken('quote', claims, lifeSeconds)
      if (quote.length > longestQuote)
        throw unprocessable('total_too_large', 'So many rooms and nights are quoted in parts')
      return {
        quote,
        expiresAt,
        currency: claims.currency,
        holdMinutes: stay.sale.property.settings.holds.checkoutMinutes,
        rooms: stay.priced.map((room) => ({
          ...room,
          taxes: addTaxes([...room.nights, ...room.extras].flatMap((line) => line.taxes)),
        })),
        total: claims.total,
        dueNow: claims.dueNow,
        schedule: scheduleOf(stay, expiresAt),
        policies: policiesShown(stay),
      }
    },
  }),
]
