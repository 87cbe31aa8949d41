import {
  Amount,
  AnyOf,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  Literal,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { guestPayment, payForBooking, shownStatusOf } from '../../db/reservations/index.ts'
import { publicGuest } from '../lib/access/kinds.ts'
import { Reply, route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { Street } from '../payment/schemas.ts'

const methods = ['card', 'pix', 'boleto'] as const
const statuses = [
  'pending',
  'action_required',
  'processing',
  'paid',
  'failed',
  'cancelled',
  'expired',
  'refunding',
  'refunded',
] as const

const NewPayment = Obj({
  method: OneOf([...methods]),
  amount: Opt(OneOf(['due', 'all'])),
  installments: Opt(Int(1, 12)),
  payer: Opt(
    Obj({
      name: Words(1, 120),
      document: Opt(
        Obj({
          type: OneOf(['cpf', 'cnpj']),
          number: Matching('^[0-9A-Za-z./ -]{11,20}$', 20, { cardNumber: 'document' }),
        }),
      ),
      address: Opt(Street),
    }),
  ),
  cardToken: Opt(Matching('^[A-Za-z0-9_.-]{1,200}$', 200)),
  returnUrl: Opt(Text(8, 2000)),
  /** A card alone: the guest agrees that it is kept, under the terms of the property. */
  saveMethod: Opt(Bool),
})

const Url = Text(1, 2000)
const Action = AnyOf([
  Obj({ type: Literal('redirect'), url: Url }),
  Obj({
    type: Literal('client_secret'),
    provider: Text(1, 20),
    publishableKey: Text(1, 200),
    account: Text(1, 100),
    clientSecret: Text(1, 300),
  }),
  Obj({ type: Literal('pix'), copyPaste: Text(1, 1000), expiresAt: Instant }),
  Obj({ type: Literal('boleto'), digitableLine: Text(1, 100), url: Url, dueDate: Day }),
])

/** A payment as its guest sees it. */
const GuestPayment = Obj(
  {
    paymentId: Uuid,
    status: OneOf([...statuses]),
    method: OneOf([...methods]),
    amount: Amount,
    currency: Currency,
    expiresAt: Nullable(Instant),
    action: Nullable(Action),
    failure: Nullable(
      Obj({
        code: OneOf([
          'declined',
          'insufficient_funds',
          'expired_card',
          'authentication_failed',
          'provider_unavailable',
          'other',
        ]),
        message: Text(0, 200),
      }),
    ),
    booking: Obj({
      number: Text(8, 8),
      status: OneOf(['held', 'confirmed', 'in_house', 'completed', 'cancelled', 'expired', 'no_show']),
      holdExpiresAt: Nullable(Instant),
    }),
  },
  { title: 'GuestPayment' },
)

export const routes = [
  route({
    id: 'public.createPayment',
    method: 'POST',
    path: '/api/public/payments/create',
    summary: 'Start the payment of what is due',
    description:
      'The amount is computed. The provider is called by a worker: go on with the status. The same method again answers 200 with the live payment; another one takes its place where the provider can still cancel.',
    access: publicGuest('payments'),
    status: 201,
    ok: 'The payment that was started before',
    body: NewPayment,
    example: { method: 'card', cardToken: 'success' },
    returns: GuestPayment,
    errors: [
      'hold_expired',
      'payment_in_progress',
      'nothing_due',
      'method_unavailable',
      'return_url_not_allowed',
      'gateway_account_not_ready',
      'hold_limit',
      'target_closed',
      'currency_mismatch',
      'amount_exceeds_payable',
      'folio_busy',
      'business_day_changed',
    ],
    handle: async ({ trx, bookingId, body }) => {
      const { amount = 'due', ...wanted } = body
      const { shown, repeated } = await payForBooking(trx, bookingId, { amount, ...wanted })
      return new Reply(shown, { status: repeated ? 200 : 201 })
    },
  }),
  waitable({
    id: 'public.paymentStatus',
    path: '/api/public/payments/:paymentId/status',
    summary: 'Read or wait for the status of a payment',
    access: publicGuest('payments'),
    since: statuses,
    returns: GuestPayment,
    read: ({ trx, bookingId, params }) => shownStatusOf(trx, bookingId, params.paymentId),
    find: ({ trx, bookingId, params }) => guestPayment(trx, bookingId, params.paymentId),
  }),
]
