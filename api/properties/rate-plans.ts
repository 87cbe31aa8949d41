import { marketSegments } from '../../config/market-segments.ts'
import { sampleId } from '../../config/samples.ts'
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
import {
  archiveRatePlan,
  changeRatePlan,
  listRatePlans,
  readRatePlan,
  restoreRatePlan,
  createRatePlan,
} from '../../db/properties/index.ts'
import { resource } from '../lib/resource.ts'
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
  marketSegment: OneOf([...marketSegments]),
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
const fields = { id: Uuid, propertyId: Uuid, code: Code, ...needed, ...optional, status: Lifecycle, ...stamps }
const RatePlanSummary = Obj(fields, { title: 'RatePlanSummary' })
const RatePlan = Obj({ ...fields, unitTypes: List(UnitTypePrices, { max: 100 }) }, { title: 'RatePlan' })
const ratePlans = resource({
  name: 'ratePlans',
  subject: 'RatePlan',
  table: 'rate_plan',
  path: '/api/tenants/:tenantId/rate-plans',
  param: 'ratePlanId',
  record: RatePlan,
  read: readRatePlan,
})
const planErrors = [
  'duplicate_code',
  'reference_not_found',
  'rate_plan_derived',
  'derivation_cycle',
  'derivation_too_deep',
  'invalid_transition',
] as const

const list = ratePlans.list({
  summary: 'List rate plans',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Lifecycle),
    visibility: Opt(optional.visibility),
    unitTypeId: Opt(Uuid),
    parentId: Opt(Uuid),
    q: Opt(Text(1, 120)),
  },
  of: RatePlanSummary,
  example: { q: 'flex' },
  find: ({ trx, filter }) => listRatePlans(trx, filter),
})

const create = ratePlans.create({
  summary: 'Create a standard or derived rate plan',
  description:
    'A plan with a `parentId` has no prices of its own: they are computed from those of the parent, over three steps at most.',
  errors: [...planErrors, 'not_found'],
  body: Obj({
    propertyId: Uuid,
    code: Code,
    ...needed,
    ...Sparse(Obj(optional)).properties,
    unitTypes: UnitTypesSent,
  }),
  example: {
    propertyId: sampleId('propertyId'),
    code: 'FLEX',
    name: { 'pt-BR': 'Flexível', en: 'Flexible' },
    cancellationPolicyId: sampleId('cancellationPolicyId'),
    noShowPolicyId: sampleId('noShowPolicyId'),
    unitTypes: [{ unitTypeId: sampleId('unitTypeId'), standardAmount: 25_000 }],
  },
  command: ({ trx, body }) => createRatePlan(trx, body),
})

const read = ratePlans.read({ summary: 'Read a rate plan with its unit types' })

const change = ratePlans.change({
  summary: 'Change terms, unit types or derivation of a rate plan',
  description:
    'Unit types are replaced as a set. `parentId: null` makes a plan standard: the prices that it had by derivation become its own. A plan that begins to derive gives its own prices up.',
  errors: planErrors,
  body: Sparse(Obj({ code: Code, ...needed, ...optional, unitTypes: UnitTypesSent })),
  example: { minNights: 2, losDiscounts: [{ minNights: 7, rate: 500 }] },
  command: ({ trx, id, body }) => changeRatePlan(trx, id, body),
})

const archive = ratePlans.act('archive', {
  summary: 'Stop selling a rate plan',
  action: 'delete',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id }) => archiveRatePlan(trx, id),
})

const restore = ratePlans.act('restore', {
  summary: 'Sell an archived rate plan again',
  action: 'update',
  errors: ['reference_not_found', 'invalid_transition'],
  command: ({ trx, id }) => restoreRatePlan(trx, id),
})

export const routes = [list, create, read, change, archive, restore]
