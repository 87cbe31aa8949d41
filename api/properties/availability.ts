import { ChildrenAges } from '../../config/quote.ts'
import {
  Amount,
  AnyOf,
  Between,
  Bool,
  Count,
  Day,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { invalid } from '../../config/errors.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
import { daysBetween } from '../../config/time.ts'
import { levels, explainStay, readGrid, policiesShown, addTaxesOf, searchOffers } from '../../db/properties/index.ts'
import type { Offer as Found } from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const mostDays = 62

const Told = AnyOf([Bool, Int(-1_000_000_000, 1_000_000_000), Text(0, 60)])
const Fraction = Between(-1_000_000_000_000_000, 1_000_000_000_000_000)
const Counters = Obj({
  capacity: Count,
  sold: Count,
  held: Count,
  allotted: Count,
  blocked: Count,
  oversell: Count,
  forced: Count,
})

const Explanation = Obj(
  {
    sellable: Bool,
    checks: List(
      Obj({
        code: Text(1, 60),
        passed: Bool,
        date: Opt(Day),
        level: Opt(OneOf([...levels, 'portal'])),
        recordId: Opt(Uuid),
        actual: Told,
        limit: Told,
        message: Text(1, 500),
      }),
      { max: 5_000 },
    ),
    nights: List(Obj({ date: Day, counters: Nullable(Counters), free: Nullable(Count) }), { max: 366 }),
    price: List(
      Obj({
        date: Day,
        steps: List(
          Obj({
            step: OneOf(['base', 'derivation', 'adults', 'children', 'los_discount', 'promo', 'rounding']),
            // Between two steps an amount may have fractions of a minor unit.
            before: Fraction,
            after: Fraction,
            recordId: Opt(Uuid),
          }),
          { max: 20 },
        ),
      }),
      { max: 366 },
    ),
  },
  { title: 'Explanation' },
)

const Party = Obj({ adults: Int(1, 40), childrenAges: ChildrenAges })
const Rooms = List(Party, { min: 1, max: 9 })
const Audience = OneOf(['staff', 'portal'])
const PromoCode = Matching('^[A-Za-z0-9-]{3,30}$', 30)
const Ids = List(Uuid, { max: 100 })
const count = Nullable(Count)

const grid = route({
  id: 'availability.read',
  method: 'GET',
  path: '/api/tenants/:tenantId/availability',
  summary: 'Read the availability grid by unit type and night',
  description:
    '`from` and `to` are both included, 62 days at most. Of a type that takes from several pools, the counters of the tightest one are shown; they are null on nights that cannot be booked yet. `stopSell`: no rate plan sells the type that night.',
  access: can('read', 'Availability'),
  errors: ['range_too_long', 'property_not_found'],
  query: Obj({ propertyId: Uuid, from: Day, to: Day, unitTypeId: Opt(Ids) }),
  returns: Obj(
    {
      nights: List(
        Obj({
          date: Day,
          unitTypes: List(
            Obj({
              unitTypeId: Uuid,
              capacity: count,
              sold: count,
              held: count,
              allotted: count,
              blocked: count,
              oversell: count,
              forced: count,
              free: count,
              stopSell: Bool,
            }),
            { max: 1_000 },
          ),
        }),
        { max: mostDays },
      ),
    },
    { title: 'AvailabilityGrid' },
  ),
  handle: ({ trx, query: { unitTypeId: unitTypeIds, ...range } }) => {
    const days = daysBetween(range.from, range.to) + 1
    if (days < 1) throw invalid([{ field: 'to', message: 'must not be before from' }])
    if (days > mostDays) throw invalid([{ field: 'to', message: `at most ${mostDays} days` }], 'range_too_long')
    return readGrid(trx, { ...range, unitTypeIds })
  },
})

const Offer = Obj({
  arrival: Day,
  departure: Day,
  unitTypeId: Uuid,
  ratePlanId: Uuid,
  free: Count,
  rooms: List(
    Obj({
      nights: List(Obj({ date: Day, amount: Amount }), { max: 366 }),
      mandatoryExtras: List(Obj({ extraId: Uuid, name: Text(1, 200), amount: Amount }), { max: 500 }),
      taxes: List(Obj({ code: Text(1, 20), included: Bool, amount: Amount }), { max: 500 }),
      /** Without the taxes on top. */
      subtotal: Amount,
      total: Amount,
    }),
    { max: 9 },
  ),
  total: Amount,
  dueNow: Amount,
  policies: Obj({
    cancellation: Obj({
      text: Text(0, 5_000),
      tiers: List(Obj({ until: Nullable(Instant), fee: Amount }), { max: 60 }),
    }),
    deposit: Obj({ text: Text(0, 5_000) }),
    noShow: Obj({ text: Text(0, 5_000), fee: Amount }),
  }),
})

const shown = ({ sale, type, plan, free, rooms, total, dueNow }: Found) => ({
  ...sale.stay,
  unitTypeId: type.id,
  ratePlanId: plan.id,
  free,
  rooms: rooms.map((room) => ({
    // The reply's schema cuts off what it does not name; a search has too many nights to write each of them twice.
    nights: room.nights,
    mandatoryExtras: room.extras,
    taxes: addTaxesOf(room.nights, room.extras),
    subtotal: room.roomTotal + room.extrasTotal,
    total: room.total,
  })),
  total,
  dueNow,
  policies: policiesShown({ sale, rooms: rooms.map(() => ({ plan })), priced: rooms }),
})

const search = route({
  id: 'availability.search',
  method: 'POST',
  path: '/api/tenants/:tenantId/availability/search',
  summary: 'Find priced offers for a stay',
  description:
    'All rooms are of one type and plan, and have to be free together. With `flexibleDays`, stays of the same length that begin so many days earlier or later are offered too. At most 200 offers, the cheapest first; `unavailable` says why the others are none on the days that were asked for. Staff asks from the business date on, which after midnight is yesterday until it has rolled. Nothing is taken: only a hold or a reservation takes.',
  access: can('read', 'Availability'),
  readOnly: true,
  idempotency: 'off',
  errors: ['promo_code_invalid', 'too_many_nights', 'too_many_rooms', 'property_not_found'],
  body: Obj({
    propertyId: Uuid,
    arrival: Day,
    departure: Day,
    rooms: Rooms,
    promoCode: Opt(PromoCode),
    ratePlanIds: Opt(Ids),
    unitTypeIds: Opt(Ids),
    flexibleDays: Opt(Int(0, 7)),
    audience: Opt(Audience),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    arrival: sampleDay(30),
    departure: sampleDay(32),
    rooms: [{ adults: 2, childrenAges: [] }],
    flexibleDays: 2,
  },
  returns: Obj(
    {
      offers: List(Offer, { max: 200 }),
      unavailable: List(Obj({ unitTypeId: Uuid, ratePlanId: Uuid, codes: List(Text(1, 60), { min: 1, max: 40 }) }), {
        max: 100_000,
      }),
    },
    { title: 'Offers' },
  ),
  handle: async ({ trx, body: { audience = 'staff', ...request } }) => {
    const { offers, unavailable } = await searchOffers(trx, { ...request, audience })
    return {
      offers: offers.map(shown),
      unavailable: unavailable.map(({ type, plan, codes }) => ({ unitTypeId: type.id, ratePlanId: plan.id, codes })),
    }
  },
})

const explain = route({
  id: 'availability.explain',
  method: 'POST',
  path: '/api/tenants/:tenantId/availability/explain',
  summary: 'Explain why a stay can or cannot be sold',
  description:
    'Every check is evaluated, whether the one before it passed or not. A restriction names the level that rules: of several that say the same, the most general one.',
  access: can('read', 'Availability'),
  readOnly: true,
  idempotency: 'off',
  errors: ['promo_code_invalid', 'too_many_nights', 'too_many_rooms', 'not_found', 'property_not_found'],
  body: Obj({
    propertyId: Uuid,
    arrival: Day,
    departure: Day,
    unitTypeId: Uuid,
    ratePlanId: Uuid,
    rooms: Opt(Rooms),
    promoCode: Opt(PromoCode),
    audience: Opt(Audience),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    arrival: sampleDay(30),
    departure: sampleDay(32),
    unitTypeId: sampleId('unitTypeId'),
    ratePlanId: sampleId('ratePlanId'),
    rooms: [{ adults: 2, childrenAges: [5] }],
  },
  returns: Explanation,
  handle: ({ trx, body: { rooms = [{ adults: 2, childrenAges: [] }], audience = 'staff', ...request } }) =>
    explainStay(trx, { ...request, rooms, audience }),
})

export const routes = [grid, search, explain]
