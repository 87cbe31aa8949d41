import { plans } from '../../config/plans.ts'
import { features } from '../../config/features.ts'
import { meters } from '../../config/meters.ts'
import {
  Amount,
  Anything,
  Bool,
  Count,
  Instant,
  Int,
  List,
  LocalName,
  LocalText,
  MapOf,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  changeAddOn,
  createAddOn,
  createPlanVersion,
  explainFeature,
  listAddOns,
  listGrantHistory,
  listPlans,
  subjectsOfFeature,
} from '../../db/admin/index.ts'
import { superuser } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import type { AnyRoute } from '../lib/route.ts'
import { route } from '../lib/route.ts'
import { BillingType, Tiers, UnitPrice } from './billing-schemas.ts'

const Plan = OneOf([...plans])
const FeatureKey = Matching('^[a-z][a-z_]{1,39}$', 40)
const Meter = OneOf([...meters])
const currencies = { max: 20, pattern: '^[A-Z]{3}$' }

const PlanFeature = Obj({
  key: FeatureKey,
  billingType: OneOf(['FREE', 'METERED', 'TIERED']),
  /** Tiers by meter and currency. */
  meters: Opt(MapOf(MapOf(Tiers, currencies), { max: 10, pattern: '^[a-z]+[.][a-z]+$' })),
})
const PlanVersions = Obj(
  {
    plan: Plan,
    versions: List(
      Obj({
        id: Uuid,
        number: Count,
        features: List(PlanFeature, { max: 50 }),
        prices: MapOf(Amount, currencies),
        platformFeeRate: Int(0, 1_000),
        effectiveFrom: Instant,
        note: Text(0, 500),
      }),
      { max: 100 },
    ),
  },
  { title: 'PlanVersions' },
)

const planList = paged({
  id: 'superuser.plans.list',
  path: '/superuser/plans',
  summary: 'List plans with versions, features and prices',
  access: superuser('N2', 'read', 'Plan'),
  of: PlanVersions,
  find: ({ trx, query }) => listPlans(trx, query),
})

const planVersion = route({
  id: 'superuser.plans.createVersion',
  method: 'POST',
  path: '/superuser/plans/:plan/versions',
  summary: 'Add a version of a plan, for new or all tenants',
  description:
    'Versions do not change. With `applyToExisting` tenants of the plan follow from `effectiveFrom` on, by a job; without it they keep theirs. Features in use that they would lose are refused, unless `acceptLoss` is sent.',
  status: 201,
  access: superuser('N1', 'create', 'Plan'),
  errors: ['unknown_feature', 'plan_without_price', 'feature_in_use'],
  params: Obj({ plan: Plan }),
  body: Obj({
    features: List(PlanFeature, { min: 1, max: 50 }),
    prices: MapOf(Amount, currencies),
    platformFeeRate: Opt(Int(0, 1_000)),
    effectiveFrom: Opt(Instant),
    note: Words(1, 500),
    applyToExisting: Opt(Bool),
    acceptLoss: Opt(Bool),
  }),
  example: {
    features: [
      { key: 'core', billingType: 'FREE' },
      { key: 'portal', billingType: 'FREE' },
    ],
    prices: { BRL: 12_900, USD: 2_500 },
    platformFeeRate: 150,
    note: 'Prices of the new year',
  },
  returns: PlanVersions,
  handle: ({ trx, params, body }) => createPlanVersion(trx, params.plan, body),
})

/** The routes are known once all modules are loaded. */
let known: readonly AnyRoute[] = []
export const tellRoutes = (routes: readonly AnyRoute[]): void => {
  known = routes
}
const endpointsOf = (key: string): string[] => {
  const gated = new Set(subjectsOfFeature(key))
  return known
    .filter(({ access }) =>
      access.kind === 'tenant'
        ? gated.has(access.subject)
        : (access.kind === 'property' || access.kind === 'guest') && access.feature === key,
    )
    .map(({ method, path }) => `${method} ${path}`)
    .toSorted()
}

const Feature = Obj(
  {
    key: FeatureKey,
    name: Text(1, 80),
    description: Text(0, 500),
    subjects: List(Text(1, 60), { max: 200 }),
    endpoints: List(Text(1, 200), { max: 1_000 }),
    plans: List(Plan, { max: 10 }),
  },
  { title: 'Feature' },
)

const featureList = paged({
  id: 'superuser.features.list',
  path: '/superuser/features',
  summary: 'List features with entities, endpoints and plans they open',
  access: superuser('N2', 'read', 'Feature'),
  of: Feature,
  find: async ({ trx, query: { page, limit } }) => {
    const { rows: all } = await listPlans(trx, { page: 1, limit: 10 })
    const rows = Object.entries(features).map(([key, { name, description }]) => ({
      key,
      name,
      description,
      subjects: subjectsOfFeature(key),
      endpoints: endpointsOf(key),
      plans: all
        .filter(({ versions }) => versions[0]?.features.some((feature) => feature.key === key))
        .map(({ plan }) => plan),
    }))
    return { total: rows.length, rows: rows.slice((page - 1) * limit, page * limit) }
  },
})

const Price = Obj({ amount: Opt(Amount), unitPrice: Opt(UnitPrice), tiers: Opt(Tiers) })
const AddOn = Obj(
  {
    id: Uuid,
    key: Text(1, 40),
    name: LocalText,
    description: LocalText,
    feature: FeatureKey,
    billingType: BillingType,
    meter: Nullable(Text(1, 40)),
    /** Plans that may buy it; all where it is empty. */
    plans: List(Plan, { max: 10 }),
    onSale: Bool,
    holders: Count,
    /** Newest first. */
    prices: List(
      Obj({
        priceId: Uuid,
        number: Count,
        effectiveFrom: Instant,
        applyToHolders: Bool,
        prices: MapOf(Price, currencies),
      }),
      { max: 100 },
    ),
    version: Count,
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'AddOn' },
)

const addOnList = paged({
  id: 'superuser.addOns.list',
  path: '/superuser/add-ons',
  summary: 'List add-ons with price versions and holders',
  access: superuser('N2', 'read', 'AddOn'),
  of: AddOn,
  find: ({ trx, query }) => listAddOns(trx, query),
})

const NewPrice = Obj({
  /** By currency: `amount` of FLAT_MONTHLY, `unitPrice` of METERED, `tiers` of TIERED, nothing of FREE. */
  prices: MapOf(Price, currencies),
  effectiveFrom: Opt(Instant),
  applyToHolders: Opt(Bool),
})

const addOnCreate = route({
  id: 'superuser.addOns.create',
  method: 'POST',
  path: '/superuser/add-ons',
  summary: 'Create an add-on for the store',
  status: 201,
  access: superuser('N1', 'create', 'AddOn'),
  errors: ['duplicate_key', 'unknown_feature', 'plan_without_price'],
  body: Obj({
    key: Matching('^[a-z][a-z0-9-]{1,39}$', 40),
    name: LocalName,
    description: LocalText,
    feature: FeatureKey,
    billingType: BillingType,
    meter: Opt(Nullable(Meter)),
    plans: Opt(List(Plan, { max: 3 }, { uniqueItems: true })),
    onSale: Bool,
    price: NewPrice,
  }),
  example: {
    key: 'pos-light',
    name: { en: 'Point of sale, light' },
    description: { en: 'For small bars' },
    feature: 'pos',
    billingType: 'FLAT_MONTHLY',
    onSale: true,
    price: { prices: { BRL: { amount: 4_900 } } },
  },
  returns: AddOn,
  handle: ({ trx, body }) => createAddOn(trx, body),
})

const addOnChange = route({
  id: 'superuser.addOns.update',
  method: 'PATCH',
  path: '/superuser/add-ons/:addOnId',
  summary: 'Change texts, sale or price of an add-on',
  description:
    'A new price is for later purchases. With `applyToHolders`, 30 days ahead at least, it is also for holders, from their first period that begins after it; they are told at once.',
  access: superuser('N1', 'update', 'AddOn'),
  errors: ['plan_without_price', 'version_conflict'],
  body: Obj({
    name: Opt(LocalName),
    description: Opt(LocalText),
    plans: Opt(List(Plan, { max: 3 }, { uniqueItems: true })),
    onSale: Opt(Bool),
    price: Opt(NewPrice),
  }),
  example: { onSale: true },
  returns: AddOn,
  handle: ({ trx, params, body, expectedVersion }) => changeAddOn(trx, params.addOnId, body, expectedVersion),
})

const Grant = {
  id: Uuid,
  key: FeatureKey,
  name: Text(1, 80),
  source: OneOf(['PLAN_DEFAULT', 'STORE_PURCHASE', 'N1_GRANT']),
  reason: Nullable(Text(0, 500)),
  grantedBy: Nullable(Uuid),
  startsAt: Instant,
  expiresAt: Nullable(Instant),
  addOnId: Nullable(Uuid),
  planVersion: Nullable(Count),
  endedAt: Nullable(Instant),
  endedBy: Nullable(Uuid),
  endCause: Nullable(OneOf(['plan_change', 'plan_version', 'cancelled', 'revoked', 'expired', 'replaced'])),
  endReason: Nullable(Text(0, 500)),
  active: Bool,
}
const PastGrant = Obj(Grant, { title: 'EntitlementGrant' })

const history = paged({
  id: 'entitlements.history',
  path: '/superuser/tenants/:id/entitlements/history',
  summary: 'List grants and ends with who, when and why',
  access: superuser('N1', 'read', 'Entitlement'),
  query: { key: Opt(FeatureKey) },
  of: PastGrant,
  find: async ({ trx, params, query }) => {
    const { total, rows } = await listGrantHistory(trx, params.id, query)
    return { total, rows: rows as (Omit<(typeof rows)[number], 'endCause'> & { endCause: null })[] }
  },
})

const explain = route({
  id: 'entitlements.explain',
  method: 'GET',
  path: '/superuser/tenants/:id/entitlements/:key/explain',
  summary: 'Explain why a feature is active or not',
  access: superuser('N1', 'read', 'Entitlement'),
  params: Obj({ id: Uuid, key: FeatureKey }),
  returns: Obj(
    {
      key: FeatureKey,
      active: Bool,
      because: List(PastGrant, { max: 10 }),
      /** The last 20. */
      ended: List(PastGrant, { max: 20 }),
      plan: Nullable(Obj({ plan: Plan, version: Count, includes: Bool })),
      addOns: List(Obj({ addOnId: Uuid, key: Text(1, 40), onSale: Bool, price: Anything }), { max: 100 }),
      gates: Obj({ subjects: List(Text(1, 60), { max: 200 }), endpoints: List(Text(1, 200), { max: 1_000 }) }),
    },
    { title: 'FeatureExplanation' },
  ),
  handle: async ({ trx, params }) => {
    const { subjects, ...explained } = await explainFeature(trx, params.id, params.key)
    return { ...explained, gates: { subjects, endpoints: endpointsOf(params.key) } } as never
  },
})

export const routes = [planList, planVersion, featureList, addOnList, addOnCreate, addOnChange, history, explain]
