import { transferStatuses } from '../../config/cash.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  AnyOf,
  Bool,
  Currency,
  Day,
  Instant,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  approveTransfer,
  cancelTransfer,
  confirmTransfer,
  createTransfer,
  listTransfers,
  readTransfer,
} from '../../db/cash/index.ts'
import { requireRecent } from '../lib/access/admission.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { Attempts } from '../lib/attempts.ts'
import { can } from '../lib/access/kinds.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { Document, Money, path, sightOf } from './schemas.ts'

const Status = OneOf([...transferStatuses])
const Method = OneOf(['manual', 'pix'])
const named = { name: Opt(Words(1, 120)), document: Opt(Document) }
const PayeeKey = Obj(
  {
    keyType: OneOf(['cpf', 'cnpj', 'email', 'phone', 'random']),
    key: Text(1, 77, { cardNumber: 'exempt' }),
    ...named,
  },
  { title: 'PayeeByKey' },
)
const PayeeCode = Obj({ brCode: Text(20, 600, { cardNumber: 'exempt' }), ...named }, { title: 'PayeeByCode' })
const PayeeAccount = Obj(
  {
    ispb: Matching('^[0-9]{8}$', 8),
    branch: Text(1, 20, { cardNumber: 'exempt' }),
    number: Text(1, 30, { cardNumber: 'exempt' }),
    accountType: OneOf(['checking', 'savings', 'payment']),
    ...named,
  },
  { title: 'PayeeByAccount' },
)
export const Payee = AnyOf([PayeeKey, PayeeCode, PayeeAccount])

const record = {
  id: Uuid,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  fromAccountId: Uuid,
  toAccountId: Nullable(Uuid),
  method: Method,
  amount: Amount,
  /** The fee that the source lost on top. */
  fee: Amount,
  currency: Currency,
  purpose: Text(1, 140),
  accountId: Nullable(Uuid),
  costCenterId: Nullable(Uuid),
  scheduledOn: Nullable(Day),
  sentOn: Nullable(Day),
  receivedOn: Nullable(Day),
  status: Status,
  sourceType: Nullable(Text(1, 60)),
  sourceId: Nullable(Uuid),
  requestedBy: Nullable(Uuid),
  approvedBy: Nullable(Uuid),
  approvedAt: Nullable(Instant),
  selfApproved: Bool,
  endToEndId: Nullable(Text(0, 60)),
  failure: Nullable(Obj({ code: Text(1, 60), message: Text(0, 300) })),
  cancelReason: Nullable(Text(0, 500)),
  ...stamps,
}
const ListedTransfer = Obj(record, { title: 'CashTransferListed' })
const CashTransfer = Obj(
  {
    ...record,
    payee: Nullable(Payee),
    /** The name and amount inside the BR Code of the payee, which its bank shows to a payer; an amount of null is left to them. */
    payeeCode: Nullable(Obj({ name: Text(0, 99), amount: Nullable(Amount) }, { title: 'BrCodeRead' })),
    /** Calls to the bank that were to send it. */
    attempts: Attempts,
  },
  { title: 'CashTransfer' },
)
const plain = { mayApprove: false, ownOf: null, reveals: false }

const whole = (trx: Trx, id: string) => readTransfer(trx, id, plain)

const transfers = resource({
  name: 'cashTransfers',
  subject: 'CashTransfer',
  table: 'cash_transfer',
  path: `${path}/transfers`,
  param: 'cashTransferId',
  record: CashTransfer,
  lockedBy: 'command',
  read: whole,
})

const list = transfers.list({
  summary: 'List transfers by state, account, payee or date',
  query: {
    status: Opt(Status),
    method: Opt(Method),
    accountId: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
    sourceId: Opt(Uuid),
  },
  of: ListedTransfer,
  example: { status: 'in_transit' },
  find: ({ trx, filter }) => listTransfers(trx, filter),
})

export const bookingErrors = [
  'account_archived',
  'session_required',
  'session_closed',
  'cash_short',
  'cash_busy',
  'date_out_of_range',
  'period_closed',
  'date_locked',
  'period_missing',
  'business_day_changed',
] as const

const create = route({
  id: 'cashTransfers.create',
  method: 'POST',
  path: `${path}/transfers`,
  summary: 'Record a transfer or request an outgoing Pix',
  description:
    'Method manual records money that the house moves itself: without `receivedOn` it is in transit until it is confirmed. With a register on one side it is completed at once, on the business day, and no dates are sent. Method pix waits for the approval of another person.',
  access: can('create', 'CashTransfer'),
  status: 201,
  idempotency: 'required',
  errors: [
    ...bookingErrors,
    'reference_not_found',
    'account_not_usable',
    'currency_mismatch',
    'pix_not_ready',
    'pix_send_unsupported',
    'br_code_invalid',
  ],
  body: Obj({
    fromAccountId: Uuid,
    toAccountId: Opt(Uuid),
    payee: Opt(Payee),
    method: Method,
    amount: Money,
    fee: Opt(Amount),
    sentOn: Opt(Day),
    receivedOn: Opt(Day),
    scheduledOn: Opt(Day),
    purpose: Words(1, 140),
    accountId: Opt(Uuid),
    costCenterId: Opt(Uuid),
  }),
  example: {
    fromAccountId: sampleId('bankAccountId'),
    toAccountId: sampleId('safeAccountId'),
    method: 'manual',
    amount: 1_000,
    purpose: 'Change for the registers',
  },
  returns: CashTransfer,
  handle: async ({ trx, body, admission, caller }) => {
    const id = await createTransfer(trx, body, {
      ownOf: sightOf(admission, caller, 'CashTransfer', 'create').ownOf,
      scope: admission.scope('create', 'CashTransfer'),
      judge: (one) => admission.check('create', 'CashTransfer', one),
    })
    return readTransfer(trx, id, sightOf(admission, caller, 'CashTransfer', 'read'))
  },
})

const read = route({
  id: 'cashTransfers.read',
  method: 'GET',
  path: `${path}/transfers/:cashTransferId`,
  summary: 'Read a transfer with its attempts',
  access: can('read', 'CashTransfer'),
  returns: CashTransfer,
  handle: async ({ trx, params, admission, caller }) => {
    const transfer = await readTransfer(trx, params.cashTransferId, sightOf(admission, caller, 'CashTransfer', 'read'))
    admission.check('read', 'CashTransfer', asJudged('cash_transfer', transfer.id, transfer))
    return transfer
  },
})

const approve = transfers.act('approve', {
  summary: 'Approve an outgoing Pix that somebody else requested',
  errors: ['self_approval', 'key_not_allowed', 'reauthentication_required', 'invalid_transition', 'cash_busy'],
  command: ({ trx, id, caller, expectedVersion: expected, request }) =>
    approveTransfer(trx, id, { expected, requireRecent: () => requireRecent(caller, request.receivedAt) }),
})

const confirm = transfers.act('confirm', {
  action: 'update',
  summary: 'Confirm arrival of money in transit',
  errors: [...bookingErrors, 'invalid_transition'],
  body: Obj({ receivedOn: Day }),
  example: { receivedOn: '2026-11-20' },
  command: ({ trx, id, body, expectedVersion: expected }) =>
    confirmTransfer(trx, id, { receivedOn: body.receivedOn, expected }),
})

const cancel = transfers.act('cancel', {
  action: 'update',
  summary: 'Cancel a transfer not sent, or undo a recorded one',
  description:
    'The sides of a recorded transfer are turned today; with a register on one side on its business day, in its session, while that is open.',
  errors: [...bookingErrors, 'invalid_transition', 'in_use', 'already_reversed', 'movement_reconciled'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The money was never moved' },
  command: ({ trx, id, body, expectedVersion: expected }) =>
    cancelTransfer(trx, id, { reason: trimmed(body.reason), expected }),
})

export const routes = [list, create, read, approve, confirm, cancel]
