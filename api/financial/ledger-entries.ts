import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  AnyOf,
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
  Words,
  pageMeta,
} from '../../config/schema.ts'
import {
  listEntries,
  postManualEntry,
  readEntry,
  reverseEntry,
  searchLines,
  tryManualEntry,
} from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { Attachments } from '../lib/attachments.ts'
import { Reply, route } from '../lib/route.ts'
import { GivenLine, Problems, givenEntry, ledgerState, postedLine } from './schemas.ts'

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
  reverseOn: Nullable(Day),
  createdAt: Instant,
}
const Line = Obj({ accountCode: Text(1, 20), accountName: Text(1, 120), ...postedLine })

const LedgerEntry = Obj(
  { ...head, hash: Nullable(Text(64, 64)), lines: List(Line, { min: 1, max: 32_000 }), attachments: Attachments },
  { title: 'LedgerEntry' },
)
const TriedEntry = Obj(
  {
    lines: List(Obj(postedLine), { max: 501 }),
    balances: List(Obj({ accountId: Uuid, before: SignedAmount, after: SignedAmount }), { max: 501 }),
    errors: Problems,
  },
  { title: 'TriedEntry' },
)

/** Filters of entries and of lines. */
const filters = {
  bookId: Opt(Uuid),
  from: Opt(Day),
  to: Opt(Day),
  periodId: Opt(Uuid),
  journalId: Opt(Uuid),
  accountId: Opt(Uuid),
  propertyId: Opt(Uuid),
  sourceType: Opt(Text(1, 80)),
  sourceId: Opt(Uuid),
  documentType: Opt(Text(1, 40)),
  documentId: Opt(Uuid),
  kind: Opt(kinds),
  minTotal: Opt(Amount),
  maxTotal: Opt(Amount),
  late: Opt(Bool),
  q: Opt(Text(1, 120)),
}

const list = route({
  id: 'ledgerEntries.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/ledger-entries',
  summary: 'List posted entries by date, account, source, document or amount',
  description:
    'To a caller with chosen properties `total` is that of their lines, on the larger side; `minTotal` and `maxTotal` mean it as well. `q` finds words of the description, whatever their case and accents, and the number in the diary; of what is found the first 10,000 are shown.',
  access: can('read', 'LedgerEntry'),
  query: Obj({ ...PageQuery, ...filters }),
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
  returns: LedgerEntry,
  handle: ({ trx, params, admission }) => readEntry(trx, params.ledgerEntryId, admission.scope('read', 'LedgerEntry')),
})

const post = route({
  id: 'ledgerEntries.post',
  method: 'POST',
  path: '/api/tenants/:tenantId/financial/ledger-entries',
  summary: 'Post a balanced entry, or try it with dryRun',
  description:
    'Two to 500 lines on accounts of one book, without control accounts. An opening entry is dated in the first year; the difference of its lines stands on the account of role opening_difference. Above the approval threshold of the book an entry is submitted as a draft. With `dryRun=true` nothing is written: the reply has the lines, the balances before and after, and every error.',
  access: can('post', 'LedgerEntry'),
  status: 201,
  ok: 'What posting would do',
  query: Obj({ dryRun: Opt(Bool) }),
  body: Obj({ bookId: Opt(Uuid), ...givenEntry, lines: List(GivenLine, { min: 1, max: 500 }) }),
  example: {
    bookId: sampleId('bookId'),
    description: 'Bank fees of March',
    lines: [
      { accountCode: '5.1.09', debit: 1_250 },
      { accountCode: '1.1.3.80', credit: 1_250 },
    ],
  },
  returns: AnyOf([LedgerEntry, TriedEntry]),
  errors: [
    'not_found',
    'reference_not_found',
    'account_not_usable',
    'entry_not_balanced',
    'date_out_of_range',
    'period_missing',
    'period_closed',
    'date_locked',
    'approval_required',
  ],
  handle: async ({ trx, body, query, admission }) =>
    query.dryRun
      ? new Reply(await tryManualEntry(trx, body, admission.scope('post', 'LedgerEntry')), { status: 200 })
      : readEntry(
          trx,
          await postManualEntry(trx, body, admission.scope('post', 'LedgerEntry')),
          admission.scope('read', 'LedgerEntry'),
        ),
})

const reverse = route({
  id: 'ledgerEntries.reverse',
  method: 'POST',
  path: '/api/tenants/:tenantId/financial/ledger-entries/:ledgerEntryId/reverse',
  summary: 'Reverse a manual entry on a date still open',
  description:
    'Dated today unless a later or earlier open date is given, never before the entry. An entry of a document is undone by that document. Answers the reversal.',
  access: can('reverse', 'LedgerEntry'),
  status: 201,
  body: Obj({ reason: Words(1, 300), postingDate: Opt(Day) }),
  example: { reason: 'Wrong account' },
  returns: LedgerEntry,
  errors: [
    'reverse_at_source',
    'already_reversed',
    'date_out_of_range',
    'period_missing',
    'period_closed',
    'date_locked',
    'self_approval',
    'key_not_allowed',
  ],
  handle: async ({ trx, params, body, admission }) => {
    const scope = admission.scope('read', 'LedgerEntry')
    await readEntry(trx, params.ledgerEntryId, scope)
    return readEntry(
      trx,
      await reverseEntry(trx, params.ledgerEntryId, { ...body, scope: admission.scope('reverse', 'LedgerEntry') }),
      scope,
    )
  },
})

const lines = route({
  id: 'ledgerLines.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/ledger-lines',
  summary: 'Search lines by amount, party, cost centre, tax or text',
  description:
    'Latest first. Without `from`, entry, document or party those of the present fiscal year. At most the first 10,000 lines. `q` finds words of the description or of the memo, and the number of the entry in the diary.',
  access: can('read', 'LedgerEntry'),
  query: Obj({
    ...PageQuery,
    ...filters,
    entryId: Opt(Uuid),
    partyType: Opt(Text(1, 20)),
    partyId: Opt(Uuid),
    costCenterId: Opt(Uuid),
    taxCodeId: Opt(Uuid),
    amount: Opt(Amount),
  }),
  returns: Obj({
    data: List(
      Obj({
        entryId: Uuid,
        postingDate: Day,
        number: Nullable(Count),
        description: Text(1, 300),
        accountCode: Text(1, 20),
        ...postedLine,
        sourceType: Text(1, 80),
        sourceId: Uuid,
      }),
      { max: 100 },
    ),
    meta: Obj({ page: Int(1, 100_000), limit: Int(1, 100), total: Count, totalPages: Count }),
    ...ledgerState,
  }),
  errors: ['not_found'],
  handle: async ({ trx, query: { page = 1, limit = 20, ...filter }, admission }) => {
    const scope = admission.scope('read', 'LedgerEntry')
    const { rows, total, state } = await searchLines(trx, { ...filter, page, limit, scope })
    return { data: rows, meta: pageMeta(page, limit, total), ...state }
  },
})

export const routes = [list, post, read, reverse, lines]
