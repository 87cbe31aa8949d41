import {
  Bool,
  Count,
  Day,
  Instant,
  Int,
  List,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  addAdjustment,
  listInvoices,
  listRuns,
  readInvoice,
  recordInvoicePayment,
  startRun,
  voidInvoice,
} from '../../db/admin/index.ts'
import { invalid } from '../../config/errors.ts'
import { superuser } from '../lib/access/kinds.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { paged } from '../lib/paged.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { route } from '../lib/route.ts'
import { Invoice, InvoiceSummary } from './billing-schemas.ts'

const list = paged({
  id: 'superuser.invoices.list',
  path: '/superuser/invoices',
  summary: 'List subscription invoices of all tenants',
  access: superuser('N2', 'read', 'SubscriptionInvoice'),
  query: {
    tenantId: Opt(Uuid),
    status: Opt(OneOf(['issued', 'paid', 'void'])),
    overdue: Opt(Bool),
    from: Opt(Day),
    to: Opt(Day),
  },
  of: InvoiceSummary,
  find: ({ trx, query }) => listInvoices(trx, query),
})

const read = route({
  id: 'superuser.invoices.read',
  method: 'GET',
  path: '/superuser/invoices/:invoiceId',
  summary: 'Read an invoice with lines and collection attempts',
  access: superuser('N2', 'read', 'SubscriptionInvoice'),
  returns: Invoice,
  handle: ({ trx, params }) => readInvoice(trx, params.invoiceId),
})

const voided = route({
  id: 'superuser.invoices.void',
  method: 'POST',
  path: '/superuser/invoices/:invoiceId/void',
  summary: 'Void an unpaid invoice, billing it again if asked',
  description: 'With `rebill` its lines come on the next invoice.',
  access: superuser('N1', 'void', 'SubscriptionInvoice'),
  errors: ['invalid_transition', 'payment_in_flight', 'reauthentication_required'],
  body: Obj({ reason: Reason, rebill: Opt(Bool) }),
  example: { reason: 'The address was wrong', rebill: true },
  returns: Invoice,
  handle: ({ trx, params, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return voidInvoice(trx, params.invoiceId, { reason: trimmed(body.reason), rebill: body.rebill ?? false })
  },
})

const paid = route({
  id: 'superuser.invoices.recordPayment',
  method: 'POST',
  path: '/superuser/invoices/:invoiceId/record-payment',
  summary: 'Record that an invoice was paid outside the gateway',
  access: superuser('N1', 'record', 'SubscriptionInvoice'),
  errors: ['invalid_transition', 'reauthentication_required'],
  body: Obj({ paidOn: Day, reference: Words(1, 100), note: Opt(Words(1, 500)) }),
  example: { paidOn: '2026-11-20', reference: 'TED 4711' },
  returns: Invoice,
  handle: ({ trx, params, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return recordInvoicePayment(trx, params.invoiceId, body)
  },
})

const adjust = route({
  id: 'superuser.adjustments.create',
  method: 'POST',
  path: '/superuser/tenants/:id/adjustments',
  summary: 'Add a credit or charge to the next invoice',
  description: 'A credit is negative.',
  status: 201,
  access: superuser('N1', 'create', 'BillingAdjustment'),
  errors: ['reauthentication_required'],
  body: Obj({ amount: Int(-1_000_000_000, 1_000_000_000), description: Words(1, 200), reason: Reason }),
  example: { amount: -5_000, description: 'Courtesy', reason: 'The outage of Monday' },
  returns: Obj(
    {
      id: Uuid,
      tenantId: Uuid,
      amount: SignedAmount,
      description: Text(1, 200),
      reason: Text(3, 500),
      createdAt: Instant,
    },
    { title: 'BillingAdjustment' },
  ),
  handle: ({ trx, params, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    if (body.amount === 0) throw invalid([{ field: 'amount', message: 'must not be 0' }])
    return addAdjustment(trx, params.id, { ...body, reason: trimmed(body.reason) })
  },
})

const BillingRun = Obj(
  {
    id: Uuid,
    date: Day,
    status: OneOf(['running', 'done', 'parked']),
    /** Tenants whose period was over. */
    tenants: Count,
    issued: Count,
    parked: List(Obj({ tenantId: Uuid, code: Text(1, 60), message: Text(1, 500) }), { max: 100_000 }),
    createdAt: Instant,
  },
  { title: 'BillingRun' },
)

const runs = paged({
  id: 'superuser.billingRuns.list',
  path: '/superuser/billing-runs',
  summary: 'List billing runs with parked tenants',
  access: superuser('N2', 'read', 'BillingRun'),
  of: BillingRun,
  find: ({ trx, query }) => listRuns(trx, query),
})

const run = route({
  id: 'superuser.billingRuns.create',
  method: 'POST',
  path: '/superuser/billing-runs',
  summary: 'Run billing for a date, or retry what is parked',
  description:
    'Today unless said. A date ahead, outside production and for named tenants, closes now what would be due then. `force` names tenants whose surprising amount was checked.',
  status: 201,
  access: superuser('N1', 'create', 'BillingRun'),
  errors: ['reauthentication_required'],
  body: Obj({
    date: Opt(Day),
    tenantIds: Opt(List(Uuid, { min: 1, max: 1_000 }, { uniqueItems: true })),
    force: Opt(List(Uuid, { max: 1_000 }, { uniqueItems: true })),
  }),
  example: { force: [] },
  returns: BillingRun,
  handle: ({ trx, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return startRun(trx, body)
  },
})

export const routes = [list, read, voided, paid, adjust, runs, run]
