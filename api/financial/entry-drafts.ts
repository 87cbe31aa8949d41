import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Day,
  Instant,
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
  approveDraft,
  changeDraft,
  createDraft,
  deleteDraft,
  listDrafts,
  readDraft,
  rejectDraft,
  submitDraft,
  warningsOf,
} from '../../db/financial/index.ts'
import { attachmentsOf } from '../../db/lib/attachments.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { can } from '../lib/access/kinds.ts'
import { Attachments } from '../lib/attachments.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { GivenLine, Problems, givenEntry, stamps } from './schemas.ts'

const status = OneOf(['draft', 'submitted', 'posted'])
const record = {
  id: Uuid,
  bookId: Uuid,
  journalId: Nullable(Uuid),
  kind: OneOf(['standard', 'opening']),
  postingDate: Day,
  description: Text(1, 300),
  reverseOn: Nullable(Day),
  lines: List(GivenLine, { max: 500 }),
  total: Amount,
  difference: SignedAmount,
  late: Bool,
  status,
  createdBy: Uuid,
  submittedAt: Nullable(Instant),
  decidedBy: Nullable(Uuid),
  selfApproved: Bool,
  rejection: Nullable(Text(1, 500)),
  note: Nullable(Text(0, 500)),
  entryId: Nullable(Uuid),
  templateId: Nullable(Uuid),
  ...stamps,
}
export const EntryDraft = Obj(record, { title: 'EntryDraft' })
const path = '/api/tenants/:tenantId/financial/entry-drafts'

const drafts = resource({
  name: 'entryDrafts',
  subject: 'EntryDraft',
  table: 'entry_draft',
  path,
  param: 'entryDraftId',
  record: EntryDraft,
  read: readDraft,
})

const list = drafts.list({
  summary: 'List draft entries by status, author or date',
  query: { bookId: Opt(Uuid), status: Opt(status), createdBy: Opt(Uuid), from: Opt(Day), to: Opt(Day) },
  example: { status: 'submitted' },
  find: ({ trx, filter }) => listDrafts(trx, filter),
})

const given = { ...givenEntry, late: Opt(Bool), lines: List(GivenLine, { min: 1, max: 500 }) }
const create = drafts.create({
  summary: 'Create a draft entry, balanced or not',
  description:
    '`late` asks to post into a soft-closed period or on a locked date; its approver needs the permission to override entries.',
  errors: ['not_found', 'reference_not_found'],
  body: Obj({ bookId: Opt(Uuid), ...given }),
  example: {
    bookId: sampleId('bookId'),
    description: 'Rent of March',
    lines: [
      { accountCode: '5.1.09', debit: 350_000 },
      { accountCode: '1.1.3.80', credit: 350_000 },
    ],
  },
  command: ({ trx, body }) => createDraft(trx, body),
})

const read = route({
  id: 'entryDrafts.read',
  method: 'GET',
  path: `${path}/:entryDraftId`,
  summary: 'Show a draft with its difference and warnings',
  description: '`warnings` say what would keep it from being posted as it stands.',
  access: can('read', 'EntryDraft'),
  returns: Obj({ ...record, warnings: Problems, attachments: Attachments }, { title: 'EntryDraftRead' }),
  handle: async ({ trx, params, admission }) => {
    const draft = await readDraft(trx, params.entryDraftId)
    admission.check('read', 'EntryDraft', asJudged('entry_draft', draft.id, draft))
    const files = await attachmentsOf(trx, 'financial', 'draft', [draft.id])
    return {
      ...draft,
      warnings: await warningsOf(trx, draft, admission.scope('read', 'LedgerEntry')),
      attachments: files.get(draft.id) ?? [],
    }
  },
})

const change = drafts.change({
  summary: 'Change a draft that is not submitted',
  description: '`lines` are replaced whole.',
  errors: ['invalid_transition', 'reference_not_found'],
  body: Sparse(Obj(given)),
  example: { description: 'Rent of March and April' },
  command: ({ trx, id, body }) => changeDraft(trx, id, body),
})

const remove = drafts.remove({
  summary: 'Delete a draft entry that is not posted',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => deleteDraft(trx, id),
})

const ofEntry = ['entry_not_balanced', 'account_not_usable', 'reference_not_found', 'date_out_of_range'] as const

const submit = drafts.act('submit', {
  action: 'update',
  summary: 'Submit a balanced draft for approval',
  errors: ['invalid_transition', ...ofEntry],
  command: ({ trx, id, admission }) => submitDraft(trx, id, admission.scope('read', 'LedgerEntry')),
})

const approve = drafts.act('approve', {
  summary: 'Approve a submitted draft and post it',
  description:
    'By another user than its author and those who changed it, unless the book has a single operator. Above the approval threshold of the book it needs a recent proof of identity.',
  errors: [
    'invalid_transition',
    'self_approval',
    'key_not_allowed',
    'reauthentication_required',
    'period_missing',
    'period_closed',
    'date_locked',
    ...ofEntry,
  ],
  body: Obj({ note: Opt(Words(0, 500)) }),
  example: { note: 'Seen with the contract' },
  command: ({ trx, id, body, caller, request, admission }) =>
    approveDraft(trx, id, {
      note: body.note,
      scope: admission.scope('read', 'LedgerEntry'),
      mayOverride: admission.can('override', 'LedgerEntry'),
      requireRecent: () => requireRecent(caller, request.receivedAt),
    }),
})

const reject = drafts.act('reject', {
  action: 'update',
  summary: 'Return a submitted draft to its author with a reason',
  errors: ['invalid_transition'],
  body: Obj({ reason: Words(1, 500) }),
  example: { reason: 'The amount differs from the contract' },
  command: ({ trx, id, body, admission }) => rejectDraft(trx, id, body.reason, admission.can('approve', 'EntryDraft')),
})

export const routes = [list, create, read, change, remove, submit, approve, reject]
