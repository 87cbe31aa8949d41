import { forbidden, invalid } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import { Https, Matching, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { isUuid } from '../../config/validator.ts'
import {
  cancelAddOn,
  listOwnInvoices,
  listStore,
  nextInvoice,
  purchaseAddOn,
  readInvoice,
  readSubscription,
  setPaymentMethod,
} from '../../db/admin/index.ts'
import { can } from '../lib/access/kinds.ts'
import { requireSession } from '../lib/access/admission.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Invoice, InvoiceSummary, StoreEntry, Subscription } from './billing-schemas.ts'

const path = '/api/tenants/:tenantId/billing'
/** A tenant that is suspended still sees and pays what it owes. */
const open = { whileSuspended: true } as const

/** Admits people of the whole tenant only, and no support session. A purchase concerns every property, and the contract. */
const requireBuyer = (caller: Caller, { propertyIds }: Admission) => {
  requireSession(caller)
  if (caller.sessionKind === 'support')
    throw forbidden('forbidden', 'Insufficient permissions: a support session buys nothing')
  if (propertyIds !== null)
    throw forbidden('forbidden', 'Insufficient permissions: this concerns properties that are not yours')
}

const subscription = route({
  id: 'billing.subscription',
  method: 'GET',
  path: `${path}/subscription`,
  summary: 'Read plan, add-ons, period, usage and payment method',
  access: can('read', 'Subscription', open),
  returns: Subscription,
  handle: ({ trx }) => readSubscription(trx),
})

const store = paged({
  id: 'billing.addOns',
  path: `${path}/add-ons`,
  summary: 'List add-ons on sale and owned',
  access: can('read', 'AddOn', open),
  of: StoreEntry,
  find: ({ trx, query }) => listStore(trx, query),
})

const purchase = route({
  id: 'billing.purchase',
  method: 'POST',
  path: `${path}/add-ons/:addOnId/purchase`,
  summary: 'Buy an add-on, active at once',
  description:
    '`priceId` is that of the list: it confirms the price that was shown. The add-on is on the next invoice.',
  access: can('purchase', 'AddOn', open),
  errors: ['price_changed', 'feature_already_active', 'add_on_not_available'],
  body: Obj({ priceId: Uuid }),
  example: { priceId: sampleId('priceId') },
  returns: StoreEntry,
  handle: ({ trx, params, body, caller, admission }) => {
    requireBuyer(caller, admission)
    return purchaseAddOn(trx, params.addOnId, body.priceId)
  },
})

const cancel = route({
  id: 'billing.cancel',
  method: 'POST',
  path: `${path}/add-ons/:addOnId/cancel`,
  summary: 'Cancel an add-on at once, without penalty',
  description: 'Its monthly price leaves the next invoice; what was used until now stays on it. Data are kept.',
  access: can('purchase', 'AddOn', open),
  returns: StoreEntry,
  handle: ({ trx, params, caller, admission }) => {
    requireBuyer(caller, admission)
    return cancelAddOn(trx, params.addOnId)
  },
})

const invoices = paged({
  id: 'billing.invoices',
  path: `${path}/invoices`,
  summary: 'List own invoices, the next one first',
  access: can('read', 'SubscriptionInvoice', open),
  of: InvoiceSummary,
  find: ({ trx, query }) => listOwnInvoices(trx, query),
})

const invoice = route({
  id: 'billing.invoice',
  method: 'GET',
  path: `${path}/invoices/:invoiceId`,
  summary: 'Read an own invoice, also the next one',
  access: can('read', 'SubscriptionInvoice', open),
  params: Obj({ tenantId: Uuid, invoiceId: Matching('^(next|[0-9a-f-]{36})$', 36) }),
  returns: Invoice,
  handle: ({ trx, params: { invoiceId } }) => {
    if (invoiceId === 'next') return nextInvoice(trx)
    if (!isUuid(invoiceId)) throw invalid([{ field: 'invoiceId', message: 'must be a UUID version 4, or next' }])
    return readInvoice(trx, invoiceId)
  },
})

const payment = route({
  id: 'billing.paymentMethod',
  method: 'PUT',
  path: `${path}/payment-method`,
  summary: 'Set how invoices are paid and collect open ones',
  description:
    'A card needs `cardToken`, of the form of the gateway. Without a payment provider for subscriptions there is `transfer` alone.',
  access: can('update', 'Subscription', open),
  errors: ['provider_not_configured', 'version_conflict'],
  body: Obj({
    kind: OneOf(['card', 'pix', 'boleto', 'transfer']),
    cardToken: Opt(Matching('^[A-Za-z0-9_-]{1,255}$', 255)),
    returnUrl: Opt(Https),
  }),
  example: { kind: 'transfer' },
  returns: Subscription,
  handle: async ({ trx, body, caller, admission, expectedVersion }) => {
    requireBuyer(caller, admission)
    await setPaymentMethod(trx, body, expectedVersion)
    return readSubscription(trx)
  },
})

export const routes = [subscription, store, purchase, cancel, invoices, invoice, payment]
