import {
  Actor,
  Bool,
  Currency,
  Instant,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { listExceptions, readException, resolveException } from '../../db/payment/index.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'

const kinds = [
  'outcome_unknown',
  'amount_differs',
  'currency_differs',
  'duplicate_payment',
  'late_payment',
  'unallocated',
  'refund_failed',
  'missing_here',
  'missing_there',
  'fee_differs',
  'payout_differs',
  'account_gone',
  'over_returned',
  'capture_refused',
] as const
const Kind = OneOf([...kinds])
const Status = OneOf(['open', 'resolved'])
const Resolution = OneOf(['accepted', 'recorded', 'written_off'])

const exceptions = resource({
  name: 'paymentExceptions',
  subject: 'PaymentException',
  table: 'payment_exception',
  path: '/api/tenants/:tenantId/payments/exceptions',
  param: 'paymentExceptionId',
  lockedBy: 'command',
  record: Obj(
    {
      id: Uuid,
      kind: Kind,
      propertyId: Nullable(Uuid),
      gatewayAccountId: Nullable(Uuid),
      subjectType: OneOf([
        'payment',
        'refund',
        'dispute',
        'payout',
        'balance_transaction',
        'gateway_account',
        'receipt',
      ]),
      subjectId: Uuid,
      amount: SignedAmount,
      expectedAmount: Nullable(SignedAmount),
      currency: Currency,
      reconciliationId: Nullable(Uuid),
      status: Status,
      resolution: Nullable(Resolution),
      reason: Nullable(Text(0, 500)),
      resolvedBy: Nullable(Actor),
      resolvedAt: Nullable(Instant),
      automatic: Bool,
      ...stamps,
    },
    { title: 'PaymentException' },
  ),
  read: readException,
  show: (exception) => ({ ...exception, status: exception.status as 'open' | 'resolved' }),
})

const list = exceptions.list({
  summary: 'List payment exceptions that need a person',
  query: { kind: Opt(Kind), status: Opt(Status), reconciliationId: Opt(Uuid) },
  example: { status: 'open' },
  find: ({ trx, filter }) => listExceptions(trx, filter),
})

const resolve = exceptions.act('resolve', {
  summary: 'Resolve an exception with a reason',
  description:
    '`accepted`: the facts stand. `recorded`: what the gateway has and this house has not is made from the gateway’s fact. `written_off`: the difference is posted to `accountId`. `over_returned` is money that a bank took back although it had gone back before: written off, it stands on `accountId`, such as other receivables, until the guest or customer has paid it back.',
  errors: [
    'invalid_transition',
    'reference_not_found',
    'account_not_usable',
    'period_closed',
    'business_day_changed',
    'amount_exceeds_refundable',
    'amount_disputed',
    'method_unavailable',
  ],
  body: Obj({ resolution: Resolution, reason: Reason, accountId: Opt(Uuid) }),
  example: { resolution: 'accepted', reason: 'Seen and understood' },
  command: ({ trx, id, body, expectedVersion }) =>
    resolveException(trx, id, { ...body, reason: trimmed(body.reason) }, expectedVersion),
})

export const routes = [list, resolve]
