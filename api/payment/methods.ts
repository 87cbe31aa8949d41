import { createHash } from 'node:crypto'
import { Instant, Int, Matching, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { sampleId } from '../../config/samples.ts'
import { forgetMethod, listMethods, readMethod, setUpMethod } from '../../db/payment/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { stamps } from '../properties/schemas.ts'
import { Action, CardToken, Failure, Url } from './schemas.ts'

const statuses = ['pending', 'active', 'expired', 'failed', 'detached'] as const
const Status = OneOf([...statuses])

const PaymentMethod = Obj(
  {
    id: Uuid,
    gatewayAccountId: Uuid,
    guestId: Nullable(Uuid),
    customerId: Nullable(Uuid),
    bookingId: Nullable(Uuid),
    status: Status,
    brand: Nullable(Text(1, 40)),
    last4: Nullable(Matching('^[0-9]{4}$', 4)),
    expMonth: Nullable(Int(1, 12)),
    expYear: Nullable(Int(2000, 2200)),
    consent: Obj({ at: Instant, textVersion: Text(1, 100) }),
    action: Nullable(Action),
    failure: Nullable(Failure),
    ...stamps,
  },
  { title: 'PaymentMethod' },
)

const methods = resource({
  name: 'paymentMethods',
  subject: 'PaymentMethod',
  table: 'payment_method',
  path: '/api/tenants/:tenantId/payments/methods',
  param: 'paymentMethodId',
  record: PaymentMethod,
  read: readMethod,
})

const list = methods.list({
  summary: 'List saved payment methods of a guest or customer',
  description: 'Either `guestId` or `customerId` is required.',
  query: { guestId: Opt(Uuid), customerId: Opt(Uuid), status: Opt(Status) },
  example: { guestId: sampleId('guestId') },
  find: ({ trx, filter }) => listMethods(trx, filter),
})

const create = route({
  id: 'paymentMethods.create',
  method: 'POST',
  path: '/api/tenants/:tenantId/payments/methods',
  access: can('create', 'PaymentMethod'),
  status: 201,
  returns: PaymentMethod,
  summary: 'Start saving a payment method at the gateway',
  description:
    'Cards alone, of exactly one guest or customer, with the version of the text that they have agreed to. Wait for the status; `action` says what the owner has still to do.',
  errors: [
    'gateway_account_not_ready',
    'method_unavailable',
    'reference_not_found',
    'guest_erased',
    'return_url_not_allowed',
    'not_found',
  ],
  body: Obj({
    gatewayAccountId: Opt(Uuid),
    guestId: Opt(Uuid),
    customerId: Opt(Uuid),
    consentTextVersion: Text(1, 100),
    cardToken: Opt(CardToken),
    returnUrl: Opt(Url),
  }),
  example: { guestId: sampleId('guestId'), consentTextVersion: '2026-11' },
  handle: async ({ trx, body, request }) =>
    readMethod(trx, await setUpMethod(trx, body, createHash('sha256').update(request.address).digest())),
})

const read = waitable({
  id: 'paymentMethods.read',
  path: methods.one,
  summary: 'Read or wait for a saved payment method',
  access: can('read', 'PaymentMethod'),
  since: statuses,
  returns: PaymentMethod,
  read: async ({ trx, params }) => (await readMethod(trx, params.paymentMethodId)).status,
  find: ({ trx, params }) => readMethod(trx, params.paymentMethodId),
})

const remove = methods.remove({
  summary: 'Forget a saved payment method',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => forgetMethod(trx, id),
})

export const routes = [list, create, read, remove]
