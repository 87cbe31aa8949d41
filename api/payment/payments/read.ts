import { Bool, Instant, OneOf, Opt, Uuid } from '../../../config/schema.ts'
import { listPayments, readingOf, readPaymentDetail, requestReading } from '../../../db/payment/index.ts'
import { can } from '../../lib/access/kinds.ts'
import { waitUntil } from '../../lib/long-poll.ts'
import { route } from '../../lib/route.ts'
import { waitable } from '../../lib/waitable.ts'
import { AnyMethod, paymentStatuses, PaymentStatus, Reference, TargetType } from '../schemas.ts'
import { PaymentSummary, Payment, shown, payments, judged } from './resource.ts'

export const list = payments.list({
  summary: 'List payments',
  description: '`q` is a reference, or the gateway’s id of the charge or link.',
  query: {
    status: Opt(PaymentStatus),
    origin: Opt(OneOf(['gateway', 'recorded'])),
    channel: Opt(OneOf(['desk', 'portal', 'link', 'automatic'])),
    method: Opt(AnyMethod),
    targetType: Opt(TargetType),
    targetId: Opt(Uuid),
    propertyId: Opt(Uuid),
    gatewayAccountId: Opt(Uuid),
    from: Opt(Instant),
    to: Opt(Instant),
    unallocated: Opt(Bool),
    late: Opt(Bool),
    q: Opt(Reference),
  },
  of: PaymentSummary,
  example: { status: 'captured', unallocated: true },
  find: ({ trx, filter }) => listPayments(trx, filter),
})

export const read = waitable({
  id: 'payments.read',
  path: payments.one,
  summary: 'Read or wait for a payment with its whole history',
  access: can('read', 'Payment'),
  since: paymentStatuses,
  returns: Payment,
  read: async ({ trx, params }) => (await readPaymentDetail(trx, params.paymentId)).status,
  find: async ({ trx, params, admission }) => {
    const payment = await readPaymentDetail(trx, params.paymentId)
    judged(admission, payment)
    return shown(payment, admission)
  },
})

const syncSeconds = 5

export const sync = route({
  id: 'payments.sync',
  method: 'POST',
  path: `${payments.one}/sync`,
  summary: 'Ask the gateway for the state of a payment now',
  description: 'Answers the payment after at most five seconds, whether or not the gateway has spoken.',
  access: can('read', 'Payment'),
  idempotency: 'off',
  transaction: 'none',
  readOnly: true,
  returns: Payment,
  handle: async ({ open, params, admission, request }) => {
    const before = await open(async (trx) => {
      judged(admission, await readPaymentDetail(trx, params.paymentId))
      const mark = await readingOf(trx, params.paymentId)
      return (await requestReading(trx, params.paymentId)) ? mark : null
    })
    const mark = () => open((trx) => readingOf(trx, params.paymentId))
    if (before !== null) await waitUntil(mark, (now) => now !== before, { seconds: syncSeconds, gone: request.gone })
    return open(async (trx) => shown(await readPaymentDetail(trx, params.paymentId), admission))
  },
})
