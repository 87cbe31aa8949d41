import { createHash } from 'node:crypto'
import { forbidden } from '../../../config/errors.ts'
import { sampleId } from '../../../config/samples.ts'
import {
  AnyOf,
  Bool,
  Currency,
  Email,
  Instant,
  Int,
  List,
  Obj,
  OneOf,
  Opt,
  Phone,
  Text,
  Uuid,
  Words,
} from '../../../config/schema.ts'
import { createLink, createStaffPayment, readPaymentDetail, recordPayment } from '../../../db/payment/index.ts'
import { can } from '../../lib/access/kinds.ts'
import type { Admission } from '../../lib/caller.ts'
import { Reply, route } from '../../lib/route.ts'
import { CardToken, GatewayMethod, Money, Payer, TargetType, Url } from '../schemas.ts'
import { ofDates, Payment, shown } from './resource.ts'

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

export const create = route({
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

export const link = route({
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
  errors: createErrors,
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
    /** Brings the payer to the page: to the address given, or to that of `payer`. */
    send: Opt(
      Obj({
        channel: OneOf(['email', 'sms', 'whatsapp']),
        to: Opt(AnyOf([{ ...Email, cardNumber: 'exempt' } as typeof Email, Phone])),
      }),
    ),
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

export const record = route({
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
    'not_found',
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
    reference: Opt(Text(1, 60, { cardNumber: 'document' })),
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
