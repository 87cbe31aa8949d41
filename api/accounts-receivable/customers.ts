import { forbidden } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Email,
  Int,
  Language,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { billings } from '../../config/receivables.ts'
import { maskEmail } from '../../db/guests/index.ts'
import { maskParty } from '../../db/documents/index.ts'
import {
  archiveCustomer,
  changeCustomer,
  createCustomer,
  listCustomers,
  readCustomer,
  readStatement,
  restoreCustomer,
} from '../../db/accounts-receivable/index.ts'
import type { CustomerShown } from '../../db/accounts-receivable/index.ts'
import { partyFields, partyShown } from '../documents/parties.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { CustomerKind, exempt, path, stamps } from './schemas.ts'

const Status = OneOf(['active', 'archived'])
const Limit = Int(0, 10_000_000_000_000)
const fields = {
  kind: CustomerKind,
  ...partyFields,
  language: Opt(Language),
  invoiceEmails: Opt(List(Email, { max: 10 }, { uniqueItems: true })),
  guestId: Opt(Nullable(Uuid)),
  termDays: Opt(Int(0, 365)),
  billing: Opt(OneOf([...billings])),
  billingDay: Opt(Int(1, 28)),
  currency: Currency,
  creditLimit: Opt(Nullable(Limit)),
  onHold: Opt(Bool),
  holdReason: Opt(Nullable(Words(3, 500))),
  withholdingTaxCodeIds: Opt(List(Uuid, { max: 20 }, { uniqueItems: true })),
  dunningExempt: Opt(Bool),
}
const listed = {
  id: Uuid,
  kind: CustomerKind,
  legalName: Text(1, 400),
  tradeName: Text(0, 400),
  countryCode: partyShown.countryCode,
  document: Nullable(Text(1, 40)),
  language: Language,
  guestId: Nullable(Uuid),
  termDays: Int(0, 365),
  billing: OneOf([...billings]),
  billingDay: Int(1, 28),
  currency: Currency,
  /** Null is no limit, and 0 no direct billing. */
  creditLimit: Nullable(Amount),
  /** The open amount of documents between unbilled and partly paid. */
  exposure: Amount,
  onHold: Bool,
  holdReason: Nullable(Text(0, 500)),
  withholdingTaxCodeIds: List(Uuid, { max: 20 }),
  dunningExempt: Bool,
  status: Status,
  ...stamps,
}
const CustomerSummary = Obj(listed, { title: 'CustomerSummary' })
const Customer = Obj(
  {
    ...listed,
    ...partyShown,
    invoiceEmails: List(Text(0, 254), { max: 10 }),
    /** Open amounts whose day has passed, bills of stays that wait, and money of receipts that is there. */
    overdue: Amount,
    unbilled: Amount,
    available: Amount,
  },
  { title: 'Customer' },
)

const contactFields = ['email', 'phone', 'address', 'contacts', 'invoiceEmails']

/** Name and number that the law keeps of an erased customer are for those who may reveal customers. */
const show = (customer: CustomerShown, admission: Admission): CustomerShown => {
  const shown = admission.can('reveal', 'Customer') ? { ...customer, ...customer.kept } : customer
  return admission.isMasked('Customer')
    ? { ...maskParty(shown), invoiceEmails: shown.invoiceEmails.map((one) => maskEmail(one)) }
    : shown
}

const customers = resource({
  name: 'customers',
  subject: 'Customer',
  table: 'customer',
  path: `${path}/customers`,
  param: 'customerId',
  record: Customer,
  lockedBy: 'command',
  read: readCustomer,
  show,
})

const list = customers.list({
  summary: 'List and search customers with their exposure',
  description:
    '`q` finds names without accents, and digits of the tax number. `overdue` finds those who owe something whose day has passed.',
  query: {
    q: Opt(Text(1, 120, exempt)),
    kind: Opt(CustomerKind),
    status: Opt(Status),
    onHold: Opt(Bool),
    overdue: Opt(Bool),
    guestId: Opt(Uuid),
  },
  of: CustomerSummary,
  example: { status: 'active' },
  find: async ({ trx, filter, admission }) => {
    const { total, rows } = await listCustomers(trx, filter)
    if (!admission.isMasked('Customer')) return { total, rows }
    const hidden = { email: null, phone: null, address: null, contacts: [] }
    return { total, rows: rows.map((row) => maskParty({ ...row, ...hidden })) }
  },
})

/** Roles that keep relations change how a customer is reached, and nothing of what it owes. */
const refuseBeyondContacts = (admission: Admission, sent: object, action: 'create' | 'update') => {
  if (admission.role !== 'relations') return
  const basic =
    action === 'create'
      ? ['kind', 'legalName', 'tradeName', 'countryCode', 'document', 'language', 'currency', 'guestId']
      : []
  const beyond = Object.keys(sent).filter((field) => !contactFields.includes(field) && !basic.includes(field))
  if (beyond.length > 0)
    throw forbidden(
      'forbidden',
      'Your role changes contacts of customers alone',
      beyond.map((field) => ({ field, message: 'is not yours to change' })),
    )
}

const create = customers.create({
  summary: 'Create a billing customer',
  description:
    'A tax number of Brazil is a CNPJ, of a person a CPF; its check digits are looked at. `creditLimit` null is no limit, and 0 no direct billing. With `billing: monthly` stays wait as unbilled and become one invoice on `billingDay`. A company points here by its `customerId`.',
  errors: ['duplicate_customer', 'guest_erased', 'reference_not_found'],
  body: Obj(fields),
  example: {
    kind: 'company',
    legalName: 'Engenharia do Vale S.A.',
    email: 'contas@engenharia.example',
    currency: 'BRL',
    creditLimit: 5_000_000,
  },
  command: ({ trx, body, admission }) => {
    refuseBeyondContacts(admission, body, 'create')
    return createCustomer(trx, body)
  },
})

const read = customers.read({ summary: 'Read a customer with limit, exposure and overdue total' })

const change = customers.change({
  summary: 'Change a customer, its credit limit or credit hold',
  description:
    'A lowered limit stops new bills alone. Kind and currency are fixed after the first document that is no draft. Contacts are replaced whole.',
  errors: [
    'duplicate_customer',
    'guest_erased',
    'reference_not_found',
    'locked_field',
    'receivable_busy',
    'invalid_transition',
  ],
  body: Sparse(Obj(fields)),
  example: { termDays: 21 },
  command: async ({ trx, id, body, admission, expectedVersion }) => {
    refuseBeyondContacts(admission, body, 'update')
    await changeCustomer(trx, id, body, expectedVersion)
  },
})

const archive = customers.act('archive', {
  summary: 'Retire a customer with nothing open',
  action: 'delete',
  errors: ['customer_not_empty', 'receivable_busy', 'invalid_transition'],
  command: ({ trx, id, expectedVersion }) => archiveCustomer(trx, id, expectedVersion),
})

const restore = customers.act('restore', {
  summary: 'Bring an archived customer back',
  action: 'update',
  errors: ['receivable_busy', 'invalid_transition'],
  command: ({ trx, id, expectedVersion }) => restoreCustomer(trx, id, expectedVersion),
})

const statement = route({
  id: 'customers.statement',
  method: 'GET',
  path: `${customers.one}/statement`,
  summary: 'Read invoices, receipts, credits and balance over dates',
  description:
    '366 days at most; the year up to today unless said. `debit` is owed more, `credit` owed less; a receipt is told once for each allocation. `unbilled` and `available` are those of the last day.',
  access: can('read', 'Customer'),
  query: Obj({ bookId: Opt(Uuid), from: Opt(Day), to: Opt(Day) }),
  example: { bookId: sampleId('bookId'), from: '2026-01-01', to: '2026-06-30' },
  returns: Obj(
    {
      bookId: Uuid,
      currency: Currency,
      from: Day,
      to: Day,
      opening: SignedAmount,
      entries: List(
        Obj({
          on: Day,
          type: OneOf([
            'invoice',
            'voided',
            'credit_note',
            'receipt',
            'allocation_reversed',
            'write_off',
            'reinstated',
          ]),
          id: Uuid,
          number: Nullable(Text(0, 100)),
          debit: Amount,
          credit: Amount,
          balance: SignedAmount,
        }),
        { max: 2_000 },
      ),
      closing: SignedAmount,
      unbilled: Amount,
      available: SignedAmount,
      open: List(Obj({ installmentId: Uuid, number: Nullable(Text(0, 100)), dueOn: Day, open: SignedAmount }), {
        max: 100_000,
      }),
    },
    { title: 'CustomerStatement' },
  ),
  errors: ['range_invalid', 'range_too_long', 'reference_not_found'],
  handle: ({ trx, params, query, admission }) =>
    readStatement(trx, params.customerId, query, admission.propertyIds) as never,
})

export const routes = [list, create, read, change, archive, restore, statement]
