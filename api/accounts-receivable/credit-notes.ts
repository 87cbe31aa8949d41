import { creditNoteStatuses } from '../../config/receipts.ts'
import { sampleId } from '../../config/samples.ts'
import { Amount, Currency, Day, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { createCreditNote, listCreditNotes, readCreditNote } from '../../db/accounts-receivable/index.ts'
import { stamps } from '../financial/schemas.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { resource } from '../lib/resource.ts'
import { path, Sum } from './receipt-schemas.ts'

const head = {
  id: Uuid,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  receivableId: Uuid,
  customerId: Uuid,
  issuedOn: Day,
  reason: Text(0, 500),
  currency: Currency,
  amount: Amount,
  /** The amount taken off what was open. The rest, `excess`, was paid before and becomes a receipt. */
  applied: Amount,
  excess: Amount,
  series: Nullable(Text(1, 40)),
  number: Nullable(Int(1, 2_147_483_647)),
  numberPrefix: Text(0, 10),
  status: OneOf([...creditNoteStatuses]),
  createdBy: Nullable(Uuid),
  ...stamps,
}
/** Of 200 that are named, and 200 of the invoice, each is cut in two at most. */
const mostLines = 800
const CreditNote = Obj(
  {
    ...head,
    lines: List(
      Obj(
        {
          lineNo: Int(1, mostLines),
          description: Text(0, 200),
          accountId: Uuid,
          amount: Amount,
          taxCodeId: Nullable(Uuid),
          taxAmount: Amount,
          propertyId: Nullable(Uuid),
          costCenterId: Nullable(Uuid),
        },
        { title: 'CreditNoteLine' },
      ),
      { max: mostLines },
    ),
    applications: List(Obj({ installmentId: Uuid, amount: Amount }), { max: 200 }),
    receiptId: Nullable(Uuid),
  },
  { title: 'CreditNote' },
)

const creditNotes = resource({
  name: 'creditNotes',
  subject: 'CreditNote',
  table: 'credit_note',
  path: `${path}/credit-notes`,
  param: 'creditNoteId',
  record: CreditNote,
  lockedBy: 'command',
  read: readCreditNote as never,
  show: (found) => found as never,
})

const list = creditNotes.list({
  summary: 'List credit notes',
  query: { customerId: Opt(Uuid), receivableId: Opt(Uuid), bookId: Opt(Uuid), from: Opt(Day), to: Opt(Day) },
  of: Obj(head, { title: 'CreditNoteListed' }),
  example: { customerId: sampleId('customerId') },
  find: ({ trx, filter }) => listCreditNotes(trx, filter) as never,
})

const create = creditNotes.create({
  summary: 'Credit an issued receivable, in part or whole',
  description:
    'Without `amount` all that can be credited. Open installments fall, the last due first; what was paid already becomes a receipt of the customer, to allocate or give back. Without `lines` the lines of the invoice are credited, shared by amount, with their taxes. A credit note is final; its number follows.',
  idempotency: 'required',
  errors: [
    'not_found',
    'invalid_transition',
    'receivable_busy',
    'credit_exceeds_invoice',
    'lines_not_equal',
    'account_not_usable',
    'reference_not_found',
    'date_out_of_range',
    'period_missing',
    'period_closed',
    'date_locked',
  ],
  body: Obj({
    receivableId: Uuid,
    amount: Opt(Sum),
    lines: Opt(List(Obj({ accountId: Uuid, amount: Sum }), { min: 1, max: 200 })),
    reason: Reason,
    issuedOn: Opt(Day),
  }),
  example: { receivableId: sampleId('receivableId'), amount: 100, reason: 'Breakfast was not served' },
  command: ({ trx, body, admission }) =>
    createCreditNote(trx, { ...body, reason: trimmed(body.reason) }, (place) =>
      admission.check('create', 'CreditNote', place),
    ),
})

const read = creditNotes.read({ summary: 'Read a credit note' })

export const routes = [list, create, read]
