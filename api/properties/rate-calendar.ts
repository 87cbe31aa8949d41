import {
  Amount,
  AnyOf,
  Bool,
  Currency,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Uuid,
} from '../../config/schema.ts'
import { levels, readRateCalendar } from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const stay = Nullable(Int(1, 366))
const advance = Nullable(Int(0, 730))
/** Null says nothing; of several levels the most restrictive holds, each kind by itself. */
export const Restrictions = Obj(
  {
    stopSell: Nullable(Bool),
    closedToArrival: Nullable(Bool),
    closedToDeparture: Nullable(Bool),
    minStayArrival: stay,
    maxStayArrival: stay,
    minStayThrough: stay,
    maxStayThrough: stay,
    minAdvanceDays: advance,
    maxAdvanceDays: advance,
  },
  { title: 'RateRestrictions' },
)
export const RestrictionsSent = Sparse(Restrictions)

const kinds = Object.keys(Restrictions.properties)
const Trace = List(Obj({ kind: OneOf(kinds), level: OneOf([...levels]), value: AnyOf([Bool, Int(0, 730)]) }), {
  max: 60,
})

const RateCalendar = Obj(
  {
    currency: Currency,
    ratePlans: List(
      Obj({
        ratePlanId: Uuid,
        unitTypes: List(
          Obj({
            unitTypeId: Uuid,
            days: List(
              Obj({
                date: Day,
                amount: Nullable(Amount),
                source: OneOf(['cell', 'standard', 'derived', 'none']),
                restrictions: Restrictions,
                trace: Opt(Trace),
              }),
              { max: 731 },
            ),
          }),
          { max: 200 },
        ),
      }),
      { max: 500 },
    ),
  },
  { title: 'RateCalendar' },
)

const read = route({
  id: 'rateCalendar.read',
  method: 'GET',
  path: '/api/tenants/:tenantId/rate-calendar',
  summary: 'Read effective prices and restrictions by day',
  description:
    '`from` and `to` are both included. Prices are of the base occupancy, those of derived plans computed. With `trace` each day says what every level asks for.',
  access: can('read', 'RateCalendar'),
  errors: ['range_too_long', 'property_not_found'],
  query: Obj({
    propertyId: Uuid,
    from: Day,
    to: Day,
    ratePlanId: Opt(List(Uuid, { max: 100 })),
    unitTypeId: Opt(List(Uuid, { max: 100 })),
    trace: Opt(Bool),
  }),
  returns: RateCalendar,
  handle: ({ trx, query: { ratePlanId, unitTypeId, ...range } }) =>
    readRateCalendar(trx, { ...range, ratePlanIds: ratePlanId, unitTypeIds: unitTypeId }),
})

export const routes = [read]
