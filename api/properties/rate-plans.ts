import {
  Bool,
  Day,
  Int,
  List,
  LocalName,
  LocalText,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { lockForChange } from '../../db/properties/editing.ts'
import { judgePlan } from '../../db/properties/rate-plan-rules.ts'
import {
  archiveRatePlan,
  changeRatePlan,
  listRatePlans,
  readRatePlan,
  restoreRatePlan,
} from '../../db/properties/rate-plans.ts'
import { createRatePlan } from '../../db/properties/rates.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Code, Lifecycle, MealPlan, Price, SignedPrice, stamps } from './schemas.ts'

/** Basis points or minor units, by `type`. */
const Adjustment = Obj({ type: OneOf(['percent', 'amount']), value: SignedPrice })
const Derivation = Obj({
  type: OneOf(['percent', 'amount']),
  value: SignedPrice,
  roundTo: Int(1, 1_000_000),
  mode: OneOf(['nearest', 'up', 'down']),
})
const UnitTypePrices = Obj({
  unitTypeId: Uuid,
  standardAmount: Nullable(Price),
  adults: MapOf(Adjustment, { max: 40, pattern: '^[0-9]{1,2}$' }),
  extraAdultAmount: Price,
  children: List(Obj({ ageCategoryId: Uuid, type: OneOf(['amount', 'percent', 'free']), value: Price }), { max: 20 }),
})
const { unitTypeId, ...ofType } = UnitTypePrices.properties
const UnitTypePricesSent = Obj({ unitTypeId, ...Sparse(Obj(ofType)).properties })

const needed = { name: LocalName, cancellationPolicyId: Uuid, noShowPolicyId: Uuid }
const optional = {
  description: LocalText,
  parentId: Nullable(Uuid),
  derivation: Nullable(Derivation),
  inheritRestrictions: Bool,
  marketSegment: OneOf([
    'transient',
    'group',
    'corporate',
    'government',
    'wholesale',
    'long_stay',
    'package',
    'complimentary',
    'house_use',
  ]),
  mealPlan: MealPlan,
  includedExtras: List(Obj({ extraId: Uuid, quantity: Int(1, 99) }), { max: 20 }),
  depositPolicyId: Nullable(Uuid),
  visibility: OneOf(['public', 'code', 'private']),
  bookableFrom: Nullable(Day),
  bookableUntil: Nullable(Day),
  stayFrom: Nullable(Day),
  stayUntil: Nullable(Day),
  minAdvanceDays: Nullable(Int(0, 730)),
  maxAdvanceDays: Nullable(Int(0, 730)),
  minNights: Nullable(Int(1, 366)),
  maxNights: Nullable(Int(1, 366)),
  losDiscounts: List(Obj({ minNights: Int(2, 366), rate: Int(1, 10_000) }), { max: 5 }),
}
const UnitTypesSent = List(UnitTypePricesSent, { max: 100 })
const record = { table: 'rate_plan', param: 'ratePlanId' }
const fields = { id: Uuid, propertyId: Uuid, code: Code, ...needed, ...optional, status: Lifecycle, ...stamps }
const RatePlanSummary = Obj(fields, { title: 'RatePlanSummary' })
const RatePlan = Obj({ ...fields, unitTypes: List(UnitTypePrices, { max: 100 }) }, { title: 'RatePlan' })
const path = '/api/tenants/:tenantId/rate-plans'
const planErrors = [
  'duplicate_code',
  'reference_not_found',
  'rate_plan_derived',
  'derivation_cycle',
  'derivation_too_deep',
  'invalid_transition',
] as const

const list = paged({
  id: 'ratePlans.list',
  path,
  summary: 'List rate plans',
  access: can('read', 'RatePlan'),
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Lifecycle),
    visibility: Opt(optional.visibility),
    unitTypeId: Opt(Uuid),
    parentId: Opt(Uuid),
    q: Opt(Text(1, 120)),
  },
  of: RatePlanSummary,
  find: ({ trx, query, admission }) => listRatePlans(trx, { ...query, scope: admission.scope('read', 'RatePlan') }),
})

const create = route({
  id: 'ratePlans.create',
  method: 'POST',
  path,
  summary: 'Create a standard or derived rate plan',
  description:
    'A plan with a `parentId` has no prices of its own: they are computed from those of the parent, over three steps at most.',
  access: can('create', 'RatePlan'),
  status: 201,
  errors: [...planErrors, 'not_found'],
  body: Obj({
    propertyId: Uuid,
    code: Code,
    ...needed,
    ...Sparse(Obj(optional)).properties,
    unitTypes: UnitTypesSent,
  }),
  returns: RatePlan,
  handle: async ({ trx, body }) => {
    await judgePlan(trx, await lockForChange(trx, body.propertyId), body, null)
    return readRatePlan(trx, await createRatePlan(trx, body))
  },
})

const read = route({
  id: 'ratePlans.read',
  method: 'GET',
  path: `${path}/:ratePlanId`,
  summary: 'Read a rate plan with its unit types',
  access: can('read', 'RatePlan'),
  returns: RatePlan,
  handle: ({ trx, params, admission }) => readRatePlan(trx, params.ratePlanId, admission.scope('read', 'RatePlan')),
})

const change = route({
  id: 'ratePlans.update',
  method: 'PATCH',
  path: `${path}/:ratePlanId`,
  summary: 'Change terms, unit types or derivation of a rate plan',
  description:
    'Unit types are replaced as a set. `parentId: null` makes a plan standard: the prices that it had by derivation become its own. A plan that begins to derive gives its own prices up.',
  access: can('update', 'RatePlan'),
  record,
  errors: planErrors,
  body: Sparse(Obj({ code: Code, ...needed, ...optional, unitTypes: UnitTypesSent })),
  returns: RatePlan,
  handle: async ({ trx, params, body }) => {
    await changeRatePlan(trx, params.ratePlanId, body)
    return readRatePlan(trx, params.ratePlanId)
  },
})

const archive = route({
  id: 'ratePlans.archive',
  method: 'POST',
  path: `${path}/:ratePlanId/archive`,
  summary: 'Stop selling a rate plan',
  access: can('delete', 'RatePlan'),
  record,
  errors: ['in_use', 'invalid_transition'],
  returns: RatePlan,
  handle: async ({ trx, params }) => {
    await archiveRatePlan(trx, params.ratePlanId)
    return readRatePlan(trx, params.ratePlanId)
  },
})

const restore = route({
  id: 'ratePlans.restore',
  method: 'POST',
  path: `${path}/:ratePlanId/restore`,
  summary: 'Sell an archived rate plan again',
  access: can('update', 'RatePlan'),
  record,
  errors: ['reference_not_found', 'invalid_transition'],
  returns: RatePlan,
  handle: async ({ trx, params }) => {
    await restoreRatePlan(trx, params.ratePlanId)
    return readRatePlan(trx, params.ratePlanId)
  },
})

export const routes = [list, create, read, change, archive, restore]
