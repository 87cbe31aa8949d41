import { Actor, Amount, Currency, Instant, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { listRefunds, readRefundRecord } from '../../db/payment/index.ts'
import { can } from '../lib/access/kinds.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { waitable } from '../lib/waitable.ts'
import { stamps } from '../properties/schemas.ts'
import { Failure, Reference, RefundStatus, refundStatuses } from './schemas.ts'

export const refundReasons = [
  'guest_request',
  'cancellation',
  'duplicate',
  'error',
  'compensation',
  'late_payment',
  'dispute',
  'other',
] as const

export const Refund = Obj(
  {
    id: Uuid,
    paymentId: Uuid,
    gatewayAccountId: Nullable(Uuid),
    /** Of money that was handed back. */
    cashAccountId: Nullable(Uuid),
    cashSessionId: Nullable(Uuid),
    propertyId: Uuid,
    amount: Amount,
    currency: Currency,
    reason: OneOf([...refundReasons]),
    note: Nullable(Text(0, 500)),
    via: OneOf(['gateway', 'pix_return', 'manual']),
    status: RefundStatus,
    failure: Nullable(Failure),
    requestedBy: Actor,
    externalId: Nullable(Reference),
    succeededAt: Nullable(Instant),
    ...stamps,
  },
  { title: 'Refund' },
)

const refunds = resource({
  name: 'refunds',
  subject: 'Refund',
  table: 'refund',
  path: '/api/tenants/:tenantId/payments/refunds',
  param: 'refundId',
  record: Refund,
  read: readRefundRecord,
})

const list = refunds.list({
  summary: 'List refunds',
  query: { status: Opt(RefundStatus), paymentId: Opt(Uuid), from: Opt(Instant), to: Opt(Instant) },
  example: { status: 'failed' },
  find: ({ trx, filter }) => listRefunds(trx, filter),
})

const read = waitable({
  id: 'refunds.read',
  path: refunds.one,
  summary: 'Read or wait for a refund',
  access: can('read', 'Refund'),
  since: refundStatuses,
  returns: Refund,
  read: async ({ trx, params }) => (await readRefundRecord(trx, params.refundId)).status,
  find: async ({ trx, params, admission }) => {
    const refund = await readRefundRecord(trx, params.refundId)
    admission.check('read', 'Refund', asJudged('refund', refund.id, refund))
    return refund
  },
})

export const routes = [list, read]
