import { Bool, Count, Instant, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../../config/schema.ts'
import { explainFeature, listGrantHistory } from '../../../db/admin/index.ts'
import { superuser } from '../../lib/access/kinds.ts'
import { paged } from '../../lib/paged.ts'
import { route } from '../../lib/route.ts'
import { Price } from './add-ons.ts'
import { Plan, FeatureKey } from './schemas.ts'
import { endpointsOf } from './features.ts'

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

export const history = paged({
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

export const explain = route({
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
      addOns: List(Obj({ addOnId: Uuid, key: Text(1, 40), onSale: Bool, price: Nullable(Price) }), { max: 100 }),
      gates: Obj({ subjects: List(Text(1, 60), { max: 200 }), endpoints: List(Text(1, 200), { max: 1_000 }) }),
    },
    { title: 'FeatureExplanation' },
  ),
  handle: async ({ trx, params }) => {
    const { subjects, ...explained } = await explainFeature(trx, params.id, params.key)
    return { ...explained, gates: { subjects, endpoints: endpointsOf(params.key) } } as never
  },
})
