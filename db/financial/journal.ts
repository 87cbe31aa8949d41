import { notFound } from '../../config/errors.ts'
import { attachmentsOf } from '../lib/attachments.ts'
import type { AttachmentHead } from '../lib/attachments.ts'
import { isAlways } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onDays } from '../lib/days.ts'
import type { Days } from '../lib/days.ts'
import { allOf, flag, inScope, numberOf, readPage, totalWithin, where } from '../lib/paging.ts'
import type { Paging, Part } from '../lib/paging.ts'
import type { JournalEntryRow } from '../rows.ts'
import { bookFor, ledgerState } from './chart.ts'
import type { LineOfEntry } from './rules/resolve.ts'
import { countedTo, entryOf, findWords, refuseDepth } from './words.ts'

export type EntryFilter = {
  bookId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  periodId?: string | undefined
  journalId?: string | undefined
  accountId?: string | undefined
  propertyId?: string | undefined
  kind?: string | undefined
  sourceType?: string | undefined
  sourceId?: string | undefined
  documentType?: string | undefined
  documentId?: string | undefined
  minTotal?: number | undefined
  maxTotal?: number | undefined
  late?: boolean | undefined
  q?: string | undefined
}

/** `number` is null until the entry is sealed. */
export type EntryHead = Omit<JournalEntryRow, 'tenantId' | 'createdXid'> & {
  number: number | null
  reversedByEntryId: string | null
}

export type EntryLine = LineOfEntry & { accountCode: string; accountName: string }

const head = (total: Part): Part => ({
  text: `e.id, e.sequence, s.number, e.book_id, e.journal_id, e.period_id, e.posting_date, e.currency, e.kind,
  e.reverses_entry_id, r.id as reversed_by_entry_id, e.source_type, e.source_id, e.source_seq, ${total.text} as total, e.description, e.late,
  e.created_by, e.approved_by, e.self_approved, e.reverse_on, e.created_at`,
  values: total.values,
})
const joins = `left join journal_entry r on r.tenant_id = e.tenant_id and r.reverses_entry_id = e.id
  left join journal_seal s on s.tenant_id = e.tenant_id and s.entry_id = e.id`

/** The lines that a caller may see. The total of an entry is that of the lines shown, on their larger side. */
export const seenBy = (trx: Trx, scope: Condition): { lines: Part[]; total: Part } => {
  const lines = isAlways(scope) ? [] : inScope(scope, 'l.property_id')
  const { text, values } = allOf(lines)
  const ofLines = `(select cast(greatest(sum(l.debit), sum(l.credit)) as bigint) from journal_line l
    where l.tenant_id = ? and l.entry_id = e.id and ${text})`
  if (lines.length === 0) return { lines, total: { text: 'e.total', values: [] } }
  // The tenant is bound, so that the plan has the lines of its part alone.
  return { lines, total: { text: ofLines, values: [contextOf(trx).tenantId, ...values] } }
}

/** That an entry has a line of which all of this is true; nothing where nothing is asked of lines. */
const withLine = (conditions: readonly Part[]): Part[] => {
  if (conditions.length === 0) return []
  const { text, values } = allOf(conditions)
  return [
    {
      text: `exists (select from journal_line l where l.tenant_id = e.tenant_id and l.entry_id = e.id and ${text})`,
      values,
    },
  ]
}

/** That the total which is shown of an entry is at least or at most an amount. */
export const ofTotal = (total: Part, operator: '>=' | '<=', amount: number | undefined): Part[] =>
  where(`${operator} ?`, amount).map(({ text, values }) => ({
    text: `${total.text} ${text}`,
    values: [...total.values, ...values],
  }))

const conditionsOf = (filter: EntryFilter, lines: Part[], total: Part): Part[] => {
  return [
    ...where('e.period_id = ?', filter.periodId),
    ...where('e.journal_id = ?', filter.journalId),
    ...where('e.kind = ?', filter.kind),
    ...where('e.source_type = ?', filter.sourceType),
    ...where('e.source_id = ?', filter.sourceId),
    ...ofTotal(total, '>=', filter.minTotal),
    ...ofTotal(total, '<=', filter.maxTotal),
    ...flag('e.late', filter.late),
    ...withLine(where('l.account_id = ?', filter.accountId)),
    ...withLine(where('l.property_id = ?', filter.propertyId)),
    ...withLine(lines),
    ...withLine([
      ...where('l.document_id = ?', filter.documentId),
      ...where('l.document_type = ?', filter.documentType),
    ]),
  ]
}

/**
 * The number of entries with a line of a house, as it is kept by the months of their days; null where more is asked than the house, the book, the kind, the
 * journal, lateness and days.
 */
const totalOfHouse = (
  bookId: string,
  filter: EntryFilter,
  { scope, days, conditions }: { scope: Condition; days: Days; conditions: readonly Part[] },
): Part | null => {
  const { propertyId, bookId: _, kind, journalId, late: isLate, from: _from, to: _to, ...more } = filter
  if (propertyId === undefined || Object.values(more).some((value) => value !== undefined) || !isAlways(scope))
    return null
  const kept = (whole: readonly Part[]): Part => {
    const { text, values } = allOf([
      ...where('e.property_id = ?', propertyId),
      ...where('e.book_id = ?', bookId),
      ...where('e.kind = ?', kind),
      ...where('e.journal_id = ?', journalId),
      ...flag('e.late', isLate),
      ...whole,
    ])
    return {
      text: `select coalesce(sum(e.n), 0)::bigint as total from list_count e where e.list = 'journal_entry_of_house' and ${text}`,
      values,
    }
  }
  if (days.rows.length === 0 || days.terms === null) return kept([])
  return totalWithin(
    days.terms,
    ({ whole }) => kept(whole),
    (cut) => numberOf({ text: 'journal_entry e', values: [] }, [...conditions, ...cut]),
  )
}

/** A page of a book's entries, the latest first; of those alone that have a line in `scope`, with the total of such lines. */
export const listEntries = async (
  trx: Trx,
  { page, limit, scope, ...filter }: EntryFilter & Paging & { scope: Condition },
) => {
  const book = await bookFor(trx, filter.bookId)
  const { lines, total } = seenBy(trx, scope)
  if (filter.q !== undefined) refuseDepth({ page, limit })
  const words = filter.q === undefined ? null : await findWords(trx, book.id, filter.q, filter, { memos: false })
  const conditions = [
    { text: 'e.tenant_id = ?', values: [contextOf(trx).tenantId] },
    ...where('e.book_id = ?', book.id),
    ...conditionsOf(filter, lines, total),
    ...(words === null ? [] : [entryOf(words)]),
  ]
  const days = onDays('e.posting_date', filter)
  const found = await readPage<EntryHead>(
    trx,
    {
      columns: head(total),
      from: 'journal_entry e',
      joins,
      conditions,
      days,
      total:
        words?.entryIds === null
          ? countedTo('journal_entry e', [...conditions, ...days.rows])
          : totalOfHouse(book.id, filter, { scope, days, conditions }),
      order: 'e.posting_date desc, e.sequence desc',
    },
    { page, limit },
  )
  return { ...found, state: await ledgerState(trx, book.id) }
}

/** One entry with its lines in `scope`, the total of those, and its files. 404 where there are none. */
export const readEntry = async (
  trx: Trx,
  entryId: string,
  scope: Condition,
): Promise<EntryHead & { lines: EntryLine[]; hash: string | null; attachments: AttachmentHead[] }> => {
  const { tenantId } = contextOf(trx)
  const seen = seenBy(trx, scope)
  const { text: columns, values } = head(seen.total)
  const entry = await sqlOne<EntryHead & { hash: string | null }>(
    trx,
    `select ${columns}, encode(s.hash, 'hex') as hash from journal_entry e ${joins} where e.tenant_id = ? and e.id = ?`,
    [...values, tenantId, entryId],
  )
  const ofEntry = allOf([{ text: 'l.tenant_id = ? and l.entry_id = ?', values: [tenantId, entryId] }, ...seen.lines])
  const lines = await sql<EntryLine>(
    trx,
    `select l.line_no, l.account_id, a.code as account_code, a.name as account_name, l.debit, l.credit, l.property_id, l.cost_center_id, l.party_type,
       l.party_id, l.document_type, l.document_id, l.tax_code_id, l.tax_base, l.memo
     from journal_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
     where ${ofEntry.text} order by l.line_no`,
    ofEntry.values,
  )
  if (!entry || lines.length === 0) throw notFound('No such entry')
  const files = await attachmentsOf(trx, 'financial', 'entry', [entryId])
  return { ...entry, lines, attachments: files.get(entryId) ?? [] }
}
