import { Instant, List, Matching, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { grantEntitlement, listEntitlements, revokeEntitlement } from '../../db/admin/index.ts'
import { superuser } from '../lib/access/kinds.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Reason, trimmed } from '../lib/reason.ts'

const Key = Matching('^[a-z][a-z_]{1,39}$', 40)
const Source = OneOf(['PLAN_DEFAULT', 'STORE_PURCHASE', 'N1_GRANT'])

const Entitlement = Obj(
  {
    key: Key,
    name: Text(1, 80),
    source: Source,
    reason: Nullable(Text(3, 500)),
    grantedBy: Nullable(Uuid),
    startsAt: Instant,
    expiresAt: Nullable(Instant),
    addOnId: Nullable(Uuid),
    billingType: OneOf(['FREE', 'FLAT_MONTHLY', 'METERED', 'TIERED']),
  },
  { title: 'Entitlement' },
)

const list = paged({
  id: 'entitlements.list',
  path: '/superuser/tenants/:id/entitlements',
  summary: 'List active features of a tenant with their source',
  access: superuser('N1', 'read', 'Entitlement'),
  query: { key: Opt(Key), source: Opt(Source) },
  of: Entitlement,
  find: ({ trx, params, query }) => listEntitlements(trx, params.id, query),
})

const grant = route({
  id: 'entitlements.grant',
  method: 'POST',
  path: '/superuser/tenants/:id/entitlements',
  summary: 'Grant a feature, with reason',
  access: superuser('N1', 'grant', 'Entitlement'),
  status: 201,
  errors: ['unknown_feature', 'reauthentication_required'],
  body: Obj({ key: Key, reason: Reason, expiresAt: Opt(Nullable(Instant)) }),
  example: { key: 'pos', reason: 'A trial for the season' },
  returns: Entitlement,
  handle: ({ trx, params, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return grantEntitlement(trx, {
      tenantId: params.id,
      key: body.key,
      reason: trimmed(body.reason),
      expiresAt: body.expiresAt ? new Date(body.expiresAt) : null,
    })
  },
})

const revoke = route({
  id: 'entitlements.revoke',
  method: 'DELETE',
  path: '/superuser/tenants/:id/entitlements/:key',
  summary: 'Revoke a feature whatever its source, with reason',
  description: 'The reason stands in the body, or as `reason` in the query where a client drops such bodies.',
  access: superuser('N1', 'revoke', 'Entitlement'),
  errors: ['feature_not_active', 'reauthentication_required'],
  params: Obj({ id: Uuid, key: Key }),
  query: Obj({ reason: Opt(Reason) }),
  body: Obj({ reason: Opt(Reason) }),
  example: { reason: 'The trial is over' },
  returns: Obj({ ended: List(Entitlement, { max: 3 }) }),
  handle: async ({ trx, params, query, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return {
      ended: await revokeEntitlement(trx, {
        tenantId: params.id,
        key: params.key,
        reason: trimmed(body.reason ?? query.reason),
      }),
    }
  },
})

export const routes = [list, grant, revoke]
