import {
  AnyOf,
  Between,
  Bool,
  Count,
  Day,
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
import { levels } from '../../db/properties/calendar.ts'
import { explainStay } from '../../db/properties/explain.ts'
import { can } from '../lib/access.ts'
import { route } from '../lib/route.ts'

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
  errors: ['promo_code_invalid', 'too_many_nights'],
  body: Obj({
    propertyId: Uuid,
    arrival: Day,
    departure: Day,
    unitTypeId: Uuid,
    ratePlanId: Uuid,
    rooms: Opt(List(Obj({ adults: Int(1, 40), childrenAges: List(Int(0, 17), { max: 40 }) }), { min: 1, max: 9 })),
    promoCode: Opt(Matching('^[A-Za-z0-9-]{3,30}$', 30)),
    audience: Opt(OneOf(['staff', 'portal'])),
  }),
  returns: Explanation,
  handle: ({ trx, body: { rooms = [{ adults: 2, childrenAges: [] }], audience = 'staff', ...request } }) =>
    explainStay(trx, { ...request, rooms, audience }),
})

export const routes = [explain]
