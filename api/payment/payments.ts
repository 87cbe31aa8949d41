import { createHash } from 'node:crypto'
import { forbidden } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Currency,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  cancelPaymentById,
  createLink,
  createStaffPayment,
  listPayments,
  readingOf,
  readPaymentDetail,
  readRefundRecord,
  recordPayment,
  requestCapture,
  requestReading,
  requestRefund,
  setAllocations,
} from '../../db/payment/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { waitUntil } from '../lib/long-poll.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import {
  Action,
  AnyMethod,
  Attempt,
  CardToken,
  GatewayMethod,
  History,
  Money,
  Payer,
  paymentFields,
  paymentStatuses,
  PaymentStatus,
  Reference,
  RefundStatus,
  TargetType,
  Url,
} from './schemas.ts'
import { Refund, refundReasons } from './refunds.ts'

const PaymentSummary = Obj(paymentFields, { title: 'PaymentSummary' })
const Payment = Obj(
  {
    ...paymentFields,
    action: Nullable(Action),
    payer: Nullable(Payer),
    allocations: List(
      Obj({ id: Uuid, targetType: TargetType, targetId: Uuid, amount: paymentFields.amount, createdAt: Instant }),
      { max: 500 },
    ),
    refunds: List(
      Obj({
        id: Uuid,
        amount: paymentFields.amount,
        reason: OneOf([...refundReasons]),
        via: OneOf(['gateway', 'pix_return', 'manual']),
        status: RefundStatus,
        createdAt: Instant,
      }),
      { max: 200 },
    ),
    disputes: List(
      Obj({
        id: Uuid,
        amount: paymentFields.amount,
        phase: OneOf(['inquiry', 'dispute', 'appeal']),
        status: OneOf(['needs_response', 'submitted', 'under_review', 'won', 'lost']),
        responseDueAt: Nullable(Instant),
      }),
      { max: 50 },
    ),
    attempts: List(Attempt, { max: 20 }),
    history: History,
  },
  { title: 'Payment' },
)

type Detail = Awaited<ReturnType<typeof readPaymentDetail>>

/** Personal data of the payer are not for roles that see them masked. */
const shown = (payment: Detail, admission: Admission) =>
  admission.isMasked('Payment') ? { ...payment, payer: null } : payment

const payments = resource({
  name: 'payments',
  subject: 'Payment',
  table: 'payment',
  path: '/api/tenants/:tenantId/payments',
  param: 'paymentId',
  record: Payment,
  lockedBy: 'command',
  read: readPaymentDetail,
  show: shown,
})

const list = payments.list({
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

const createErrors = [
  'payment_in_progress',
  'target_closed',
  'currency_mismatch',
  'amount_exceeds_payable',
  'gateway_account_not_ready',
  'method_unavailable',
  'reference_not_found',
  'not_found',
] as const

const judgeOf = (admission: Admission) => (record: object) => admission.check('create', 'Payment', { ...record })

/** A digest of the address from which consent was given. */
const addressHash = (address: string) => createHash('sha256').update(address).digest()

const create = route({
  id: 'payments.create',
  method: 'POST',
  path: '/api/tenants/:tenantId/payments',
  summary: 'Charge or authorise through a gateway',
  description:
    'A worker calls the gateway: wait for the status. The same method, amount and channel again answers 200 with the live payment. `allowExcess` needs the action `override`; the excess stays unallocated.',
  access: can('create', 'Payment'),
  status: 201,
  ok: 'The payment that was started before',
  idempotency: 'required',
  errors: [...createErrors, 'return_url_not_allowed'],
  body: Obj({
    gatewayAccountId: Opt(Uuid),
    method: GatewayMethod,
    mode: Opt(OneOf(['charge', 'authorise'])),
    amount: Money,
    currency: Currency,
    targetType: TargetType,
    targetId: Uuid,
    paymentMethodId: Opt(Uuid),
    cardToken: Opt(CardToken),
    saveMethod: Opt(Bool),
    consentTextVersion: Opt(Text(1, 100)),
    installments: Opt(Int(1, 12)),
    payer: Opt(Payer),
    returnUrl: Opt(Url),
    expiresAt: Opt(Instant),
    description: Opt(Words(1, 200)),
    allowExcess: Opt(Bool),
  }),
  example: {
    method: 'card',
    amount: 1_000,
    currency: 'BRL',
    targetType: 'booking',
    targetId: sampleId('payableBookingId'),
  },
  returns: Payment,
  handle: async ({ trx, body, admission, request }) => {
    if (body.allowExcess && !admission.can('override', 'Payment')) throw forbidden()
    const { payment, repeated } = await createStaffPayment(trx, body, {
      judge: judgeOf(admission),
      addressHash: addressHash(request.address),
    })
    return new Reply(shown(await readPaymentDetail(trx, payment.id), admission), { status: repeated ? 200 : 201 })
  },
})

const link = route({
  id: 'payments.createLink',
  method: 'POST',
  path: '/api/tenants/:tenantId/payments/links',
  summary: 'Create a payment link and send it',
  description:
    'A payment of channel `link`: its `action` becomes the address of a page of the gateway that is good for one payment. `testToken` is for the sandbox alone.',
  access: can('create', 'Payment'),
  status: 201,
  ok: 'The link that was made before',
  idempotency: 'required',
  errors: [...createErrors],
  body: Obj({
    gatewayAccountId: Opt(Uuid),
    amount: Money,
    currency: Currency,
    targetType: TargetType,
    targetId: Uuid,
    methods: Opt(List(GatewayMethod, { min: 1, max: 3 }, { uniqueItems: true })),
    expiresAt: Opt(Instant),
    description: Words(1, 200),
    payer: Opt(Payer),
    testToken: Opt(CardToken),
  }),
  example: {
    amount: 1_000,
    currency: 'BRL',
    targetType: 'booking',
    targetId: sampleId('payableBookingId'),
    description: 'Deposit of your stay',
  },
  returns: Payment,
  handle: async ({ trx, body, admission }) => {
    const { payment, repeated } = await createLink(trx, body, judgeOf(admission))
    return new Reply(shown(await readPaymentDetail(trx, payment.id), admission), { status: repeated ? 200 : 201 })
  },
})

const judged = (admission: Admission, payment: Detail) =>
  admission.check('read', 'Payment', asJudged('payment', payment.id, payment))

const read = waitable({
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

const ofDates = ['date_out_of_range', 'period_closed', 'date_locked', 'period_missing', 'business_day_changed'] as const

const record = route({
  id: 'payments.record',
  method: 'POST',
  path: '/api/tenants/:tenantId/payments/record',
  summary: 'Record money received outside a gateway',
  description:
    'Cash goes into the drawer of `cashSessionId`, or of the caller’s own open session; any other money to `cashAccountId`. It pays for its target at once, up to what that takes; the rest stays unallocated.',
  access: can('record', 'Payment'),
  status: 201,
  idempotency: 'required',
  errors: [
    'reference_not_found',
    'target_closed',
    'currency_mismatch',
    'duplicate_reference',
    'session_required',
    'session_closed',
    'account_archived',
    'cash_busy',
    ...ofDates,
  ],
  body: Obj({
    propertyId: Uuid,
    method: OneOf(['card', 'pix', 'cash', 'bank_transfer', 'terminal', 'cheque', 'other']),
    amount: Money,
    currency: Currency,
    targetType: Opt(OneOf(['booking', 'reservation', 'folio', 'pos_order'])),
    targetId: Opt(Uuid),
    receivedAt: Opt(Instant),
    cashSessionId: Opt(Uuid),
    cashAccountId: Opt(Uuid),
    reference: Opt(Text(1, 60, { cardNumber: 'exempt' })),
    note: Opt(Words(1, 500)),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    method: 'bank_transfer',
    amount: 1_000,
    currency: 'BRL',
    cashAccountId: sampleId('bankAccountId'),
  },
  returns: Payment,
  handle: async ({ trx, body, admission }) => {
    admission.check('record', 'Payment', { propertyId: body.propertyId, targetType: body.targetType ?? null })
    return shown(await readPaymentDetail(trx, await recordPayment(trx, body)), admission)
  },
})

const capture = payments.act('capture', {
  summary: 'Capture an authorisation in full or in part',
  description: 'Once; the gateway releases the rest. Without an amount all that was authorised is taken.',
  idempotency: 'required',
  errors: ['invalid_transition', 'amount_exceeds_authorised'],
  body: Obj({ amount: Opt(Money) }),
  example: {},
  command: ({ trx, id, body, expectedVersion }) => requestCapture(trx, id, body.amount, expectedVersion),
})

const cancel = payments.act('cancel', {
  summary: 'Cancel an uncaptured or wrongly recorded payment',
  description:
    'At once where the gateway was never asked, else when it agrees. Captured money goes back as a refund; recorded money is turned on its business day, while its session is open.',
  errors: ['invalid_transition', 'session_closed', 'in_use', 'cash_short', 'cash_busy', ...ofDates],
  body: Obj({ reason: Reason }),
  example: { reason: 'The guest pays by other means' },
  command: ({ trx, id, body, expectedVersion }) => cancelPaymentById(trx, id, trimmed(body.reason), expectedVersion),
})

const syncSeconds = 5

const sync = route({
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

const allocate = route({
  id: 'payments.allocate',
  method: 'PUT',
  path: `${payments.one}/allocations`,
  summary: 'Set what the captured money pays for',
  description: 'The whole wanted set: the differences are written. `If-Match` is the version of the payment.',
  access: can('allocate', 'Payment'),
  record: payments.lock,
  errors: [
    'invalid_transition',
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

const refund = route({
  id: 'payments.refund',
  method: 'POST',
  path: `${payments.one}/refunds`,
  summary: 'Refund a payment in full or in part',
  description:
    'Without an amount all that can be refunded goes back. `manual` is money that was handed back: from the account that took it, or the one that is named; cash from an open session. Unallocated money is used first, then the allocations that `fromAllocations` names, or the newest.',
  access: can('refund', 'Payment'),
  status: 201,
  idempotency: 'required',
  record: payments.lock,
  errors: [
    'invalid_transition',
    'amount_exceeds_refundable',
    'amount_disputed',
    'method_unavailable',
    'refund_through_gateway',
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
    via: Opt(OneOf(['gateway', 'manual'])),
    cashSessionId: Opt(Uuid),
    cashAccountId: Opt(Uuid),
    fromAllocations: Opt(List(Uuid, { max: 100 }, { uniqueItems: true })),
  }),
  example: { amount: 100, reason: 'guest_request' },
  returns: Refund,
  handle: async ({ trx, params, body }) => {
    const { cashSessionId, cashAccountId, ...wanted } = body
    const from = { cashSessionId, cashAccountId }
    const [made] = await requestRefund(trx, { paymentId: params.paymentId, byPerson: true, from, ...wanted })
    if (!made) throw new Error('a refund was asked for and none was made')
    return readRefundRecord(trx, made.refundId)
  },
})

/** Those with a path of their own come before those of one payment. */
export const collectionRoutes = [list, create, record, link]
export const oneRoutes = [read, capture, cancel, sync, allocate, refund]
