import { notFound } from '../../config/errors.ts'
import { isAlways, whereOf } from '../conditions.ts'
import type { Condition } from '../conditions.ts'
import { contextOf, sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { bookFor, ledgerState } from './chart.ts'

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
}

export type EntryHead = {
  id: string
  sequence: number
  number: number | null
  bookId: string
  journalId: string
  periodId: string
  postingDate: string
  currency: string
  kind: 'standard' | 'reversal' | 'opening' | 'closing'
  reversesEntryId: string | null
  reversedByEntryId: string | null
  sourceType: string
  sourceId: string
  sourceSeq: number
  total: number
  description: string
  late: boolean
  createdBy: string | null
  approvedBy: string | null
  selfApproved: boolean
  createdAt: Date
}

export type EntryLine = {
  lineNo: number
  accountId: string
  accountCode: string
  accountName: string
  debit: number
  credit: number
  propertyId: string | null
  costCenterId: string | null
  partyType: string | null
  partyId: string | null
  documentType: string | null
  documentId: string | null
  taxCodeId: string | null
  taxBase: number | null
  memo: string
}

const head = (
  total: string,
) => `e.id, e.sequence, s.number, e.book_id, e.journal_id, e.period_id, e.posting_date, e.currency, e.kind,
  e.reverses_entry_id, r.id as reversed_by_entry_id, e.source_type, e.source_id, e.source_seq, ${total} as total, e.description, e.late,
  e.created_by, e.approved_by, e.self_approved, e.created_at`
const joins = `left join journal_entry r on r.tenant_id = e.tenant_id and r.reverses_entry_id = e.id
  left join journal_seal s on s.tenant_id = e.tenant_id and s.entry_id = e.id`

/** The lines that a caller may see, and the total of an entry as he sees it: that of the lines shown, on their larger side. */
const seenBy = (trx: Trx, scope: Condition) => ({
  lines: whereOf(trx, scope, { propertyId: 'l.property_id' }),
  total: isAlways(scope)
    ? 'e.total'
    : `(select cast(greatest(sum(l.debit), sum(l.credit)) as bigint) from journal_line l
         where l.tenant_id = e.tenant_id and l.entry_id = e.id and :lines)`,
})

/** A condition per filter that is set; all values are bound. */
const conditionsOf = (filter: EntryFilter, scope: Condition, total: string) => {
  const where: string[] = []
  const values: Record<string, unknown> = {}
  const add = (name: string, value: unknown, condition: string) => {
    if (value === undefined || value === null) return
    where.push(condition)
    values[name] = value
  }
  const line = (condition: string) =>
    `exists (select from journal_line l where l.tenant_id = e.tenant_id and l.entry_id = e.id and ${condition})`
  add('from', filter.from, 'e.posting_date >= :from')
  add('to', filter.to, 'e.posting_date <= :to')
  add('periodId', filter.periodId, 'e.period_id = :periodId')
  add('journalId', filter.journalId, 'e.journal_id = :journalId')
  add('kind', filter.kind, 'e.kind = :kind')
  add('sourceType', filter.sourceType, 'e.source_type = :sourceType')
  add('sourceId', filter.sourceId, 'e.source_id = :sourceId')
  add('minTotal', filter.minTotal, `${total} >= :minTotal`)
  add('maxTotal', filter.maxTotal, `${total} <= :maxTotal`)
  add('late', filter.late, 'e.late = :late')
  add('accountId', filter.accountId, line('l.account_id = :accountId'))
  add('propertyId', filter.propertyId, line('l.property_id = :propertyId'))
  if (!isAlways(scope)) where.push(line(':lines'))
  add(
    'documentId',
    filter.documentId,
    line(
      `l.document_id = :documentId${filter.documentType === undefined ? '' : ' and l.document_type = :documentType'}`,
    ),
  )
  if (filter.documentType !== undefined) values['documentType'] = filter.documentType
  if (filter.documentType !== undefined && filter.documentId === undefined)
    where.push(line('l.document_type = :documentType'))
  return { where: where.map((condition) => ` and ${condition}`).join(''), values }
}

/** A page of a book's entries, the latest first; of those alone that have a line in `scope`, with the total of such lines. */
export const listEntries = async (trx: Trx, filter: EntryFilter, scope: Condition, page: number, limit: number) => {
  const book = await bookFor(trx, filter.bookId)
  const { lines, total } = seenBy(trx, scope)
  const { where, values } = conditionsOf(filter, scope, total)
  const bound = { ...values, lines, tenantId: contextOf(trx).tenantId, bookId: book.id }
  const found = `e.tenant_id = :tenantId and e.book_id = :bookId${where}`
  const counted = await sqlOne<{ total: number }>(
    trx,
    `select count(*) as total from journal_entry e where ${found}`,
    bound,
  )
  const entries = await sql<EntryHead>(
    trx,
    `select ${head(total)} from journal_entry e ${joins} where ${found} order by e.posting_date desc, e.sequence desc limit :limit offset :offset`,
    { ...bound, limit, offset: (page - 1) * limit },
  )
  return { entries, total: counted?.total ?? 0, state: await ledgerState(trx, book.id) }
}

/** One entry with its lines in `scope` and the total of those. 404 where there are none. */
export const readEntry = async (
  trx: Trx,
  entryId: string,
  scope: Condition,
): Promise<EntryHead & { lines: EntryLine[]; hash: string | null }> => {
  const seen = seenBy(trx, scope)
  const bound = { tenantId: contextOf(trx).tenantId, entryId, lines: seen.lines }
  const entry = await sqlOne<EntryHead & { hash: string | null }>(
    trx,
    `select ${head(seen.total)}, encode(s.hash, 'hex') as hash from journal_entry e ${joins} where e.tenant_id = :tenantId and e.id = :entryId`,
    bound,
  )
  const lines = await sql<EntryLine>(
    trx,
    `select l.line_no, l.account_id, a.code as account_code, a.name as account_name, l.debit, l.credit, l.property_id, l.cost_center_id, l.party_type,
       l.party_id, l.document_type, l.document_id, l.tax_code_id, l.tax_base, l.memo
     from journal_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
     where l.tenant_id = :tenantId and l.entry_id = :entryId and :lines order by l.line_no`,
    bound,
  )
  if (!entry || lines.length === 0) throw notFound('No such entry')
  return { ...entry, lines }
}
