import { Anything, Count, Instant, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { searchOwnTrail, searchTrail } from '../../db/admin/index.ts'
import { can, superuser } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'

const Entry = Obj(
  {
    id: Uuid,
    tenantId: Nullable(Uuid),
    at: Instant,
    actorType: OneOf(['user', 'superuser', 'support', 'api_key', 'guest', 'system']),
    actorId: Nullable(Uuid),
    supportSessionId: Nullable(Uuid),
    action: Text(1, 120),
    subjectType: Text(0, 80),
    subjectId: Nullable(Text(0, 200)),
    reason: Nullable(Text(0, 1_000)),
    /** Of personal and secret fields the name alone. */
    changes: List(Obj({ field: Text(0, 200), before: Opt(Anything), after: Opt(Anything) }), { max: 1_000 }),
    requestId: Text(1, 200),
    jobId: Nullable(Uuid),
    address: Nullable(Text(1, 60)),
    /** Place in the chain, and its hash; null for some seconds, until the entry is linked. */
    seq: Nullable(Count),
    hash: Nullable(Text(64, 64)),
  },
  { title: 'AuditEntry' },
)

const filters = {
  actorId: Opt(Uuid),
  action: Opt(Text(1, 120)),
  subjectType: Opt(Text(1, 80)),
  subjectId: Opt(Text(1, 200)),
  requestId: Opt(Text(1, 200)),
  supportSessionId: Opt(Uuid),
  from: Opt(Instant),
  to: Opt(Instant),
}
const description =
  '`action` is a beginning, such as `entitlement`. A search spans 92 days at most, unless it names a subject, a request or a support session.'

const all = paged({
  id: 'superuser.auditLog.list',
  path: '/superuser/audit-log',
  summary: 'Search the audit trail of all tenants',
  description,
  access: superuser('N2', 'read', 'AuditEntry'),
  errors: ['range_too_long'],
  query: { tenantId: Opt(Uuid), ...filters },
  of: Entry,
  find: ({ trx, query }) => searchTrail(trx, query),
})

const own = paged({
  id: 'auditLog.list',
  path: '/api/tenants/:tenantId/audit-log',
  summary: 'Search the own audit trail',
  description: `${description} Operators of the service stand in it as \`support\`.`,
  access: can('read', 'AuditEntry', { whileSuspended: true }),
  errors: ['range_too_long'],
  query: filters,
  of: Entry,
  find: ({ trx, query, admission }) =>
    searchOwnTrail(trx, {
      ...query,
      scope: admission.scope('read', 'AuditEntry'),
      propertyIds: admission.propertyIds,
    }),
})

export const routes = [all, own]
