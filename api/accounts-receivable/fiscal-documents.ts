import { fiscalAdapters, fiscalOperations, fiscalOutcomes, fiscalStatuses } from '../../config/fiscal.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Count,
  Currency,
  Day,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PostalAddress,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  cancelFiscal,
  createFiscalDocument,
  fiscalSorts,
  listFiscal,
  readFiscalDocument,
  retryFiscal,
  statusOfFiscal,
} from '../../db/accounts-receivable/index.ts'
import type { FiscalShown } from '../../db/accounts-receivable/index.ts'
import { maskDocument } from '../../db/documents/index.ts'
import { maskEmail } from '../../db/guests/index.ts'
import type { Admission } from '../lib/caller.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { waitable } from '../lib/waitable.ts'

const path = '/api/tenants/:tenantId/accounts-receivable/fiscal-documents'
const exempt = { cardNumber: 'exempt' }

const listed = {
  id: Uuid,
  kind: OneOf(['nfse']),
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  receivableId: Nullable(Uuid),
  folioId: Nullable(Uuid),
  adapter: OneOf([...fiscalAdapters]),
  status: OneOf([...fiscalStatuses]),
  series: Text(0, 5),
  rpsNumber: Nullable(Count),
  total: Amount,
  currency: Currency,
  authorityNumber: Nullable(Text(1, 60, exempt)),
  verificationCode: Nullable(Text(1, 100, exempt)),
  accessKey: Nullable(Text(1, 100, exempt)),
  authorisedAt: Nullable(Instant),
  documentUrl: Nullable(Text(1, 2_000)),
  xmlBlobId: Nullable(Uuid),
  rejection: Nullable(Obj({ code: Text(0, 60), message: Text(0, 500) })),
  cancelReason: Nullable(Text(0, 500)),
  nextReadAt: Nullable(Instant),
  attempts: Count,
  version: Int(1, 2_147_483_647),
  createdAt: Instant,
  updatedAt: Instant,
}
const Code = Nullable(Text(0, 30))
const Snapshot = Obj(
  {
    issuer: Obj({
      name: Text(0, 200),
      countryCode: Text(0, 2),
      document: Nullable(Text(0, 40, exempt)),
      cityRegistration: Nullable(Text(0, 30, exempt)),
    }),
    taker: Obj({
      name: Text(0, 400),
      countryCode: Text(0, 2),
      document: Nullable(Text(0, 40, exempt)),
      address: Nullable(PostalAddress),
      email: Nullable(Text(0, 254)),
    }),
    service: Obj({ code: Code, nationalCode: Code, nbsCode: Code, cityCode: Code, text: Text(0, 1_000) }),
    amounts: Obj({
      total: Amount,
      deductions: Amount,
      base: Amount,
      issRate: Int(0, 10_000),
      iss: Amount,
      withheld: Amount,
      ibsCbs: Nullable(Obj({ base: Amount, ibs: Amount, cbs: Amount })),
    }),
  },
  { title: 'FiscalSnapshot' },
)
const Exchange = Obj(
  {
    at: Instant,
    operation: OneOf([...fiscalOperations]),
    outcome: OneOf([...fiscalOutcomes]),
    code: Nullable(Text(0, 100)),
  },
  { title: 'FiscalExchange' },
)
const FiscalDocumentListed = Obj(listed, { title: 'FiscalDocumentListed' })
const FiscalDocument = Obj(
  { ...listed, snapshot: Snapshot, log: List(Exchange, { max: 200 }) },
  { title: 'FiscalDocument' },
)

/** Hides the taker of the service from callers who may not see customers. */
const shown = (found: FiscalShown, admission: Admission): FiscalShown => {
  if (!admission.isMasked('Customer') && !admission.isMasked('Guest')) return found
  const { taker } = found.snapshot
  const masked = {
    ...taker,
    document: maskDocument(taker.document),
    email: taker.email === null ? null : maskEmail(taker.email),
    address: null,
  }
  return { ...found, snapshot: { ...found.snapshot, taker: masked } }
}

const documents = resource({
  name: 'fiscalDocuments',
  subject: 'FiscalDocument',
  table: 'fiscal_document',
  path,
  param: 'fiscalDocumentId',
  record: FiscalDocument,
  lockedBy: 'command',
  read: readFiscalDocument,
  show: (found, admission) => shown(found, admission) as never,
})

const list = documents.list({
  summary: 'List fiscal documents by state or source',
  description: '`q` is a number, access key or verification code of the authority.',
  query: {
    status: Opt(OneOf([...fiscalStatuses])),
    receivableId: Opt(Uuid),
    folioId: Opt(Uuid),
    bookId: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
    rpsNumber: Opt(Count),
    q: Opt(Text(1, 100, exempt)),
  },
  sort: { by: Object.keys(fiscalSorts) as (keyof typeof fiscalSorts)[], usual: '-createdAt' },
  of: FiscalDocumentListed,
  example: { status: 'rejected' },
  find: ({ trx, filter }) => listFiscal(trx, filter) as never,
})

const sourceErrors = [
  'invalid_transition',
  'fiscal_not_configured',
  'taker_incomplete',
  'fiscal_document_alive',
] as const

const create = documents.create({
  summary: 'Request a service invoice for a receivable or folio',
  description:
    'Of an issued receivable, or of a closed folio that no customer was billed. It is queued, given its number and sent; `GET` with `waitSeconds` waits for the answer of the authority.',
  errors: [...sourceErrors, 'reference_not_found'],
  body: Obj({ receivableId: Opt(Uuid), folioId: Opt(Uuid), serviceText: Opt(Words(1, 1_000)) }),
  example: { receivableId: sampleId('billedReceivableId') },
  command: ({ trx, body }) => createFiscalDocument(trx, body),
})

const read = waitable({
  id: 'fiscalDocuments.read',
  path: documents.one,
  summary: 'Read a fiscal document with its exchange log',
  description: '`since` with `waitSeconds` waits until its status is another one.',
  access: can('read', 'FiscalDocument'),
  part: { resource: 'fiscalDocuments', verb: 'read' },
  returns: FiscalDocument,
  since: [...fiscalStatuses] as [string, ...string[]],
  read: ({ trx, params }) => statusOfFiscal(trx, params.fiscalDocumentId),
  find: async ({ trx, params, admission }) => {
    const found = await readFiscalDocument(trx, params.fiscalDocumentId)
    admission.check('read', 'FiscalDocument', { propertyId: found.propertyId })
    return shown(found, admission) as never
  },
})

const retry = documents.act('retry', {
  summary: 'Send a rejected document again after correction',
  description: 'It keeps its number, and says what its source and the book say now.',
  action: 'update',
  errors: sourceErrors,
  command: ({ trx, id, expectedVersion }) => retryFiscal(trx, id, expectedVersion),
})

const cancel = documents.act('cancel', {
  summary: 'Ask the authority to cancel a fiscal document',
  description:
    'Within the time that the authority allows; it may refuse, and the document stays authorised. A rejected document is cancelled at once, and its number stays used.',
  action: 'void',
  errors: ['invalid_transition', 'cancel_window_passed'],
  body: Obj({ reason: Words(3, 500) }),
  example: { reason: 'Billed to the wrong customer' },
  command: ({ trx, id, body, expectedVersion }) => cancelFiscal(trx, id, body.reason, expectedVersion),
})

export const routes = [list, create, read, retry, cancel]
