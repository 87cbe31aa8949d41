import { sampleDay, sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { refuseAccountElsewhere, refuseMovementElsewhere } from '../../db/cash/index.ts'
import { createCredit, listCredits, readCredit, refundCredit, voidCredit } from '../../db/accounts-payable/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { cardless, givenPayee, path, Payee, Reason, stamps, Sum } from './schemas.ts'

const Kind = OneOf(['credit_note', 'advance'])
const Status = OneOf(['open', 'void'])
const head = {
  id: Uuid,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  supplierId: Nullable(Uuid),
  payeeName: Nullable(Text(0, 200)),
  kind: Kind,
  payableId: Nullable(Uuid),
  number: Nullable(Text(1, 40)),
  issuedOn: Day,
  currency: Currency,
  amount: Amount,
  applied: Amount,
  refunded: Amount,
  available: Amount,
  status: Status,
  note: Text(0, 500),
  createdBy: Nullable(Uuid),
  ...stamps,
}
const SupplierCredit = Obj(
  {
    ...head,
    payee: Payee,
    lines: List(Obj({ accountId: Uuid, amount: Amount, costCenterId: Nullable(Uuid), propertyId: Nullable(Uuid) }), {
      max: 200,
    }),
    /** The uses of it; amounts that came back are below 0. */
    uses: List(
      Obj({
        type: OneOf(['applied', 'restored', 'refunded', 'voided']),
        on: Day,
        amount: SignedAmount,
        cashMovementId: Nullable(Uuid),
        payablePaymentId: Nullable(Uuid),
        payableId: Nullable(Uuid),
      }),
      { max: 10_000 },
    ),
  },
  { title: 'SupplierCredit' },
)

const credits = resource({
  name: 'supplierCredits',
  subject: 'SupplierCredit',
  table: 'supplier_credit',
  path: `${path}/credits`,
  param: 'supplierCreditId',
  record: SupplierCredit,
  lockedBy: 'command',
  read: readCredit as never,
  show: (found) => found as never,
})

const list = credits.list({
  summary: 'List supplier credit notes and advances',
  query: {
    kind: Opt(Kind),
    supplierId: Opt(Uuid),
    bookId: Opt(Uuid),
    status: Opt(Status),
    available: Opt(Bool),
  },
  of: Obj(head, { title: 'SupplierCreditListed' }),
  example: { kind: 'advance' },
  find: ({ trx, filter }) => listCredits(trx, filter) as never,
})

const create = credits.create({
  summary: 'Record a credit note from a supplier',
  description:
    'It lowers what is owed at once, and is set off by a payment of the method `credit`. Without `accountId` the accounts of the bill are credited, shared out by amount.',
  idempotency: 'required',
  errors: [
    'not_found',
    'duplicate_credit',
    'reference_not_found',
    'supplier_archived',
    'payee_mismatch',
    'account_not_usable',
    'date_out_of_range',
    'period_missing',
    'period_closed',
    'date_locked',
  ],
  body: Obj({
    bookId: Opt(Uuid),
    ...givenPayee,
    payableId: Opt(Uuid),
    number: Opt(Nullable(Words(1, 40, cardless))),
    issuedOn: Day,
    amount: Sum,
    accountId: Opt(Uuid),
    note: Opt(Text(0, 500)),
  }),
  example: {
    bookId: sampleId('bookId'),
    payeeName: 'Padaria Pão Doce',
    issuedOn: sampleDay(0),
    amount: 2_500,
    accountId: sampleId('expenseAccountId'),
  },
  command: ({ trx, body, admission }) => createCredit(trx, body, { features: admission.features }),
})

const read = credits.read({ summary: 'Read a credit with its applications' })

const refund = route({
  id: 'supplierCredits.refund',
  method: 'POST',
  path: `${credits.one}/refund`,
  summary: 'Record money that the supplier gave back',
  description:
    'It is booked on `cashAccountId`, or is `cashMovementId`: money in of this amount that was booked by hand or from a line of the bank, and is claimed by it.',
  access: can('refund', 'SupplierCredit'),
  record: credits.lock,
  returns: SupplierCredit,
  idempotency: 'required',
  errors: [
    'invalid_transition',
    'credit_exceeded',
    'reference_not_found',
    'in_use',
    'account_archived',
    'currency_mismatch',
    'session_required',
    'session_closed',
    'cash_busy',
    'business_day_changed',
    'date_out_of_range',
    'period_missing',
    'period_closed',
    'date_locked',
  ],
  body: Obj({
    amount: Sum,
    cashAccountId: Opt(Uuid),
    cashMovementId: Opt(Uuid),
    receivedOn: Day,
    note: Opt(Text(0, 500)),
  }),
  example: { amount: 100, cashAccountId: sampleId('cashAccountId'), receivedOn: sampleDay(0) },
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    await refuseAccountElsewhere(trx, body.cashAccountId, admission.propertyIds)
    await refuseMovementElsewhere(trx, body.cashMovementId, admission.propertyIds)
    await refundCredit(trx, params.supplierCreditId, body, expectedVersion)
    return readCredit(trx, params.supplierCreditId)
  },
})

const voidOne = credits.act('void', {
  summary: 'Void a credit note that was never used',
  errors: ['invalid_transition', 'in_use', 'period_missing', 'period_closed', 'date_locked'],
  body: Obj({ reason: Reason }),
  example: { reason: 'Recorded for another supplier' },
  command: ({ trx, id, expectedVersion }) => voidCredit(trx, id, expectedVersion),
})

export const routes = [list, create, read, refund, voidOne]
