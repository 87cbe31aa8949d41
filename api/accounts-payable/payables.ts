import { forbidden } from '../../config/errors.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
import { Bool, Day, List, Nullable, Obj, Opt, Sparse, Text, Uuid, Words } from '../../config/schema.ts'
import {
  approvePayable,
  changePayable,
  createPayable,
  listPayables,
  payableSorts,
  readPayable,
  rejectPayable,
  submitPayable,
  voidPayable,
} from '../../db/accounts-payable/index.ts'
import type { PayableShown } from '../../db/accounts-payable/index.ts'
import { maskDocument } from '../../db/documents/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { Payable, PayableListed } from './payable-schemas.ts'
import {
  billErrors,
  cardless,
  exempt,
  givenPayee,
  GivenLine,
  GivenWithholding,
  Kind,
  path,
  postingErrors,
  Reason,
  Status,
  Sum,
} from './schemas.ts'

const maskPayee = <Row extends { payee: PayableShown['payee'] }>(row: Row, admission: Admission): Row =>
  admission.isMasked('Payable') || admission.isMasked('Supplier')
    ? { ...row, payee: { ...row.payee, document: maskDocument(row.payee.document) } }
    : row

const GivenInstallment = Obj(
  {
    dueOn: Day,
    amount: Sum,
    boletoLine: Opt(Nullable(Text(47, 48, { pattern: '^[0-9]{47,48}$', ...exempt }))),
    pixCode: Opt(Nullable(Text(20, 1_000, cardless))),
  },
  { title: 'PayableInstallmentInput' },
)
const fields = {
  propertyId: Opt(Nullable(Uuid)),
  ...givenPayee,
  kind: Kind,
  number: Opt(Nullable(Words(1, 40, cardless))),
  series: Opt(Text(0, 10)),
  fiscalKey: Opt(Nullable(Text(44, 44, { pattern: '^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$', ...exempt }))),
  issuedOn: Day,
  postingOn: Opt(Day),
  lines: List(GivenLine, { min: 1, max: 200 }),
  withholdings: Opt(List(GivenWithholding, { max: 20 })),
  installments: Opt(List(GivenInstallment, { min: 1, max: 120 })),
  notes: Opt(Text(0, 2_000)),
}

const payables = resource({
  name: 'payables',
  subject: 'Payable',
  table: 'payable',
  path: `${path}/payables`,
  param: 'payableId',
  record: Payable,
  lockedBy: 'command',
  read: readPayable,
  show: (row, admission) => maskPayee(row as never, admission),
})

const list = payables.list({
  summary: 'List payables by state, payee, due date or approver',
  description: '`awaitingMe` finds what the caller may give an approval now. `q` finds numbers and payees.',
  query: {
    status: Opt(Status),
    supplierId: Opt(Uuid),
    payeeDocument: Opt(Text(1, 40, exempt)),
    kind: Opt(Kind),
    propertyId: Opt(Uuid),
    bookId: Opt(Uuid),
    dueFrom: Opt(Day),
    dueTo: Opt(Day),
    issuedFrom: Opt(Day),
    issuedTo: Opt(Day),
    number: Opt(Text(1, 40, exempt)),
    costCenterId: Opt(Uuid),
    awaitingMe: Opt(Bool),
    onHold: Opt(Bool),
    q: Opt(Text(1, 120, exempt)),
  },
  sort: { by: Object.keys(payableSorts) as (keyof typeof payableSorts)[], usual: '-issuedOn' },
  of: PayableListed,
  example: { status: 'awaiting_approval' },
  find: async ({ trx, filter, admission }) => {
    const { total, rows } = await listPayables(trx, filter, { role: admission.role })
    return { total, rows: rows.map((row) => maskPayee(row as never, admission)) }
  },
})

/** Receptionists record bills and other payables, the stock what it has ordered. */
const refuseKind = (
  { role }: Admission,
  { kind, lines }: { kind: string; lines: readonly { purchaseOrderLineId?: string | undefined }[] },
) => {
  if (role === 'receptionist' && kind !== 'bill' && kind !== 'other')
    throw forbidden('forbidden', 'Your role records bills and other payables alone')
  if (role === 'stock' && lines.some(({ purchaseOrderLineId }) => !purchaseOrderLineId))
    throw forbidden('forbidden', 'Your role records bills of orders alone')
}

const create = payables.create({
  summary: 'Record a bill with lines, withholdings and installments',
  description:
    'The gross is the sum of the lines; withholdings are a share of it; installments add up to the rest. Without installments one is due after the days of the supplier. `submit` asks for approval at once. The same payee, number and series is a duplicate; without a number `warnings` name what looks the same.',
  errors: [...billErrors, 'attachment_required', 'not_received'],
  body: Obj({ bookId: Opt(Uuid), ...fields, submit: Opt(Bool) }),
  example: {
    bookId: sampleId('bookId'),
    payeeName: 'Padaria Pão Doce',
    kind: 'bill',
    issuedOn: sampleDay(0),
    lines: [{ description: 'Bread of October', accountId: sampleId('expenseAccountId'), amount: 125_000 }],
  },
  command: async ({ trx, body, admission }) => {
    const { submit = false, ...given } = body
    admission.check('create', 'Payable', { propertyId: given.propertyId ?? null, createdBy: null })
    refuseKind(admission, given)
    const id = await createPayable(trx, given, { features: admission.features })
    if (submit) await submitPayable(trx, id, null)
    return id
  },
})

const read = payables.read({ summary: 'Read a payable with approvals, payments and attachments' })

const change = payables.change({
  summary: 'Change a draft, or reschedule what is unpaid',
  description:
    'Of a draft every field; lines, withholdings and installments are replaced whole. After approval notes, holds, and `installments`, which then divide what is not paid: one of the day and open amount of another keeps its slip and Pix code, unless it names them or has null.',
  errors: [...billErrors, 'invalid_transition'],
  body: Sparse(Obj({ ...fields, onHold: Bool, holdReason: Nullable(Words(3, 500)) })),
  example: { notes: 'Paid by transfer' },
  command: ({ trx, id, body, admission, expectedVersion }) => {
    if (body.lines && admission.role === 'stock') refuseKind(admission, { kind: 'bill', lines: body.lines })
    return changePayable(trx, id, body, { features: admission.features, expectedVersion })
  },
})

const submit = payables.act('submit', {
  summary: 'Submit a draft for approval',
  description:
    'The band of the policy by the gross says how many approvals it needs; where it needs none it is approved.',
  action: 'update',
  errors: [...postingErrors, 'attachment_required', 'invalid_transition'],
  command: ({ trx, id, expectedVersion }) => submitPayable(trx, id, expectedVersion),
})

const approve = payables.act('approve', {
  summary: 'Give one approval; the last posts the liability',
  description:
    'By another user than who wrote, changed or submitted it, with a role of its band. A second approval of one user changes nothing.',
  errors: [...postingErrors, 'attachment_required', 'self_approval', 'key_not_allowed', 'invalid_transition'],
  body: Obj({ note: Opt(Words(1, 500)) }),
  example: {},
  command: ({ trx, id, body, admission, expectedVersion }) =>
    approvePayable(trx, id, { role: admission.role, expectedVersion }, body.note ?? null),
})

const reject = payables.act('reject', {
  summary: 'Return a payable to draft with a reason',
  action: 'update',
  errors: ['invalid_transition'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The lines are those of another bill' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    rejectPayable(trx, id, { role: admission.role, expectedVersion }, body.reason),
})

const voidOne = payables.act('void', {
  summary: 'Void a payable without payments',
  description: 'One that was approved is turned in the ledger today, or on its own day where that is later.',
  errors: ['invalid_transition', 'withholding_collected', 'in_use', 'period_missing', 'period_closed', 'date_locked'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The supplier sent it twice' },
  command: ({ trx, id, body, expectedVersion }) => voidPayable(trx, id, body.reason, expectedVersion),
})

export const routes = [list, create, read, change, submit, approve, reject, voidOne]
