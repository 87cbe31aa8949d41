import { itemStatuses, payablePaymentStatuses, paymentMethods } from '../../config/payables.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  AnyOf,
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
  Text,
  Uuid,
} from '../../config/schema.ts'
import { refuseAccountElsewhere, refuseMovementElsewhere } from '../../db/cash/index.ts'
import {
  approvePayment,
  createPayment,
  listPayments,
  readPayment,
  statusOfPayment,
  tryPayment,
  voidPayment,
} from '../../db/accounts-payable/index.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { cardless, givenPayee, Part, path, Reason, stamps, Sum } from './schemas.ts'

const Status = OneOf([...payablePaymentStatuses])
const Method = OneOf([...paymentMethods])
const head = {
  id: Uuid,
  bookId: Uuid,
  method: Method,
  cashAccountId: Nullable(Uuid),
  creditId: Nullable(Uuid),
  payOn: Day,
  currency: Currency,
  total: Amount,
  status: Status,
  reference: Text(0, 60),
  note: Text(0, 500),
  createdBy: Uuid,
  approvedBy: Nullable(Uuid),
  approvedAt: Nullable(Instant),
  selfApproved: Bool,
  ...stamps,
}
const PaymentListed = Obj(head, { title: 'PayablePaymentListed' })
const sums = { principal: Amount, interest: Amount, fine: Amount, discount: Amount, cash: SignedAmount }
const what = {
  payableId: Nullable(Uuid),
  installmentId: Nullable(Uuid),
  supplierId: Nullable(Uuid),
  purchaseOrderId: Nullable(Uuid),
}
const PayablePayment = Obj(
  {
    ...head,
    items: List(
      Obj(
        {
          id: Uuid,
          ...what,
          name: Text(0, 400),
          number: Nullable(Text(1, 40)),
          ...sums,
          status: OneOf([...itemStatuses]),
          /** The credit that pays it, or that an advance made. */
          creditId: Nullable(Uuid),
          cashTransferId: Nullable(Uuid),
          cashMovementId: Nullable(Uuid),
          refundMovementId: Nullable(Uuid),
          failure: Nullable(Obj({ code: Text(1, 60), message: Text(0, 500) })),
          paidOn: Nullable(Day),
          reversedOn: Nullable(Day),
        },
        { title: 'PayablePaymentItem' },
      ),
      { max: 500 },
    ),
  },
  { title: 'PayablePayment' },
)
const Tried = Obj(
  {
    items: List(Obj({ ...what, ...sums }), { max: 500 }),
    total: Amount,
    currency: Currency,
    refusals: List(Obj({ index: Count, code: Text(1, 60), message: Text(0, 300) }), { max: 5_000 }),
  },
  { title: 'PayablePaymentTried' },
)

const payments = resource({
  name: 'payablePayments',
  subject: 'PayablePayment',
  table: 'payable_payment',
  path: `${path}/payments`,
  param: 'payablePaymentId',
  record: PayablePayment,
  lockedBy: 'command',
  read: readPayment as never,
  show: (found) => found as never,
})

const list = payments.list({
  summary: 'List payments and payment batches',
  query: {
    status: Opt(Status),
    method: Opt(Method),
    bookId: Opt(Uuid),
    cashAccountId: Opt(Uuid),
    supplierId: Opt(Uuid),
    payOnFrom: Opt(Day),
    payOnTo: Opt(Day),
    installmentId: Opt(Uuid),
  },
  of: PaymentListed,
  example: { method: 'pix' },
  find: ({ trx, filter }) => listPayments(trx, filter) as never,
})

const cashErrors = [
  'account_archived',
  'session_required',
  'session_closed',
  'cash_short',
  'cash_busy',
  'business_day_changed',
  'period_missing',
  'period_closed',
  'date_locked',
  'date_out_of_range',
  'currency_mismatch',
] as const

const create = route({
  id: 'payablePayments.create',
  method: 'POST',
  path: `${path}/payments`,
  summary: 'Pay one or many installments, or an advance',
  description:
    '`manual` records what was paid, `credit` sets a credit of the payee off today; both are settled at once. `pix` is sent by this service after another person has approved it. `select` takes open installments that can be paid by Pix, the oldest first. `dryRun` shows what it would be, and stores nothing.',
  access: can('create', 'PayablePayment'),
  part: { resource: 'payablePayments', verb: 'create' },
  status: 201,
  ok: 'With `dryRun`: what the payment would be',
  idempotency: 'required',
  body: Obj({
    method: Method,
    cashAccountId: Opt(Uuid),
    creditId: Opt(Uuid),
    payOn: Opt(Day),
    items: Opt(
      List(
        Obj(
          {
            installmentId: Opt(Uuid),
            advance: Opt(Obj({ ...givenPayee, purchaseOrderId: Opt(Nullable(Uuid)) })),
            principal: Opt(Sum),
            interest: Opt(Part),
            fine: Opt(Part),
            discount: Opt(Part),
          },
          { title: 'PayablePaymentItemInput' },
        ),
        { min: 1, max: 500 },
      ),
    ),
    select: Opt(Obj({ dueUntil: Day, supplierIds: Opt(List(Uuid, { min: 1, max: 200 })), propertyId: Opt(Uuid) })),
    dryRun: Opt(Bool),
    reference: Opt(Text(0, 60, cardless)),
    note: Opt(Text(0, 500)),
  }),
  example: {
    method: 'manual',
    cashAccountId: sampleId('cashAccountId'),
    items: [{ installmentId: sampleId('installmentId'), principal: 100 }],
    reference: 'TED 4711',
  },
  returns: AnyOf([PayablePayment, Tried]),
  errors: [
    ...cashErrors,
    'not_found',
    'reference_not_found',
    'supplier_archived',
    'installment_in_payment',
    'amount_exceeds_open',
    'payable_not_approved',
    'not_payable',
    'payee_mismatch',
    'credit_exceeded',
    'pix_send_unsupported',
    'pix_not_ready',
  ],
  handle: async ({ trx, body, admission }) => {
    const { dryRun = false, ...given } = body
    await refuseAccountElsewhere(trx, given.cashAccountId, admission.propertyIds)
    if (dryRun) return new Reply((await tryPayment(trx, given, admission)) as never, { status: 200 })
    const id = await createPayment(trx, given, admission)
    return (await readPayment(trx, id)) as never
  },
})

const read = waitable({
  id: 'payablePayments.read',
  path: payments.one,
  summary: 'Read a payment with the outcome of each item',
  description: '`since` with `waitSeconds` waits until its status is another one.',
  access: can('read', 'PayablePayment'),
  part: { resource: 'payablePayments', verb: 'read' },
  returns: PayablePayment,
  since: [...payablePaymentStatuses] as [string, ...string[]],
  read: ({ trx, params }) => statusOfPayment(trx, params.payablePaymentId),
  find: ({ trx, params }) => readPayment(trx, params.payablePaymentId) as never,
})

const approve = payments.act('approve', {
  summary: 'Approve a Pix payment that somebody else prepared',
  description: 'Above the approval threshold of the book it needs a recent proof of identity.',
  errors: ['invalid_transition', 'self_approval', 'key_not_allowed', 'reauthentication_required', 'not_payable'],
  command: ({ trx, id, caller, request, expectedVersion }) =>
    approvePayment(trx, id, { expectedVersion, requireRecent: () => requireRecent(caller, request.receivedAt) }),
})

const voidOne = payments.act('void', {
  summary: 'Cancel unsent items or reverse paid ones',
  description:
    'A manual payment turns its movement, a credit is given back; a Pix that was paid needs `refund`, the money that its payee has returned: an account with the day, or a movement that was booked by hand or from a line of the bank. `on` is the day of the reversal, today unless said.',
  errors: [
    ...cashErrors,
    'invalid_transition',
    'movement_reconciled',
    'already_reversed',
    'reference_not_found',
    'in_use',
  ],
  body: Obj({
    reason: Reason,
    on: Opt(Day),
    itemIds: Opt(List(Uuid, { min: 1, max: 500 }, { uniqueItems: true })),
    refund: Opt(Obj({ cashAccountId: Opt(Uuid), receivedOn: Opt(Day), cashMovementId: Opt(Uuid) })),
  }),
  example: { reason: 'Paid to the wrong account' },
  command: async ({ trx, id, body, expectedVersion, admission }) => {
    await refuseAccountElsewhere(trx, body.refund?.cashAccountId, admission.propertyIds)
    await refuseMovementElsewhere(trx, body.refund?.cashMovementId, admission.propertyIds)
    await voidPayment(trx, id, body, expectedVersion)
  },
})

export const routes = [list, create, read, approve, voidOne]
