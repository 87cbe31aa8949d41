import { conflict, invalid, notFound } from '../../config/errors.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { authorOf, editorsWith } from '../lib/authors.ts'
import { always } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { insertDraft } from './drafts.ts'
import { requestDue } from './due.ts'
import { debitsOf, factsOfBook, judgeEntry } from './manual-entries.ts'
import { EntryTemplate } from './models.ts'
import { placeOf, postEntry, problemOfDate } from './post.ts'
import { dueFrom } from './rules/schedule.ts'
import type { Schedule } from './rules/schedule.ts'
import { fill, judgeTemplate } from './template-check.ts'
import type { GivenTemplate } from './template-check.ts'

const moves = lifecycle<'active' | 'paused' | 'removed'>('A template')({
  changed: { from: ['active', 'paused'] },
  paused: { from: ['active'], to: 'paused' },
  resumed: { from: ['paused'], to: 'active' },
})

type Template = NonNullable<(typeof EntryTemplate)['row']>

/** A page of templates that were not removed, by name. */
export const listTemplates = pageOf(EntryTemplate, {
  order: ['name', 'id'],
  filters: { bookId: equal('bookId'), status: equal('status') },
  only: `status <> 'removed'`,
})

/** A template that was not removed. 404. */
export const readTemplate = async (trx: Trx, id: string): Promise<Template> => {
  const template = await readRow(trx, EntryTemplate, id)
  if (template.status === 'removed') throw notFound('No such template')
  return template
}

/** The last hundred runs of a template, each with its entry or draft. */
export const runsOf = (trx: Trx, id: string) =>
  sql<{ run: number; on: string; entryId: string | null; entryDraftId: string | null }>(
    trx,
    `select r.run, r.on, r.entry_id, r.entry_draft_id from (
       select e.source_seq as run, e.posting_date as on, e.id as entry_id, null::uuid as entry_draft_id from journal_entry e
         where e.tenant_id = :tenantId and e.source_type = 'financial.template' and e.source_id = :id
       union all
       select d.template_run, d.posting_date, d.entry_id, d.id from entry_draft d
         where d.tenant_id = :tenantId and d.template_id = :id and d.template_run is not null) r
     order by r.run desc limit 100`,
    { tenantId: contextOf(trx).tenantId, id },
  )

/** Keeps a template; what its schedule has due by today is made at once. */
export const createTemplate = async (
  trx: Trx,
  { bookId, ...given }: GivenTemplate,
  scope: Condition,
): Promise<string> => {
  const book = await factsOfBook(trx, bookId)
  const body = { variables: given.variables ?? [], lines: given.lines, schedule: given.schedule ?? null }
  await judgeTemplate(trx, book, body, { scope, begins: true })
  const { schedule } = body
  const { id } = await insertRow(trx, EntryTemplate, {
    bookId: book.id,
    name: given.name,
    journalId: given.journalId ?? null,
    description: given.description,
    variables: [...body.variables],
    lines: [...body.lines],
    schedule,
    nextOn: schedule ? dueFrom(schedule, schedule.firstOn) : null,
    createdBy: await authorOf(trx),
  })
  if (schedule) await requestDue(trx, book.id, todayIn(book.timeZone))
  return id
}

export type TemplateChange = { [Field in keyof Omit<GivenTemplate, 'bookId'>]?: GivenTemplate[Field] | undefined }

/**
 * Changes what later runs make; another schedule goes on where the one before stood. Another person than its author cannot approve what they make. The
 * caller holds its row.
 */
export const changeTemplate = async (trx: Trx, id: string, change: TemplateChange, scope: Condition): Promise<void> => {
  const template = await readTemplate(trx, id)
  moves.allow('changed', template.status)
  const book = await factsOfBook(trx, template.bookId)
  const schedule = change.schedule === undefined ? template.schedule : change.schedule
  const body = { variables: change.variables ?? template.variables, lines: change.lines ?? template.lines, schedule }
  await judgeTemplate(trx, book, body, { scope, begins: Boolean(change.schedule) })
  const today = todayIn(book.timeZone)
  const from = template.nextOn ?? (template.runs === 0 ? '' : addDays(today, 1))
  await changeRow(trx, EntryTemplate, id, {
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.description === undefined ? {} : { description: change.description }),
    ...(change.journalId === undefined ? {} : { journalId: change.journalId }),
    ...(change.variables ? { variables: [...change.variables] } : {}),
    ...(change.lines ? { lines: [...change.lines] } : {}),
    ...(change.schedule === undefined
      ? {}
      : { schedule: change.schedule, nextOn: change.schedule ? dueFrom(change.schedule, from) : null }),
    editors: editorsWith(template, await authorOf(trx)),
  })
  if (change.schedule) await requestDue(trx, book.id, today)
}

/** Removes a template and ends its schedule; what it made stays. The caller holds its row. */
export const removeTemplate = async (trx: Trx, id: string): Promise<Template> => {
  const template = await readTemplate(trx, id)
  await changeRow(trx, EntryTemplate, id, { status: 'removed', nextOn: null })
  return template
}

const scheduled = (template: Template): Schedule => {
  if (!template.schedule)
    throw conflict('invalid_transition', 'A template without a schedule does not recur', [
      { field: 'schedule', message: 'must be there' },
    ])
  return template.schedule
}

/** Stops the schedule. The caller holds its row. */
export const pauseTemplate = async (trx: Trx, id: string): Promise<void> => {
  const template = await readTemplate(trx, id)
  scheduled(template)
  if (moves.isDue('paused', template.status)) await changeRow(trx, EntryTemplate, id, { status: 'paused' })
}

/** Goes on with the schedule; with `catchUp` what fell due meanwhile is made, else it is left out. The caller holds its row. */
export const resumeTemplate = async (trx: Trx, id: string, catchUp: boolean): Promise<void> => {
  const template = await readTemplate(trx, id)
  const schedule = scheduled(template)
  if (!moves.isDue('resumed', template.status)) return
  const book = await factsOfBook(trx, template.bookId)
  const today = todayIn(book.timeZone)
  const nextOn =
    template.nextOn === null || catchUp || template.nextOn >= today ? template.nextOn : dueFrom(schedule, today)
  await changeRow(trx, EntryTemplate, id, { status: 'active', nextOn })
  await requestDue(trx, book.id, today)
}

export type Application = {
  postingDate: string
  variables?: Readonly<Record<string, number>> | undefined
  description?: string | undefined
}

const linesFor = (template: Template, given: Readonly<Record<string, number>>) => {
  const names = template.variables.map(({ name }) => name)
  const errors = [
    ...Object.keys(given).flatMap((name) =>
      names.includes(name) ? [] : [{ field: `variables.${name}`, message: 'is no variable of the template' }],
    ),
    ...template.variables.flatMap((one) =>
      given[one.name] === undefined && one.default === undefined
        ? [{ field: `variables.${one.name}`, message: 'is required: it has no default' }]
        : [],
    ),
  ]
  if (errors.length > 0) throw invalid(errors)
  const values = Object.fromEntries(template.variables.map((one) => [one.name, given[one.name] ?? one.default ?? 0]))
  return fill(template.lines, values)
}

/** Makes a draft of a template. 400 for a variable without value, 422 `template_not_balanced` for a rest below 0. */
export const applyTemplate = async (trx: Trx, id: string, given: Application): Promise<string> => {
  const template = await readTemplate(trx, id)
  return insertDraft(trx, {
    bookId: template.bookId,
    journalId: template.journalId,
    postingDate: given.postingDate,
    description: given.description ?? template.description,
    lines: linesFor(template, given.variables ?? {}),
    templateId: id,
    createdBy: await authorOf(trx),
  })
}

/** Templates of a book that have a run due by a day. */
export const dueTemplates = (trx: Trx, bookId: string, date: string) =>
  sql<{ id: string; nextOn: string; schedule: Schedule }>(
    trx,
    `select id, next_on, schedule from entry_template where tenant_id = ? and book_id = ? and status = 'active' and next_on <= ? order by next_on, id`,
    [contextOf(trx).tenantId, bookId, date],
  )

/**
 * Makes the next run of a template that is due by a day, once. What can be posted is; a run whose date is not open, or whose lines are no longer taken, becomes a
 * draft, and one above the book's threshold a submitted draft.
 */
export const runTemplate = async (trx: Trx, id: string, date: string): Promise<void> => {
  await sql(trx, `select id from entry_template where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])
  const template = await readRow(trx, EntryTemplate, id)
  const { schedule, nextOn: postingDate } = template
  if (template.status !== 'active' || !schedule || postingDate === null || postingDate > date) return
  const book = await factsOfBook(trx, template.bookId)
  const run = template.runs + 1
  const entry = {
    bookId: book.id,
    journalId: template.journalId,
    postingDate,
    description: template.description,
    lines: linesFor(template, {}),
  }
  await changeRow(trx, EntryTemplate, id, { runs: run, nextOn: dueFrom(schedule, addDays(postingDate, 1)) })
  const judged = await judgeEntry(trx, book, entry, always)
  const isSound =
    judged.problems.length === 0 &&
    problemOfDate(await placeOf(trx, { ...entry, kind: 'standard' }), { postingDate }) === null
  const isLarge = book.approvalThreshold !== null && debitsOf(judged.lines) > book.approvalThreshold
  if (schedule.mode === 'post' && isSound && !isLarge) {
    await postEntry(trx, {
      source: { type: 'financial.template', id, seq: run },
      bookId: book.id,
      journalId: template.journalId,
      postingDate,
      kind: 'standard',
      description: template.description,
      lines: judged.lines,
      createdBy: template.createdBy,
    })
    return
  }
  await insertDraft(trx, {
    ...entry,
    templateId: id,
    templateRun: run,
    createdBy: template.createdBy,
    editors: template.editors,
    isSubmitted: schedule.mode === 'post' && isSound && isLarge,
  })
}
