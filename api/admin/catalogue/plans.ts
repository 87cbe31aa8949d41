import {
  Amount,
  Bool,
  Count,
  Instant,
  Int,
  List,
  MapOf,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../../config/schema.ts'
import { createPlanVersion, listPlans } from '../../../db/admin/index.ts'
import { superuser } from '../../lib/access/kinds.ts'
import { paged } from '../../lib/paged.ts'
import { route } from '../../lib/route.ts'
import { Tiers } from '../billing-schemas.ts'
import { Plan, FeatureKey, currencies } from './schemas.ts'

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

export const planList = paged({
  id: 'superuser.plans.list',
  path: '/superuser/plans',
  summary: 'List plans with versions, features and prices',
  access: superuser('N2', 'read', 'Plan'),
  of: PlanVersions,
  find: ({ trx, query }) => listPlans(trx, query),
})

export const planVersion = route({
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
