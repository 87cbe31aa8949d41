import {
  Amount,
  Bool,
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
  PageQuery,
  SignedAmount,
  Text,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import { listEntries, readEntry } from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const kinds = OneOf(['standard', 'reversal', 'opening', 'closing'])
const head = {
  id: Uuid,
  sequence: Count,
  number: Nullable(Count),
  bookId: Uuid,
  journalId: Uuid,
  periodId: Uuid,
  postingDate: Day,
  currency: Currency,
  kind: kinds,
  reversesEntryId: Nullable(Uuid),
  reversedByEntryId: Nullable(Uuid),
  sourceType: Text(1, 80),
  sourceId: Uuid,
  sourceSeq: Int(0, 2_147_483_647),
  total: Amount,
  description: Text(1, 300),
  late: Bool,
  createdBy: Nullable(Uuid),
  approvedBy: Nullable(Uuid),
  selfApproved: Bool,
  createdAt: Instant,
}
const Line = Obj({
  lineNo: Int(1, 32_000),
  accountId: Uuid,
  accountCode: Text(1, 20),
  accountName: Text(1, 120),
  debit: Amount,
  credit: Amount,
  propertyId: Nullable(Uuid),
  costCenterId: Nullable(Uuid),
  partyType: Nullable(Text(1, 20)),
  partyId: Nullable(Uuid),
  documentType: Nullable(Text(1, 40)),
  documentId: Nullable(Uuid),
  taxCodeId: Nullable(Uuid),
  taxBase: Nullable(SignedAmount),
  memo: Text(0, 200),
})

const list = route({
  id: 'ledgerEntries.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/ledger-entries',
  summary: 'List posted entries by date, account, source, document or amount',
  description:
    'To a caller with chosen properties `total` is that of their lines, on the larger side; `minTotal` and `maxTotal` mean it as well.',
  access: can('read', 'LedgerEntry'),
  query: Obj({
    ...PageQuery,
    bookId: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
    periodId: Opt(Uuid),
    journalId: Opt(Uuid),
    accountId: Opt(Uuid),
    propertyId: Opt(Uuid),
    kind: Opt(kinds),
    sourceType: Opt(Text(1, 80)),
    sourceId: Opt(Uuid),
    documentType: Opt(Text(1, 40)),
    documentId: Opt(Uuid),
    minTotal: Opt(Amount),
    maxTotal: Opt(Amount),
    late: Opt(Bool),
  }),
  returns: Obj({
    data: List(Obj(head, { title: 'LedgerEntryHead' }), { max: 100 }),
    meta: Obj({ page: Int(1, 100_000), limit: Int(1, 100), total: Count, totalPages: Count }),
    ledgerSequence: Count,
    pendingEvents: Count,
  }),
  errors: ['not_found'],
  handle: async ({ trx, query: { page = 1, limit = 20, ...filter }, admission }) => {
    const scope = admission.scope('read', 'LedgerEntry')
    const { rows, total, state } = await listEntries(trx, { ...filter, page, limit, scope })
    return { data: rows, meta: pageMeta(page, limit, total), ...state }
  },
})

const read = route({
  id: 'ledgerEntries.read',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/ledger-entries/:ledgerEntryId',
  summary: 'Show an entry with lines, source and reversal links',
  access: can('read', 'LedgerEntry'),
  returns: Obj(
    { ...head, hash: Nullable(Text(64, 64)), lines: List(Line, { min: 1, max: 32_000 }) },
    { title: 'LedgerEntry' },
  ),
  handle: ({ trx, params, admission }) => readEntry(trx, params.ledgerEntryId, admission.scope('read', 'LedgerEntry')),
})

export const routes = [list, read]
