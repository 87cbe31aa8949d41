import { forbidden, unprocessable } from '../../config/errors.ts'
import { receivableStatuses } from '../../config/receivables.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
import { Bool, Day, List, Nullable, Obj, OneOf, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import {
  billFromFolios,
  changeReceivable,
  createReceivable,
  issueReceivable,
  listReceivables,
  readReceivable,
  receivableSorts,
  reinstateReceivable,
  statusOfReceivable,
  voidReceivable,
  writeOffReceivable,
} from '../../db/accounts-receivable/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { GivenLine, Receivable, ReceivableListed } from './receivable-schemas.ts'
import { cardless, CreditOverride, exempt, GivenInstallment, Kind, path, Reason, Status } from './schemas.ts'

const fields = {
  propertyId: Opt(Nullable(Uuid)),
  customerId: Uuid,
  issuedOn: Opt(Day),
  lines: List(GivenLine, { min: 1, max: 200 }),
  installments: Opt(List(GivenInstallment, { min: 1, max: 60 })),
  customerReference: Opt(Text(0, 60, cardless)),
  notes: Opt(Text(0, 2_000)),
}
/** Errors of what a document names, is dated by and adds up to. */
const documentErrors = [
  'reference_not_found',
  'customer_archived',
  'currency_mismatch',
  'account_not_usable',
  'lines_not_equal',
  'installments_not_equal',
  'total_too_large',
  'date_out_of_range',
] as const
/** Errors of its way into the books, and of the credit of the customer. */
const issueErrors = [
  'receivable_busy',
  'customer_on_hold',
  'credit_limit_exceeded',
  'period_missing',
  'period_closed',
  'date_locked',
] as const

/** Refuses an override of the credit limit by callers who may not give one, before the limit is looked at. */
const refuseOverride = (admission: Admission, override: object | undefined) => {
  if (override && !admission.can('override', 'Customer'))
    throw forbidden('forbidden', 'Your role does not bill beyond the limit of a customer', [
      { field: 'override', message: 'needs the permission to override customers' },
    ])
}

const receivables = resource({
  name: 'receivables',
  subject: 'Receivable',
  table: 'receivable',
  path: `${path}/receivables`,
  param: 'receivableId',
  record: Receivable,
  lockedBy: 'command',
  read: readReceivable,
  show: (row) => row as never,
})

const list = receivables.list({
  summary: 'List receivables by state, customer, due date or folio',
  description: '`number` is that shown, with its prefix. `q` finds numbers, references and customers.',
  query: {
    status: Opt(Status),
    kind: Opt(Kind),
    customerId: Opt(Uuid),
    propertyId: Opt(Uuid),
    bookId: Opt(Uuid),
    issuedFrom: Opt(Day),
    issuedTo: Opt(Day),
    dueFrom: Opt(Day),
    dueTo: Opt(Day),
    overdue: Opt(Bool),
    folioId: Opt(Uuid),
    number: Opt(Text(1, 30, exempt)),
    q: Opt(Text(1, 120, exempt)),
  },
  sort: { by: Object.keys(receivableSorts) as (keyof typeof receivableSorts)[], usual: '-issuedOn' },
  of: ReceivableListed,
  example: { status: 'issued' },
  find: ({ trx, filter }) => listReceivables(trx, filter) as never,
})

const create = receivables.create({
  summary: 'Draft a receivable with lines and installments',
  description:
    'The total is the sum of quantity × unit amount, each half-up; the tax of a line is inside its amount, by the rate of the day of issue. Without installments one is due after the days of the customer. `issue` issues it at once, and its number follows. Kind opening is a debt from before the start, without a number, on the account of the opening difference.',
  errors: [...documentErrors, ...issueErrors],
  body: Obj({ bookId: Opt(Uuid), kind: Opt(OneOf(['invoice', 'opening'])), ...fields, issue: Opt(Bool) }),
  example: {
    bookId: sampleId('bookId'),
    customerId: sampleId('customerId'),
    issuedOn: sampleDay(0),
    lines: [{ description: 'Hall for a day', unitAmount: 250_000, accountId: sampleId('incomeAccountId') }],
  },
  command: async ({ trx, body, admission }) => {
    const { issue = false, ...given } = body
    admission.check('create', 'Receivable', { propertyId: given.propertyId ?? null, createdBy: null })
    const id = await createReceivable(trx, given)
    if (issue) {
      if (!admission.can('issue', 'Receivable')) throw forbidden()
      await issueReceivable(trx, id, null, null)
    }
    return id
  },
})

const fromFolios = route({
  id: 'receivables.fromFolios',
  method: 'POST',
  path: `${path}/receivables/from-folios`,
  summary: 'Bill open folios and unbilled stays as one invoice',
  description:
    'Up to 200 of one customer, book and currency, all or none: folios that it pays and that owe something, and bills of stays that wait, by `receivableIds` or all that ended up to `unbilledUntil`. The folios are closed, the bills taken up. `issuedOn` is not before the business day of the folios, and not before the day on which a stay that waits ended.',
  access: can('bill', 'Receivable'),
  status: 201,
  body: Obj({
    customerId: Uuid,
    folioIds: Opt(List(Uuid, { min: 1, max: 200 }, { uniqueItems: true })),
    receivableIds: Opt(List(Uuid, { min: 1, max: 200 }, { uniqueItems: true })),
    unbilledUntil: Opt(Day),
    issuedOn: Opt(Day),
    installments: fields.installments,
    customerReference: fields.customerReference,
    override: CreditOverride,
  }),
  example: { customerId: sampleId('billedCustomerId'), folioIds: [sampleId('billedFolioId')] },
  returns: Receivable,
  errors: [
    'reference_not_found',
    'customer_archived',
    'currency_mismatch',
    'installments_not_equal',
    'date_out_of_range',
    ...issueErrors,
    'not_found',
    'folio_already_billed',
    'folio_busy',
    'folio_closed',
    'folio_not_billable',
    'direct_billing_not_allowed',
    'payment_in_progress',
    'invalid_transition',
    'business_day_changed',
  ],
  handle: async ({ trx, body, admission }) => {
    refuseOverride(admission, body.override)
    const id = await billFromFolios(trx, body)
    if (id === null)
      throw unprocessable('reference_not_found', 'Nothing of the customer waits to be billed', [
        { field: 'unbilledUntil', message: 'no stay waits that ended up to this day' },
      ])
    const made = await readReceivable(trx, id)
    // Who works in some houses bills folios of those alone.
    for (const { propertyId } of made.lines) admission.check('bill', 'Receivable', { propertyId, createdBy: null })
    return made as never
  },
})

const read = waitable({
  id: 'receivables.read',
  path: receivables.one,
  summary: 'Read a receivable with installments, allocations and notices',
  description: '`since` with `waitSeconds` waits until its status is another one, such as for the number.',
  access: can('read', 'Receivable'),
  part: { resource: 'receivables', verb: 'read' },
  returns: Receivable,
  since: [...receivableStatuses] as [string, ...string[]],
  read: ({ trx, params }) => statusOfReceivable(trx, params.receivableId),
  find: async ({ trx, params, admission }) => {
    const found = await readReceivable(trx, params.receivableId)
    admission.check('read', 'Receivable', found)
    return found as never
  },
})

const change = receivables.change({
  summary: 'Change a draft, or reschedule what is unpaid',
  description:
    'Of a draft every field; lines and installments are replaced whole. Of an issued document notes, `customerReference`, `dunningPausedUntil`, `promisedOn`, and `installments`, which then divide what is not paid.',
  errors: [...documentErrors, 'receivable_busy', 'invalid_transition'],
  body: Sparse(Obj({ ...fields, dunningPausedUntil: Nullable(Day), promisedOn: Nullable(Day) })),
  example: { notes: 'Sent to the secretary, too' },
  command: ({ trx, id, body, expectedVersion }) => changeReceivable(trx, id, body, expectedVersion),
})

const issue = receivables.act('issue', {
  summary: 'Issue a draft; a gapless number follows',
  description:
    'The number is given by a job within seconds; until then the status is `issuing`. `override` bills beyond the limit, with a reason.',
  errors: [
    'invalid_transition',
    'reference_not_found',
    'customer_archived',
    'currency_mismatch',
    'account_not_usable',
    'installments_not_equal',
    'date_out_of_range',
    ...issueErrors,
  ],
  body: Obj({ override: CreditOverride }),
  example: {},
  command: ({ trx, id, body, admission, expectedVersion }) => {
    refuseOverride(admission, body.override)
    return issueReceivable(trx, id, body.override, expectedVersion)
  },
})

const voidOne = receivables.act('void', {
  summary: 'Void an unpaid receivable in its open period',
  description: 'The number is kept. Folios are open again, and bills of stays that it took up wait again.',
  errors: [
    'receivable_busy',
    'invalid_transition',
    'folio_busy',
    'business_day_changed',
    'period_missing',
    'period_closed',
    'date_locked',
    'fiscal_document_alive',
  ],
  body: Obj({ reason: Reason }),
  example: { reason: 'Billed to the wrong firm' },
  command: ({ trx, id, body, expectedVersion }) => voidReceivable(trx, id, body.reason, expectedVersion),
})

const writeOff = receivables.act('write-off', {
  summary: 'Write off what will not be paid',
  description: 'The whole open amount, today. Above the threshold of the book not by who issued it.',
  errors: [
    'receivable_busy',
    'invalid_transition',
    'self_approval',
    'key_not_allowed',
    'period_missing',
    'period_closed',
    'date_locked',
  ],
  body: Obj({ reason: Reason }),
  example: { reason: 'The firm is insolvent' },
  command: ({ trx, id, body, expectedVersion }) => writeOffReceivable(trx, id, body.reason, expectedVersion),
})

const reinstate = receivables.act('reinstate', {
  summary: 'Take a write-off back, wholly',
  description: 'Today; the document is open again, and can be paid.',
  action: 'write_off',
  errors: ['receivable_busy', 'invalid_transition', 'period_missing', 'period_closed', 'date_locked'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The firm pays after all' },
  command: ({ trx, id, body, expectedVersion }) => reinstateReceivable(trx, id, body.reason, expectedVersion),
})

export const routes = [list, create, fromFolios, read, change, issue, voidOne, writeOff, reinstate]
