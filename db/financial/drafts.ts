import { randomUUID } from 'node:crypto'
import { forbidden } from '../../config/errors.ts'
import { entryDraftCreated, entryDraftRejected, entryDraftSubmitted } from '../../config/events/financial.ts'
import { todayIn } from '../../config/time.ts'
import { moveAttachments, removeAttachments } from '../lib/attachments.ts'
import { approverOf, authorOf, editorsWith } from '../lib/authors.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { equal, from, pageOf, until } from '../lib/lists.ts'
import { changeRow, expression, fieldsOf, insertRow, readRow } from '../lib/records.ts'
import { expectLateEntry } from './assessments.ts'
import { differenceOf } from './line-check.ts'
import { debitsOf, factsOfBook, judgeEntry, postJudged, problemsOfPlace, refuseEntry } from './manual-entries.ts'
import type { BookFacts, ManualEntry } from './manual-entries.ts'
import { EntryDraft } from './models.ts'

const moves = lifecycle<'draft' | 'submitted' | 'posted'>('A draft entry')({
  changed: { from: ['draft'] },
  attached: { from: ['draft', 'submitted'] },
  deleted: { from: ['draft', 'submitted'] },
  submitted: { from: ['draft'], to: 'submitted' },
  approved: { from: ['submitted'], to: 'posted' },
  rejected: { from: ['submitted'], to: 'draft' },
})

export type DraftRecord = NonNullable<(typeof EntryDraft)['row']>

export const listDrafts = pageOf(EntryDraft, {
  order: ['createdAt desc', 'id'],
  filters: {
    bookId: equal('bookId'),
    status: equal('status'),
    createdBy: equal('createdBy'),
    from: from('postingDate'),
    to: until('postingDate'),
  },
  scope: { propertyId: null, createdBy: 'createdBy' },
})

export const readDraft = (trx: Trx, id: string) => readRow(trx, EntryDraft, id)

/** The problems that would keep a draft from being posted as it stands. */
export const warningsOf = async (trx: Trx, draft: DraftRecord, scope: Condition) => {
  if (draft.status === 'posted') return []
  const book = await factsOfBook(trx, draft.bookId)
  const { problems } = await judgeEntry(trx, book, draft, scope)
  return [...problems, ...(await problemsOfPlace(trx, book, draft))].slice(0, 100)
}

/** Locks a draft whose files are to change. 409 `invalid_transition` for a posted one: its files are those of its entry. */
export const lockDraftForFiles = async (trx: Trx, id: string): Promise<void> => {
  const [draft] = await sql<{ status: DraftRecord['status'] }>(
    trx,
    `select status from entry_draft where tenant_id = ? and id = ? for no key update`,
    [contextOf(trx).tenantId, id],
  )
  if (draft) moves.allow('attached', draft.status)
}

export type NewDraft = ManualEntry & { late?: boolean | undefined }

const sizeOf = (lines: NewDraft['lines']) => {
  const debit = lines.reduce((sum, line) => sum + (line.debit ?? 0), 0)
  const credit = lines.reduce((sum, line) => sum + (line.credit ?? 0), 0)
  return { total: Math.max(debit, credit), difference: differenceOf(lines) }
}

const tell = async (
  trx: Trx,
  event: typeof entryDraftCreated,
  draft: Pick<DraftRecord, 'id' | 'bookId' | 'postingDate' | 'total'>,
  version: number,
  { currency }: BookFacts,
) => {
  const { id, bookId, postingDate, total } = draft
  await emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { entryDraftId: id, bookId, date: postingDate, total, currency },
  })
}

/** A draft as it is kept: one of a template names it, and the run where it recurs. */
export type KeptDraft = NewDraft & {
  postingDate: string
  createdBy: string
  templateId?: string
  templateRun?: number
  /** Those who wrote on the template that it is made of. */
  editors?: string[]
  /** It could be posted, and waits for a second person. */
  isSubmitted?: boolean
}

/** Keeps an entry that may still be unbalanced, in the name of its author. */
export const insertDraft = async (trx: Trx, { isSubmitted = false, ...given }: KeptDraft): Promise<string> => {
  const id = randomUUID()
  const book = await factsOfBook(trx, given.bookId)
  const draft = {
    ...given,
    id,
    bookId: book.id,
    lines: [...given.lines],
    ...sizeOf(given.lines),
    ...(isSubmitted ? { status: 'submitted' as const, submittedAt: expression('now()') } : {}),
  }
  await insertRow(trx, EntryDraft, draft)
  await tell(trx, entryDraftCreated, draft, 1, book)
  if (isSubmitted) await tell(trx, entryDraftSubmitted, draft, 1, book)
  return id
}

/** Keeps an entry of the caller that may still be unbalanced. */
export const createDraft = async (trx: Trx, given: NewDraft): Promise<string> => {
  const book = await factsOfBook(trx, given.bookId)
  const postingDate = given.postingDate ?? todayIn(book.timeZone)
  return insertDraft(trx, { ...given, bookId: book.id, postingDate, createdBy: await authorOf(trx) })
}

export type DraftChange = { [Field in keyof Omit<NewDraft, 'bookId'>]?: NewDraft[Field] | undefined }

/** Changes a draft that is not submitted; `lines` are replaced whole. Another person than its author cannot approve it afterwards. The caller holds its row. */
export const changeDraft = async (trx: Trx, id: string, change: DraftChange): Promise<void> => {
  const draft = await readDraft(trx, id)
  moves.allow('changed', draft.status)
  if (fieldsOf(change).length === 0) return
  const { lines, ...rest } = change
  await changeRow(trx, EntryDraft, id, {
    ...rest,
    ...(lines ? { lines: [...lines], ...sizeOf(lines) } : {}),
    editors: editorsWith(draft, await authorOf(trx)),
  })
}

/** Deletes a draft that is not posted. The caller holds its row. */
export const deleteDraft = async (trx: Trx, id: string): Promise<DraftRecord> => {
  const draft = await readDraft(trx, id)
  moves.allow('deleted', draft.status)
  await removeAttachments(trx, 'financial', 'draft', [id])
  await sql(trx, `delete from entry_draft where tenant_id = ? and id = ?`, [contextOf(trx).tenantId, id])
  return draft
}

/** Submits a draft that could be posted, of lines in `scope`; the errors of a manual entry. The caller holds its row. */
export const submitDraft = async (trx: Trx, id: string, scope: Condition): Promise<void> => {
  const draft = await readDraft(trx, id)
  if (!moves.isDue('submitted', draft.status)) return
  const book = await factsOfBook(trx, draft.bookId)
  refuseEntry(await judgeEntry(trx, book, draft, scope))
  const version = await changeRow(trx, EntryDraft, id, {
    status: 'submitted',
    submittedAt: expression('now()'),
    rejection: null,
  })
  await tell(trx, entryDraftSubmitted, draft, version, book)
}

/**
 * Posts a submitted draft in the name of its author (R18). 403 `self_approval`, `forbidden` for a late one without override, `reauthentication_required`
 * above the book's threshold without a recent proof of identity. The caller holds its row.
 */
export const approveDraft = async (
  trx: Trx,
  id: string,
  {
    note,
    scope,
    mayOverride,
    requireRecent,
  }: { note?: string | undefined; scope: Condition; mayOverride: boolean; requireRecent: () => void },
): Promise<void> => {
  const draft = await readDraft(trx, id)
  if (!moves.isDue('approved', draft.status)) return
  const book = await factsOfBook(trx, draft.bookId)
  const approval = approverOf(trx, {
    authors: [draft.createdBy, ...draft.editors],
    singleOperator: book.singleOperator,
  })
  if (draft.late && !mayOverride)
    throw forbidden('forbidden', 'A late entry is approved with the permission override LedgerEntry')
  const judged = await judgeEntry(trx, book, draft, scope)
  refuseEntry(judged)
  if (book.approvalThreshold !== null && debitsOf(judged.lines) > book.approvalThreshold) requireRecent()
  if (draft.late) await expectLateEntry(trx, book.id, draft.postingDate)
  const entryId = await postJudged(trx, book, draft, judged, {
    source: id,
    createdBy: draft.createdBy,
    late: draft.late,
    ...approval,
  })
  const attached = { module: 'financial', type: 'draft', id }
  await moveAttachments(trx, attached, { ...attached, type: 'entry', id: entryId })
  await changeRow(trx, EntryDraft, id, {
    status: 'posted',
    decidedBy: approval.approvedBy,
    selfApproved: approval.selfApproved,
    note: note ?? null,
    entryId,
  })
}

/** Gives a submitted draft back: its author takes it back, or an approver says why not. The caller holds its row. */
export const rejectDraft = async (trx: Trx, id: string, reason: string, mayApprove: boolean): Promise<void> => {
  const draft = await readDraft(trx, id)
  if (!moves.isDue('rejected', draft.status)) return
  const person = await authorOf(trx)
  if (person !== draft.createdBy && !mayApprove)
    throw forbidden('forbidden', 'A draft is given back by its author, or by a person who may approve it')
  const version = await changeRow(trx, EntryDraft, id, {
    status: 'draft',
    submittedAt: null,
    decidedBy: person,
    rejection: reason,
  })
  await tell(trx, entryDraftRejected, draft, version, await factsOfBook(trx, draft.bookId))
}
