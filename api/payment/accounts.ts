import {
  Bool,
  Country,
  Currency,
  Instant,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  changeAccount,
  disconnectAccount,
  listAccounts,
  openGatewayAccount,
  readAccount,
  requestOnboarding,
} from '../../db/payment/index.ts'
import type { Condition } from '../../db/lib/conditions.ts'
import { requireOwn, requireRecent } from '../lib/access/admission.ts'
import { can } from '../lib/access/kinds.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { stamps } from '../properties/schemas.ts'
import { Failure, Provider, Reference, Url } from './schemas.ts'

const statuses = ['opening', 'onboarding', 'active', 'restricted', 'disconnected', 'failed'] as const
const Status = OneOf([...statuses])

/** Receptionists see label and status alone. */
const GatewayAccount = Obj(
  {
    id: Uuid,
    label: Text(1, 60),
    status: Status,
    provider: Opt(Provider),
    bookId: Opt(Uuid),
    country: Opt(Country),
    currency: Opt(Currency),
    propertyIds: Opt(List(Uuid, { max: 200 })),
    isDefault: Opt(Bool),
    externalId: Opt(Nullable(Reference)),
    capabilities: Opt(MapOf(OneOf(['inactive', 'pending', 'active']), { max: 10 })),
    chargesEnabled: Opt(Bool),
    payoutsEnabled: Opt(Bool),
    requirements: Opt(List(Obj({ code: Text(1, 200), dueAt: Nullable(Instant) }), { max: 200 })),
    onboarding: Opt(
      Obj({
        status: OneOf(['none', 'requested', 'ready', 'failed']),
        url: Nullable(Text(1, 2000)),
        expiresAt: Nullable(Instant),
      }),
    ),
    balance: Opt(Nullable(Obj({ available: SignedAmount, pending: SignedAmount, asOf: Instant }))),
    failure: Opt(Nullable(Failure)),
    version: Opt(stamps.version),
    createdAt: Opt(Instant),
    updatedAt: Opt(Instant),
  },
  { title: 'GatewayAccount' },
)

const accounts = resource({
  name: 'gatewayAccounts',
  subject: 'GatewayAccount',
  table: 'gateway_account',
  path: '/api/tenants/:tenantId/payments/accounts',
  param: 'gatewayAccountId',
  record: GatewayAccount,
  lockedBy: 'command',
  read: readAccount,
  show: (account, admission) => admission.visible('GatewayAccount', account),
})

const list = accounts.list({
  summary: 'List connected gateway accounts',
  query: { status: Opt(Status), provider: Opt(Provider), propertyId: Opt(Uuid) },
  example: { status: 'active' },
  find: ({ trx, filter }) => listAccounts(trx, filter as typeof filter & { scope: Condition }),
})

const create = route({
  id: 'gatewayAccounts.create',
  method: 'POST',
  path: '/api/tenants/:tenantId/payments/accounts',
  access: can('create', 'GatewayAccount'),
  status: 201,
  returns: GatewayAccount,
  summary: 'Open a connected account at a gateway',
  description:
    'For owner and admin, who have proven their identity within ten minutes. A worker opens it: wait for the status. `testToken` is for the sandbox: active, restricted or refused.',
  errors: [
    'reauthentication_required',
    'key_not_allowed',
    'provider_not_configured',
    'currency_mismatch',
    'reference_not_found',
  ],
  body: Obj({
    provider: Provider,
    label: Words(1, 60),
    bookId: Opt(Uuid),
    country: Country,
    currency: Currency,
    propertyIds: Opt(List(Uuid, { max: 200 }, { uniqueItems: true })),
    testToken: Opt(Text(1, 60)),
  }),
  example: { provider: 'sandbox', label: 'Front desk', country: 'BR', currency: 'BRL' },
  handle: async ({ trx, body, caller, request }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    return readAccount(trx, await openGatewayAccount(trx, body))
  },
})

const read = waitable({
  id: 'gatewayAccounts.read',
  path: accounts.one,
  summary: 'Read an account with capabilities, requirements and balance',
  access: can('read', 'GatewayAccount'),
  since: statuses,
  returns: GatewayAccount,
  read: async ({ trx, params }) => (await readAccount(trx, params.gatewayAccountId)).status,
  find: async ({ trx, params, admission }) => {
    const account = await readAccount(trx, params.gatewayAccountId)
    admission.check('read', 'GatewayAccount', asJudged('gateway_account', account.id, account))
    return admission.visible('GatewayAccount', account)
  },
})

const change = accounts.change({
  summary: 'Change label, properties or default of an account',
  errors: ['reference_not_found', 'invalid_transition'],
  body: Obj({
    label: Opt(Words(1, 60)),
    propertyIds: Opt(List(Uuid, { max: 200 }, { uniqueItems: true })),
    isDefault: Opt(Bool),
  }),
  example: { label: 'Front desk and portal' },
  command: ({ trx, id, body, expectedVersion }) => changeAccount(trx, id, body, expectedVersion),
})

const onboard = accounts.act('onboarding-link', {
  summary: 'Request a fresh onboarding link',
  description: 'The page appears in `onboarding` within seconds, and lives as long as the gateway says.',
  action: 'update',
  errors: ['invalid_transition', 'return_url_not_allowed'],
  body: Obj({ returnUrl: Url }),
  example: { returnUrl: 'https://portal.example/back' },
  command: ({ trx, id, body, expectedVersion }) => requestOnboarding(trx, id, body.returnUrl, expectedVersion),
})

const disconnect = accounts.act('disconnect', {
  summary: 'End an account that has no money in flight',
  action: 'delete',
  errors: ['reauthentication_required', 'key_not_allowed', 'account_has_live_money', 'invalid_transition'],
  command: ({ trx, id, caller, request, expectedVersion }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    return disconnectAccount(trx, id, expectedVersion)
  },
})

export const routes = [list, create, read, change, onboard, disconnect]
