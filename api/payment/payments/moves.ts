import { List, Obj, OneOf, Opt, Uuid, Words } from '../../../config/schema.ts'
import {
  cancelPaymentById,
  readPaymentDetail,
  readRefundRecord,
  requestCapture,
  requestRefund,
  setAllocations,
} from '../../../db/payment/index.ts'
import { can } from '../../lib/access/kinds.ts'
import { Reason, trimmed } from '../../lib/reason.ts'
import { route } from '../../lib/route.ts'
import { Money, TargetType } from '../schemas.ts'
import { Refund, refundReasons } from '../refunds.ts'
import { ofDates, Payment, payments, shown } from './resource.ts'

export const capture = payments.act('capture', {
  summary: 'Capture an authorisation in full or in part',
  description: 'Once; the gateway releases the rest. Without an amount all that was authorised is taken.',
  idempotency: 'required',
  errors: ['invalid_transition', 'amount_exceeds_authorised', 'payment_busy'],
  body: Obj({ amount: Opt(Money) }),
  example: {},
  command: ({ trx, id, body, expectedVersion }) => requestCapture(trx, id, body.amount, expectedVersion),
})

export const cancel = payments.act('cancel', {
  summary: 'Cancel an uncaptured or wrongly recorded payment',
  description:
    'At once where the gateway was never asked, else when it agrees. Captured money goes back as a refund; recorded money is turned on its business day, while its session is open.',
  errors: [
    'invalid_transition',
    'payment_busy',
    'not_same_business_date',
    'session_closed',
    'in_use',
    'cash_short',
    'cash_busy',
    ...ofDates,
  ],
  body: Obj({ reason: Reason }),
  example: { reason: 'The guest pays by other means' },
  command: ({ trx, id, body, expectedVersion }) => cancelPaymentById(trx, id, trimmed(body.reason), expectedVersion),
})

export const allocate = route({
  id: 'payments.allocate',
  method: 'PUT',
  path: `${payments.one}/allocations`,
  summary: 'Set what the captured money pays for',
  description: 'The whole wanted set: the differences are written. `If-Match` is the version of the payment.',
  access: can('allocate', 'Payment'),
  record: payments.lock,
  errors: [
    'invalid_transition',
    'payment_busy',
    'allocation_exceeds_captured',
    'target_closed',
    'amount_exceeds_payable',
    'currency_mismatch',
    'reference_not_found',
    'business_day_changed',
  ],
  body: Obj({ allocations: List(Obj({ targetType: TargetType, targetId: Uuid, amount: Money }), { max: 100 }) }),
  example: { allocations: [] },
  returns: Payment,
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    await setAllocations(trx, params.paymentId, body.allocations, expectedVersion, (target) =>
      admission.check('allocate', 'Payment', target),
    )
    return shown(await readPaymentDetail(trx, params.paymentId), admission)
  },
})

export const refund = route({
  id: 'payments.refund',
  method: 'POST',
  path: `${payments.one}/refunds`,
  summary: 'Refund a payment in full or in part',
  description:
    'Without an amount all that can be refunded goes back, the way it came unless `via` says another that is open: by the gateway, by the bank that took a Pix (`pix_return`, within 90 days), or by hand. `manual` is money that was handed back: from the account that took it, or the one that is named; cash from an open session. Unallocated money is used first, then the allocations that `fromAllocations` names, or the newest.',
  access: can('refund', 'Payment'),
  status: 201,
  idempotency: 'required',
  record: payments.lock,
  errors: [
    'invalid_transition',
    'payment_busy',
    'amount_exceeds_refundable',
    'amount_disputed',
    'method_unavailable',
    'refund_through_gateway',
    'return_window_passed',
    'pix_not_ready',
    'reference_not_found',
    'currency_mismatch',
    'session_required',
    'session_closed',
    'account_archived',
    'cash_short',
    'cash_busy',
    ...ofDates,
  ],
  body: Obj({
    amount: Opt(Money),
    reason: OneOf([...refundReasons]),
    note: Opt(Words(1, 500)),
    via: Opt(OneOf(['gateway', 'manual', 'pix_return'])),
    cashSessionId: Opt(Uuid),
    cashAccountId: Opt(Uuid),
    fromAllocations: Opt(List(Uuid, { max: 100 }, { uniqueItems: true })),
  }),
  example: { amount: 100, reason: 'guest_request' },
  returns: Refund,
  handle: async ({ trx, params, body, expectedVersion }) => {
    const { cashSessionId, cashAccountId, ...wanted } = body
    const from = { cashSessionId, cashAccountId }
    const [made] = await requestRefund(trx, {
      paymentId: params.paymentId,
      expected: expectedVersion,
      byPerson: true,
      from,
      ...wanted,
    })
    if (!made) throw new Error('a refund was asked for and none was made')
    return readRefundRecord(trx, made.refundId)
  },
})
