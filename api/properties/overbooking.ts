import { sampleDay, sampleId } from '../../config/samples.ts'
import { Day, Int, List, Obj, Opt, Uuid, Words } from '../../config/schema.ts'
import { setOverbooking } from '../../db/properties/index.ts'
import { readOversell } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'

const OverbookingLimit = Obj(
  { propertyId: Uuid, unitPoolId: Uuid, from: Day, to: Day, quantity: Int(1, 100) },
  { title: 'OverbookingLimit' },
)
const path = '/api/tenants/:tenantId/overbooking-limits'

const list = paged({
  id: 'overbookingLimits.list',
  path,
  summary: 'List planned overbooking by pool and date range',
  description:
    'From the business date on; `from` and `to` are both included. Neighbouring nights with the same quantity are one range.',
  access: can('read', 'OverbookingLimit'),
  query: { propertyId: Uuid, unitPoolId: Opt(Uuid), from: Opt(Day), to: Opt(Day) },
  of: OverbookingLimit,
  find: ({ trx, query, admission }) =>
    readOversell(trx, { ...query, scope: admission.scope('read', 'OverbookingLimit') }),
})

const replace = route({
  id: 'overbookingLimits.set',
  method: 'PUT',
  path,
  summary: 'Set planned overbooking for a date range',
  description:
    '`quantity` is how many more than there are may be sold on each night, and 0 takes it back. Answers the ranges of the pool that are left in those dates. It never fails for what is sold already: nights that are beyond the new limit are forced, and shrink as stays are released.',
  access: can('override', 'OverbookingLimit'),
  errors: ['date_out_of_range', 'reference_not_found', 'beyond_horizon', 'invalid_transition', 'not_found', 'sold_out'],
  body: Obj({
    propertyId: Uuid,
    unitPoolId: Uuid,
    from: Day,
    to: Day,
    weekDays: Opt(List(Int(1, 7), { min: 1, max: 7 }, { uniqueItems: true })),
    quantity: Int(0, 100),
    reason: Words(3, 500),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    unitPoolId: sampleId('unitPoolId'),
    from: sampleDay(30),
    to: sampleDay(31),
    quantity: 1,
    reason: 'One in ten does not arrive',
  },
  returns: Obj({ data: List(OverbookingLimit, { max: 731 }) }, { title: 'OverbookingLimits' }),
  handle: async ({ trx, body, admission }) => {
    await setOverbooking(trx, body)
    const { propertyId, unitPoolId, from, to } = body
    const scope = admission.scope('read', 'OverbookingLimit')
    const { rows } = await readOversell(trx, { propertyId, unitPoolId, from, to, scope, page: 1, limit: 731 })
    return { data: rows }
  },
})

export const routes = [list, replace]
