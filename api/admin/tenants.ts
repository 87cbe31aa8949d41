import {
  Amount,
  Bool,
  Count,
  Country,
  Currency,
  Day,
  Email,
  Instant,
  Int,
  Language,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PostalAddress,
  Text,
  TimeZone,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { plans } from '../../config/plans.ts'
import {
  changeOperatedTenant,
  changePlan,
  createTenant,
  listTenants,
  planDeletion,
  reactivateTenant,
  readOperatedTenant,
  readTenantDetail,
  suspendTenant,
} from '../../db/admin/index.ts'
import { invite } from '../../db/auth/index.ts'
import { requireRecent, requireSession } from '../lib/access/admission.ts'
import { superuser } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { route } from '../lib/route.ts'
import { PaymentMethod } from './billing-schemas.ts'

const Plan = OneOf([...plans])
const Feature = Text(1, 40)

const fields = {
  id: Uuid,
  name: Text(1, 120),
  legalName: Nullable(Text(0, 120)),
  document: Nullable(Text(0, 40, { cardNumber: 'document' })),
  billingEmail: Text(3, 254),
  billingAddress: Nullable(PostalAddress),
  country: Country,
  currency: Currency,
  timeZone: Text(1, 64),
  locale: Text(2, 12),
  status: OneOf(['active', 'suspended', 'deleting', 'deleted']),
  reason: Nullable(Text(0, 500)),
  deleteAfter: Nullable(Day),
  plan: Plan,
  features: List(Feature, { max: 50 }),
  entitlementsVersion: Count,
  pastDueSince: Nullable(Instant),
  version: Int(1, 1_000_000_000),
  createdAt: Instant,
  updatedAt: Instant,
}
const Tenant = Obj(fields, { title: 'OperatedTenant' })
const Detail = Obj(
  {
    ...fields,
    counts: Obj({ properties: Count, units: Count, users: Count }),
    subscription: Nullable(
      Obj({
        planVersion: Count,
        periodStart: Day,
        periodEnd: Day,
        paymentMethod: Nullable(PaymentMethod),
      }),
    ),
    /** Of the present period. */
    usage: List(Obj({ meter: Text(1, 40), quantity: Count }), { max: 20 }),
    overdueTotal: Amount,
    openTotal: Amount,
    lastActivityAt: Nullable(Instant),
  },
  { title: 'OperatedTenantDetail' },
)
type Shown = Awaited<ReturnType<typeof readOperatedTenant>>
const shown = (tenant: Shown) => tenant as Shown & { billingAddress: null }

const path = '/superuser/tenants'
const one = `${path}/:id` as const

const list = paged({
  id: 'superuser.tenants.list',
  path,
  summary: 'List and search tenants',
  description: '`q` finds a part of a name, a document, an address for bills, or an id.',
  access: superuser('N2', 'read', 'Tenant'),
  query: {
    status: Opt(OneOf(['active', 'suspended', 'deleting', 'deleted'])),
    plan: Opt(Plan),
    feature: Opt(Feature),
    pastDue: Opt(Bool),
    q: Opt(Text(1, 120)),
  },
  of: Tenant,
  find: async ({ trx, query }) => {
    const { total, rows } = await listTenants(trx, query)
    return { total, rows: rows.map(shown) }
  },
})

const create = route({
  id: 'superuser.tenants.create',
  method: 'POST',
  path,
  summary: 'Create a tenant on a plan and invite its owner',
  description:
    'With the reply the tenant can be used: its features, default book and message templates are there. The owner gets a mail.',
  status: 201,
  access: superuser('N1', 'create', 'Tenant'),
  errors: ['plan_without_price'],
  body: Obj({
    name: Words(1, 120),
    legalName: Opt(Nullable(Words(1, 120))),
    document: Opt(Nullable(Words(1, 40, { cardNumber: 'document' }))),
    country: Country,
    currency: Currency,
    timeZone: TimeZone,
    locale: Language,
    billingEmail: Email,
    plan: Plan,
    owner: Obj({ email: Email, name: Words(1, 120) }),
  }),
  example: {
    name: 'Pousada das Ondas',
    country: 'BR',
    currency: 'BRL',
    timeZone: 'America/Sao_Paulo',
    locale: 'pt-BR',
    billingEmail: 'contas@ondas.example',
    plan: 'Professional',
    owner: { email: 'dona@ondas.example', name: 'Dona Maria' },
  },
  returns: Tenant,
  handle: async ({ trx, body: { owner, ...given }, caller }) => {
    requireSession(caller)
    const { tenantId, trx: inside } = await createTenant(trx, given)
    await invite(inside, { userId: caller.userId, role: 'owner', propertyIds: null }, { ...owner, role: 'owner' })
    return shown(await readOperatedTenant(trx, tenantId))
  },
})

const read = route({
  id: 'superuser.tenants.read',
  method: 'GET',
  path: one,
  summary: 'Read a tenant with plan, size, usage and debts',
  access: superuser('N2', 'read', 'Tenant'),
  returns: Detail,
  handle: async ({ trx, params }) => {
    const tenant = await readTenantDetail(trx, params.id)
    return { ...tenant, billingAddress: tenant.billingAddress as null }
  },
})

const change = route({
  id: 'superuser.tenants.update',
  method: 'PATCH',
  path: one,
  summary: 'Change names, document, contacts, language or time zone',
  description: 'The currency stays once something was billed in it.',
  access: superuser('N2', 'update', 'Tenant'),
  errors: ['locked_field', 'plan_without_price', 'invalid_transition', 'version_conflict'],
  body: Obj({
    name: Opt(Words(1, 120)),
    legalName: Opt(Nullable(Words(1, 120))),
    document: Opt(Nullable(Words(1, 40, { cardNumber: 'document' }))),
    billingEmail: Opt(Email),
    billingAddress: Opt(Nullable(PostalAddress)),
    country: Opt(Country),
    currency: Opt(Currency),
    timeZone: Opt(TimeZone),
    locale: Opt(Language),
  }),
  example: { name: 'Pousada das Ondas', locale: 'pt-BR' },
  returns: Tenant,
  handle: async ({ trx, params, body, expectedVersion }) =>
    shown(await changeOperatedTenant(trx, params.id, body, expectedVersion)),
})

const suspend = route({
  id: 'superuser.tenants.suspend',
  method: 'POST',
  path: `${one}/suspend`,
  summary: 'Stop the use of a tenant, with reason',
  description:
    'Its people can still sign in, read the tenant, and read and pay bills. Its houses sell nothing. Money that moves already ends.',
  access: superuser('N1', 'suspend', 'Tenant'),
  errors: ['invalid_transition', 'version_conflict'],
  body: Obj({ reason: Reason }),
  example: { reason: 'Unpaid for three months' },
  returns: Tenant,
  handle: async ({ trx, params, body, expectedVersion }) =>
    shown(await suspendTenant(trx, params.id, trimmed(body.reason), expectedVersion)),
})

const reactivate = route({
  id: 'superuser.tenants.reactivate',
  method: 'POST',
  path: `${one}/reactivate`,
  summary: 'End a suspension or a planned deletion',
  access: superuser('N1', 'suspend', 'Tenant'),
  errors: ['invalid_transition', 'version_conflict'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The bills are paid' },
  returns: Tenant,
  handle: async ({ trx, params, body, expectedVersion }) =>
    shown(await reactivateTenant(trx, params.id, trimmed(body.reason), expectedVersion)),
})

const remove = route({
  id: 'superuser.tenants.delete',
  method: 'DELETE',
  path: one,
  summary: 'Plan the deletion of a tenant after its grace time',
  description:
    'Until the day it can be taken back by reactivate. Then all data go, and no backup makes them readable again. The reason stands in the body, or as `reason` in the query.',
  access: superuser('N1', 'delete', 'Tenant'),
  errors: [
    'invalid_transition',
    'name_not_confirmed',
    'tenant_has_live_money',
    'reauthentication_required',
    'version_conflict',
  ],
  query: Obj({ reason: Opt(Reason) }),
  body: Obj({ reason: Opt(Reason), confirmName: Words(1, 120), graceDays: Opt(Int(7, 90)) }),
  example: { reason: 'The contract has ended', confirmName: 'Pousada das Ondas', graceDays: 30 },
  returns: Tenant,
  handle: async ({ trx, params, query, body, caller, request, expectedVersion }) => {
    requireRecent(caller, request.receivedAt)
    const { confirmName, graceDays } = body
    const asked = { reason: trimmed(body.reason ?? query.reason), confirmName, graceDays }
    return shown(await planDeletion(trx, params.id, asked, expectedVersion))
  },
})

const plan = route({
  id: 'superuser.tenants.changePlan',
  method: 'POST',
  path: `${one}/change-plan`,
  summary: 'Preview or make a change of plan',
  description:
    'At once: the default features are those of the new plan; what was bought or granted stays. `dryRun` answers the same and changes nothing. Features in use that would be lost are refused, unless `acceptLoss` is sent.',
  access: superuser('N1', 'update', 'Subscription'),
  errors: ['invalid_transition', 'plan_without_price', 'feature_in_use', 'version_conflict'],
  body: Obj({ plan: Plan, reason: Reason, dryRun: Opt(Bool), acceptLoss: Opt(Bool) }),
  example: { plan: 'Professional', reason: 'The house has grown', dryRun: true },
  returns: Obj(
    {
      plan: Plan,
      planVersion: Count,
      dryRun: Bool,
      gained: List(Feature, { max: 50 }),
      lost: List(Feature, { max: 50 }),
      /** Features of the old plan alone that stay, with what keeps them. */
      keptBy: MapOf(OneOf(['STORE_PURCHASE', 'N1_GRANT']), { max: 50 }),
      reactivated: List(Feature, { max: 50 }),
      /** Add-ons that go on being billed though the new plan includes their feature. */
      overlappingAddOns: List(Text(1, 40), { max: 100 }),
      inUse: List(Obj({ feature: Feature, what: Text(1, 60), count: Count }), { max: 50 }),
      nextTotal: Amount,
    },
    { title: 'PlanChange' },
  ),
  handle: ({ trx, params, body, expectedVersion }) =>
    changePlan(trx, params.id, { ...body, reason: trimmed(body.reason) }, expectedVersion),
})

export const routes = [list, create, read, change, suspend, reactivate, remove, plan]
