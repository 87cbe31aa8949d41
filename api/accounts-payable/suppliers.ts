import { forbidden } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
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
import {
  archiveSupplier,
  changeSupplier,
  createSupplier,
  decideBankDetails,
  listSuppliers,
  lockSupplier,
  proposeBankDetails,
  readStatement,
  readSupplier,
  restoreSupplier,
} from '../../db/accounts-payable/index.ts'
import type { SupplierShown } from '../../db/accounts-payable/index.ts'
import { maskBankDetails, maskDocument, maskParty } from '../../db/documents/index.ts'
import { audit } from '../../db/lib/audit.ts'
import { BankDetails, DocumentNumber, partyFields, partyShown } from '../documents/parties.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { cardless, exempt, path, stamps } from './schemas.ts'

const Status = OneOf(['active', 'archived'])
const fields = {
  ...partyFields,
  stateRegistration: Opt(Text(0, 30, cardless)),
  cityRegistration: Opt(Text(0, 30, cardless)),
  termDays: Opt(Int(0, 365)),
  accountId: Opt(Nullable(Uuid)),
  costCenterId: Opt(Nullable(Uuid)),
  withholdingTaxCodeIds: Opt(List(Uuid, { max: 20 }, { uniqueItems: true })),
  paymentsBlocked: Opt(Bool),
  blockReason: Opt(Nullable(Words(3, 500))),
  notes: Opt(Text(0, 2_000)),
}
const Details = Obj(
  {
    details: BankDetails,
    holderName: Opt(Words(1, 200)),
    holderDocument: Opt(Nullable(DocumentNumber)),
    thirdPartyReason: Opt(Words(3, 500)),
  },
  { title: 'SupplierBankDetailsInput' },
)
const ShownDetails = Obj(
  {
    version: Int(1, 100_000),
    details: Obj({
      keyType: Opt(Text(1, 20)),
      key: Opt(Text(0, 120)),
      ispb: Opt(Text(0, 20)),
      branch: Opt(Text(0, 20)),
      number: Opt(Text(0, 40)),
      accountType: Opt(Text(1, 20)),
    }),
    holderName: Text(0, 400),
    holderDocument: Nullable(Text(1, 40)),
    thirdPartyReason: Nullable(Text(1, 500)),
    proposedBy: Uuid,
    approvedBy: Nullable(Uuid),
    approvedAt: Nullable(Instant),
    usableFrom: Nullable(Instant),
    selfApproved: Bool,
  },
  { title: 'SupplierBankDetails' },
)
const listed = {
  id: Uuid,
  legalName: Text(1, 400),
  tradeName: Text(0, 400),
  countryCode: partyShown.countryCode,
  document: Nullable(Text(1, 40)),
  stateRegistration: Text(0, 30),
  cityRegistration: Text(0, 30),
  termDays: Int(0, 365),
  accountId: Nullable(Uuid),
  costCenterId: Nullable(Uuid),
  withholdingTaxCodeIds: List(Uuid, { max: 20 }),
  paymentsBlocked: Bool,
  blockReason: Nullable(Text(0, 500)),
  notes: Text(0, 2_000),
  status: Status,
  ...stamps,
}
const SupplierSummary = Obj(listed, { title: 'SupplierSummary' })
const Supplier = Obj(
  {
    ...listed,
    ...partyShown,
    /** Those to which money goes now. */
    bankDetails: Nullable(ShownDetails),
    /** Those that wait for a decision. */
    pendingBankDetails: Nullable(ShownDetails),
    /** Those approved last, while they wait: they take the place of those in use at `usableFrom`. */
    waitingBankDetails: Nullable(ShownDetails),
    /** Open totals by currency. */
    totals: List(Obj({ currency: Currency, open: Amount, credits: Amount, advances: Amount }), { max: 200 }),
  },
  { title: 'Supplier' },
)

type Bank = NonNullable<SupplierShown['bankDetails']>
const maskBank = (details: Bank | null): Bank | null =>
  details && {
    ...details,
    details: maskBankDetails(details.details),
    holderDocument: maskDocument(details.holderDocument),
  }

/** Bank details are whole for roles that may reveal them; personal data are masked where the role sees them so. */
const show = (supplier: SupplierShown, admission: Admission): SupplierShown => {
  const seen = admission.isMasked('Supplier') ? maskParty(supplier) : supplier
  if (admission.can('reveal', 'Supplier')) return seen
  return {
    ...seen,
    bankDetails: maskBank(seen.bankDetails),
    pendingBankDetails: maskBank(seen.pendingBankDetails),
    waitingBankDetails: maskBank(seen.waitingBankDetails),
  }
}

const suppliers = resource({
  name: 'suppliers',
  subject: 'Supplier',
  table: 'supplier',
  path: `${path}/suppliers`,
  param: 'supplierId',
  record: Supplier,
  lockedBy: 'command',
  read: readSupplier,
  show,
})

const list = suppliers.list({
  summary: 'List and search suppliers',
  description: '`q` finds names without accents, and digits of the tax number.',
  query: { q: Opt(Text(1, 120, exempt)), status: Opt(Status), blocked: Opt(Bool) },
  of: SupplierSummary,
  example: { status: 'active' },
  find: async ({ trx, filter, admission }) => {
    const { total, rows } = await listSuppliers(trx, filter)
    if (!admission.isMasked('Supplier')) return { total, rows }
    const hidden = { email: null, phone: null, address: null, contacts: [] }
    return { total, rows: rows.map((row) => maskParty({ ...row, ...hidden })) }
  },
})

const create = suppliers.create({
  summary: 'Create a supplier',
  description: 'A tax number of Brazil is a CPF or a CNPJ, also with letters; its check digits are looked at.',
  errors: ['duplicate_supplier', 'reference_not_found'],
  body: Obj(fields),
  example: {
    legalName: 'Lavanderia Espuma Ltda',
    email: 'contas@lavanderia.example',
    termDays: 28,
  },
  command: ({ trx, body }) => createSupplier(trx, body),
})

const read = route({
  id: 'suppliers.read',
  method: 'GET',
  path: suppliers.one,
  summary: 'Read a supplier with terms and open totals',
  description: 'Bank details are whole for roles that may reveal them, and each such look is in the audit trail.',
  access: can('read', 'Supplier'),
  part: { resource: 'suppliers', verb: 'read' },
  returns: Supplier,
  handle: async ({ trx, params, admission }) => {
    const found = await readSupplier(trx, params.supplierId)
    const shown = found.bankDetails ?? found.pendingBankDetails ?? found.waitingBankDetails
    const isRevealed = admission.can('reveal', 'Supplier') && shown !== null
    if (isRevealed)
      await audit(trx, { action: 'supplier.reveal', subjectType: 'Supplier', subjectId: params.supplierId })
    return show(found, admission)
  },
})

const change = suppliers.change({
  summary: 'Change a supplier or propose new bank details',
  description:
    '`bankDetails` are proposed by owner, admin and finance with a recent proof of identity; they are `pendingBankDetails` until another person has approved them, and `waitingBankDetails` until the wait of the policy is over. Contacts are replaced whole.',
  errors: ['duplicate_supplier', 'reference_not_found', 'invalid_transition', 'reauthentication_required'],
  body: Sparse(Obj({ ...fields, bankDetails: Details })),
  example: { termDays: 21 },
  command: async ({ trx, id, body, admission, caller, request, expectedVersion }) => {
    const { bankDetails, ...rest } = body
    if (bankDetails) {
      if (!admission.can('approve', 'SupplierBankDetails')) throw forbidden()
      requireRecent(caller, request.receivedAt)
    }
    const supplier = await lockSupplier(trx, id, expectedVersion)
    await changeSupplier(trx, supplier, rest)
    if (bankDetails) await proposeBankDetails(trx, supplier, bankDetails)
  },
})

const archive = suppliers.act('archive', {
  summary: 'Retire a supplier with nothing open',
  action: 'delete',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id, expectedVersion }) => archiveSupplier(trx, id, expectedVersion),
})

const restore = suppliers.act('restore', {
  summary: 'Bring an archived supplier back',
  action: 'update',
  errors: ['invalid_transition'],
  command: ({ trx, id, expectedVersion }) => restoreSupplier(trx, id, expectedVersion),
})

const decide = route({
  id: 'suppliers.decideBankDetails',
  method: 'POST',
  path: `${suppliers.one}/bank-details/approve`,
  summary: 'Approve bank details that somebody else proposed',
  description: 'With a recent proof of identity. `version` is that of `pendingBankDetails`.',
  access: can('approve', 'SupplierBankDetails'),
  record: suppliers.lock,
  body: Obj({ version: Int(1, 100_000), decision: OneOf(['approve', 'reject']), note: Opt(Words(1, 500)) }),
  example: { version: 1, decision: 'approve' },
  returns: Supplier,
  errors: ['self_approval', 'key_not_allowed', 'reauthentication_required'],
  handle: async ({ trx, params, body, admission, caller, request, expectedVersion }) => {
    requireRecent(caller, request.receivedAt)
    const { version: number, ...rest } = body
    await decideBankDetails(trx, params.supplierId, { number, ...rest }, expectedVersion)
    return show(await readSupplier(trx, params.supplierId), admission)
  },
})

const statement = route({
  id: 'suppliers.statement',
  method: 'GET',
  path: `${suppliers.one}/statement`,
  summary: 'Read bills, credits, payments and balance over dates',
  description:
    '366 days at most; the year up to today unless said. `credit` is owed more, `debit` owed less; an advance changes the balance when it is set off.',
  access: can('read', 'Supplier'),
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
          type: OneOf(['bill', 'credit_note', 'payment', 'reversal', 'refund', 'advance']),
          id: Uuid,
          number: Nullable(Text(0, 100)),
          debit: Amount,
          credit: Amount,
          balance: SignedAmount,
        }),
        { max: 2_000 },
      ),
      closing: SignedAmount,
      open: List(Obj({ installmentId: Uuid, number: Nullable(Text(0, 100)), dueOn: Day, open: SignedAmount }), {
        max: 100_000,
      }),
    },
    { title: 'SupplierStatement' },
  ),
  errors: ['range_invalid', 'range_too_long', 'reference_not_found'],
  handle: ({ trx, params, query, admission }) =>
    readStatement(trx, params.supplierId, query, admission.propertyIds) as never,
})

export const routes = [list, create, read, change, archive, restore, decide, statement]
