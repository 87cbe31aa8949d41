import { forbidden } from '../../config/errors.ts'
import {
  Country,
  Currency,
  Email,
  Instant,
  Int,
  List,
  Language,
  LocaleTag,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PostalAddress,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { changeTenant, readTenant, TenantSettings, TenantSettingsChange } from '../../db/admin/index.ts'
import { endForbiddenSupport } from '../../db/auth/index.ts'
import { onCommit } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { buryOf } from '../lib/session-cache.ts'

/** Most roles see name and features alone. */
const Tenant = Obj(
  {
    id: Uuid,
    name: Text(1, 120),
    legalName: Opt(Nullable(Text(0, 120))),
    document: Opt(Nullable(Text(0, 40, { cardNumber: 'document' }))),
    billingEmail: Opt(Email),
    billingAddress: Opt(Nullable(PostalAddress)),
    country: Opt(Country),
    currency: Opt(Currency),
    timeZone: Opt(Text(1, 64)),
    locale: Opt(LocaleTag),
    status: Opt(OneOf(['active', 'suspended', 'deleting', 'deleted'])),
    plan: Opt(OneOf(['Starter', 'Professional', 'Enterprise'])),
    features: List(Text(1, 40), { max: 50 }),
    entitlementsVersion: Opt(Int(0, 1_000_000_000)),
    settings: Opt(TenantSettings),
    version: Opt(Int(1, 1_000_000_000)),
    createdAt: Opt(Instant),
    updatedAt: Opt(Instant),
  },
  { title: 'Tenant' },
)

const read = route({
  id: 'tenant.read',
  method: 'GET',
  path: '/api/tenants/:tenantId',
  summary: 'Read own tenant, plan, features and settings',
  access: can('read', 'Tenant', { whileSuspended: true }),
  returns: Tenant,
  handle: async ({ trx, admission }) => admission.visible('Tenant', await readTenant(trx)),
})

const change = route({
  id: 'tenant.update',
  method: 'PATCH',
  path: '/api/tenants/:tenantId',
  summary: 'Change own name, billing contact or settings',
  description: 'It is for users and keys that are not limited to chosen properties.',
  access: can('update', 'Tenant'),
  record: { table: 'tenant', param: 'tenantId' },
  body: Obj({
    name: Opt(Words(1, 120)),
    legalName: Opt(Nullable(Words(1, 120))),
    document: Opt(Nullable(Words(1, 40, { cardNumber: 'document' }))),
    billingEmail: Opt(Email),
    billingAddress: Opt(Nullable(PostalAddress)),
    locale: Opt(Language),
    settings: Opt(TenantSettingsChange),
  }),
  example: { name: 'Pousada do Sol', billingEmail: 'contas@sol.example', locale: 'pt-BR' },
  returns: Tenant,
  handle: async ({ trx, body, admission }) => {
    // It concerns every house: who is billed, under which name.
    if (admission.propertyIds !== null)
      throw forbidden('forbidden', 'Insufficient permissions: this concerns properties that are not yours')
    const changed = await changeTenant(trx, body)
    if (body.settings?.support) {
      const ended = await endForbiddenSupport(trx)
      onCommit(trx, () => void buryOf(ended))
    }
    return changed
  },
})

export const routes = [read, change]
