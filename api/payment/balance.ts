import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Count,
  Currency,
  Day,
  Instant,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Uuid,
} from '../../config/schema.ts'
import {
  listPayouts,
  listReconciliations,
  listTransactions,
  readPayout,
  readReconciliation,
  requestReconciliation,
} from '../../db/payment/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { Failure, Reference } from './schemas.ts'

const kinds = [
  'charge',
  'refund',
  'refund_failure',
  'dispute',
  'dispute_reversal',
  'gateway_fee',
  'platform_fee_refund',
  'payout',
  'payout_failure',
  'adjustment',
] as const
const Kind = OneOf([...kinds])
const PayoutStatus = OneOf(['pending', 'in_transit', 'paid', 'failed', 'cancelled'])

const payoutFields = {
  id: Uuid,
  gatewayAccountId: Uuid,
  externalId: Reference,
  amount: SignedAmount,
  currency: Currency,
  status: PayoutStatus,
  arrivesOn: Nullable(Day),
  /** The gateway says that the list of its transactions is whole. */
  complete: Bool,
  difference: Nullable(SignedAmount),
  failure: Nullable(Failure),
  paidAt: Nullable(Instant),
  ...stamps,
}
const sums = { gross: SignedAmount, fee: SignedAmount, platformFee: SignedAmount, net: SignedAmount }

const payouts = resource({
  name: 'payouts',
  subject: 'Payout',
  table: 'payout',
  path: '/api/tenants/:tenantId/payments/payouts',
  param: 'payoutId',
  record: Obj(
    { ...payoutFields, totals: List(Obj({ kind: Kind, count: Count, ...sums }), { max: 20 }) },
    { title: 'Payout' },
  ),
  read: readPayout,
})

const payoutList = payouts.list({
  summary: 'List payouts to the bank',
  query: { gatewayAccountId: Opt(Uuid), status: Opt(PayoutStatus), from: Opt(Day), to: Opt(Day) },
  of: Obj(payoutFields, { title: 'PayoutSummary' }),
  example: { status: 'paid' },
  find: ({ trx, filter }) => listPayouts(trx, filter),
})

const payoutRead = payouts.read({ summary: 'Read a payout with totals by kind' })

const BalanceTransaction = Obj(
  {
    id: Uuid,
    gatewayAccountId: Uuid,
    externalId: Reference,
    kind: Kind,
    ...sums,
    currency: Currency,
    occurredAt: Instant,
    availableAt: Instant,
    payoutId: Nullable(Uuid),
    subjectType: Nullable(OneOf(['payment', 'refund', 'dispute', 'payout'])),
    subjectId: Nullable(Uuid),
  },
  { title: 'BalanceTransaction' },
)

const transactions = resource({
  name: 'balanceTransactions',
  subject: 'BalanceTransaction',
  table: 'balance_transaction',
  path: '/api/tenants/:tenantId/payments/balance-transactions',
  param: 'balanceTransactionId',
  record: BalanceTransaction,
  read: () => Promise.reject(new Error('a transaction is read in its list alone')),
})

const transactionList = transactions.list({
  summary: 'List what moved the gateway balance, with fees',
  query: {
    gatewayAccountId: Opt(Uuid),
    kind: Opt(Kind),
    payoutId: Opt(Uuid),
    subjectId: Opt(Uuid),
    from: Opt(Instant),
    to: Opt(Instant),
  },
  of: BalanceTransaction,
  example: { kind: 'charge' },
  find: ({ trx, filter }) => listTransactions(trx, filter),
})

const ReconciliationStatus = OneOf(['running', 'balanced', 'exceptions', 'failed'])
const Reconciliation = Obj(
  {
    id: Uuid,
    gatewayAccountId: Uuid,
    date: Day,
    status: ReconciliationStatus,
    /** Its day, in UTC, is not over. */
    provisional: Bool,
    openingBalance: Nullable(SignedAmount),
    net: Nullable(SignedAmount),
    closingBalance: Nullable(SignedAmount),
    counts: Obj({ theirs: Count, ours: Count, matched: Count, exceptions: Count }),
    lastRunAt: Nullable(Instant),
    ...stamps,
  },
  { title: 'Reconciliation' },
)

const reconciliations = resource({
  name: 'reconciliations',
  subject: 'Reconciliation',
  table: 'reconciliation',
  path: '/api/tenants/:tenantId/payments/reconciliations',
  param: 'reconciliationId',
  record: Reconciliation,
  read: readReconciliation,
})

const reconciliationList = reconciliations.list({
  summary: 'List daily reconciliations with the gateway',
  query: { gatewayAccountId: Opt(Uuid), status: Opt(ReconciliationStatus), from: Opt(Day), to: Opt(Day) },
  example: { status: 'exceptions' },
  find: ({ trx, filter }) => listReconciliations(trx, filter),
})

const reconcile = route({
  id: 'reconciliations.create',
  method: 'POST',
  path: '/api/tenants/:tenantId/payments/reconciliations',
  summary: 'Import and reconcile a day of an account now',
  description:
    'For one of the last 35 days, in UTC. A worker reads the gateway’s lists, matches them both ways, asks again for what differs, and opens an exception for the rest. The same day again answers 200.',
  access: can('read', 'Reconciliation'),
  status: 201,
  ok: 'The reconciliation of the day, which runs again',
  errors: ['not_found', 'invalid_transition'],
  body: Obj({ gatewayAccountId: Uuid, date: Day }),
  example: { gatewayAccountId: sampleId('gatewayAccountId'), date: '2026-11-20' },
  returns: Reconciliation,
  handle: async ({ trx, body }) => {
    const { id, repeated } = await requestReconciliation(trx, body)
    return new Reply(await readReconciliation(trx, id), { status: repeated ? 200 : 201 })
  },
})

export const routes = [payoutList, payoutRead, transactionList, reconciliationList, reconcile]
