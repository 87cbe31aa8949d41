import { addDays } from '../../config/time.ts'
import { isAlways } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { allOf, flag, inScope, readPage, where } from '../lib/paging.ts'
import type { Paging, Part } from '../lib/paging.ts'
import { readAccount } from './accounts/read.ts'
import { bookFor, ledgerState, movements } from './chart.ts'
import { ofTotal, seenBy } from './journal.ts'
import { countedTo, findWords, lineOf, refuseDepth } from './words.ts'

export type LineOfAccount = {
  entryId: string
  lineNo: number
  postingDate: string
  number: number | null
  description: string
  debit: number
  credit: number
  /** On the normal side of the account, after this line. */
  balance: number
  propertyId: string | null
  documentType: string | null
  documentId: string | null
  partyType: string | null
  partyId: string | null
}

const seen = (scope: Condition, column: string): Part[] => (isAlways(scope) ? [] : inScope(scope, column))

const dayOf = (day: 'starts_on' | 'ends_on') =>
  `(select p.${day} from fiscal_period p where p.tenant_id = ? and p.book_id = ? and p.id = ?)`
/** Within the days of a period, which are read first. */
const inPeriod = (day: string, ids: unknown[]): Part[] => [
  { text: `${day} >= ${dayOf('starts_on')}`, values: ids },
  { text: `${day} <= ${dayOf('ends_on')}`, values: ids },
]

/** The number of lines under conditions on their account, house and period alone, as the balances of each period count them. */
const linesKept = (conditions: readonly Part[]): Part => {
  const { text, values } = allOf(conditions)
  return {
    text: `select coalesce(sum(l.line_count), 0)::bigint as total from account_balance l
       join fiscal_period p on p.tenant_id = l.tenant_id and p.book_id = l.book_id and p.id = l.period_id where ${text}`,
    values,
  }
}

/** The number of lines under conditions on their house and period, and on the kind, journal and lateness of their entries, as it is kept. */
const linesOfKind = (conditions: readonly Part[]): Part => {
  const { text, values } = allOf(conditions)
  return {
    text: `select coalesce(sum(l.n), 0)::bigint as total from fiscal_period p
       join list_count l on l.tenant_id = p.tenant_id and l.book_id = p.book_id and l.period_id = p.id and l.list = 'journal_line' where ${text}`,
    values,
  }
}

type Days = { from: string | undefined; to: string | undefined }
type Counting = {
  /** The number of lines as it is kept, of the periods that fulfil conditions. */
  kept: (periods: readonly Part[]) => Part
  source: string
  conditions: readonly Part[]
  /** The table whose days have an index under the conditions. */
  of: 'l' | 'e'
}

/**
 * The number of lines within days: of whole periods as it is kept, and those of the periods that a day cuts, line by line. `offset 0` has PostgreSQL read such a
 * period first, and then its days alone.
 */
const linesWithin = (
  { kept, source, conditions, of }: Counting,
  { tenantId, bookId, from, to }: Days & { tenantId: string | null; bookId: string },
): Part => {
  const whole = kept([...where('p.starts_on >= ?', from), ...where('p.ends_on <= ?', to)])
  const inside = allOf(conditions)
  const touched = allOf([
    { text: 'p.tenant_id = ? and p.book_id = ?', values: [tenantId, bookId] },
    ...where('p.ends_on >= ?', from),
    ...where('p.starts_on <= ?', to),
  ])
  const cut = [...where('p.starts_on < ?', from), ...where('p.ends_on > ?', to)]
  return {
    text: `select (${whole.text}) + (select coalesce(sum(x.n), 0)::bigint from fiscal_period p
       cross join lateral (select count(*) as n from ${source} where ${inside.text} and ${of}.period_id = p.id
         and ${of}.posting_date >= p.starts_on and ${of}.posting_date <= p.ends_on offset 0) x
       where ${touched.text} and (${cut.map(({ text }) => text).join(' or ')})) as total`,
    values: [...whole.values, ...inside.values, ...touched.values, ...cut.flatMap(({ values }) => values)],
  }
}

/**
 * A page of the lines of an account in the order of posting, with the balance after each; `opening` and `closing` are the balances before and after the
 * days asked for. Of the lines in `scope` alone.
 */
export const listAccountLines = async (
  trx: Trx,
  accountId: string,
  {
    from,
    to,
    propertyId,
    scope,
    ...paging
  }: Paging & { from?: string; to?: string; propertyId?: string; scope: Condition },
) => {
  refuseDepth(paging)
  const account = await readAccount(trx, accountId)
  const { tenantId } = contextOf(trx)
  const sign = account.side === 'debit' ? 'l.debit - l.credit' : 'l.credit - l.debit'
  const place: Part[] = [
    { text: 'l.tenant_id = ? and l.book_id = ? and l.account_id = ?', values: [tenantId, account.bookId, accountId] },
    ...where('l.property_id = ?', propertyId),
    ...seen(scope, 'l.property_id'),
  ]
  const conditions = [...place, ...where('l.posting_date >= ?', from), ...where('l.posting_date <= ?', to)]
  const kept = (periods: readonly Part[]) => linesKept([...place, ...periods])
  // Whole periods come from the balances, so that no page sums the lines of years.
  const balanceOn = async (day: string | undefined): Promise<number> => {
    const moved = (await movements(trx, account.bookId, day, propertyId, scope, [accountId])).get(accountId) ?? 0
    return account.side === 'debit' || moved === 0 ? moved : -moved
  }
  const [opening, closing] = await Promise.all([from === undefined ? 0 : balanceOn(addDays(from, -1)), balanceOn(to)])
  const { rows, total } = await readPage<LineOfAccount>(
    trx,
    {
      columns: {
        text: `l.entry_id, l.line_no, l.posting_date, s.number, e.description, l.debit, l.credit, l.property_id, l.document_type, l.document_id,
          l.party_type, l.party_id, cast(? + sum(${sign}) over (order by l.posting_date, e.sequence, l.line_no) as bigint) as balance`,
        values: [opening],
      },
      from: `journal_line l join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id`,
      joins: `left join journal_seal s on s.tenant_id = e.tenant_id and s.entry_id = e.id`,
      conditions,
      total:
        from === undefined && to === undefined
          ? kept([])
          : linesWithin(
              { kept, source: 'journal_line l', conditions, of: 'l' },
              { tenantId, bookId: account.bookId, from, to },
            ),
      order: 'l.posting_date, e.sequence, l.line_no',
    },
    paging,
  )
  return {
    rows,
    total,
    opening,
    closing,
    currency: account.currency,
    state: await ledgerState(trx, account.bookId),
  }
}

export type LineFilter = {
  bookId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  periodId?: string | undefined
  journalId?: string | undefined
  entryId?: string | undefined
  accountId?: string | undefined
  propertyId?: string | undefined
  kind?: string | undefined
  sourceType?: string | undefined
  sourceId?: string | undefined
  minTotal?: number | undefined
  maxTotal?: number | undefined
  late?: boolean | undefined
  documentType?: string | undefined
  documentId?: string | undefined
  partyType?: string | undefined
  partyId?: string | undefined
  costCenterId?: string | undefined
  taxCodeId?: string | undefined
  amount?: number | undefined
  q?: string | undefined
}

export type FoundLine = Omit<LineOfAccount, 'balance'> & {
  accountId: string
  accountCode: string
  costCenterId: string | null
  taxCodeId: string | null
  taxBase: number | null
  memo: string
  sourceType: string
  sourceId: string
}

/**
 * A page of a book's lines, the latest first. Without days, entry, document or party it is that of the present fiscal year. `minTotal` and `maxTotal` mean
 * the total of the entry, as its list shows it.
 */
export const searchLines = async (
  trx: Trx,
  { page, limit, scope, ...filter }: LineFilter & Paging & { scope: Condition },
) => {
  refuseDepth({ page, limit })
  const book = await bookFor(trx, filter.bookId)
  const { tenantId } = contextOf(trx)
  const isNarrow = [filter.from, filter.documentId, filter.partyId, filter.entryId].some((one) => one !== undefined)
  const year = isNarrow
    ? null
    : await sqlOne<{ startsOn: string }>(
        trx,
        `select y.starts_on from book b join fiscal_year y on y.tenant_id = b.tenant_id and y.book_id = b.id
           and cast(now() at time zone b.time_zone as date) between y.starts_on and y.ends_on where b.tenant_id = ? and b.id = ?`,
        [tenantId, book.id],
      )
  const place: Part[] = [
    { text: 'l.tenant_id = ? and l.book_id = ?', values: [tenantId, book.id] },
    ...where('l.period_id = ?', filter.periodId),
    ...where('l.account_id = ?', filter.accountId),
    ...where('l.property_id = ?', filter.propertyId),
    ...seen(scope, 'l.property_id'),
  ]
  const { bookId: _, periodId: _period, accountId: _account, propertyId: _property, ...others } = filter
  const { kind, journalId, late: isLate, from: _from, to: _to, ...more } = others
  const isOfKind = (kind ?? journalId ?? isLate) !== undefined
  // Lines are in the order of their entries; those of an account or a house have an index of their own.
  const isOfPlace = (filter.accountId ?? filter.propertyId) !== undefined
  const day = isOfPlace ? 'l.posting_date' : 'e.posting_date'
  const from = filter.from ?? year?.startsOn
  const words =
    filter.q === undefined ? null : await findWords(trx, book.id, filter.q, { from, to: filter.to }, { memos: true })
  const { total } = seenBy(trx, scope)
  // Balances tell the lines of an account, and counts those of kinds; neither tells both.
  const isCounted =
    Object.values(more).every((one) => one === undefined) && !(isOfKind && filter.accountId !== undefined)
  const kept = (periods: readonly Part[]): Part =>
    isOfKind
      ? linesOfKind([
          ...place,
          ...periods,
          ...where('l.kind = ?', kind),
          ...where('l.journal_id = ?', journalId),
          ...flag('l.late', isLate),
        ])
      : linesKept([...place, ...periods])
  const source = `journal_line l join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id`
  const conditions: Part[] = [
    ...place,
    ...(isOfPlace ? [] : [{ text: 'e.tenant_id = ? and e.book_id = ?', values: [tenantId, book.id] }]),
    ...where(`${day} >= ?`, from),
    ...where(`${day} <= ?`, filter.to),
    ...(filter.periodId === undefined ? [] : inPeriod(day, [tenantId, book.id, filter.periodId])),
    ...where('e.journal_id = ?', filter.journalId),
    ...where('l.entry_id = ?', filter.entryId),
    ...where('e.kind = ?', filter.kind),
    ...where('e.source_type = ?', filter.sourceType),
    ...where('e.source_id = ?', filter.sourceId),
    ...ofTotal(total, '>=', filter.minTotal),
    ...ofTotal(total, '<=', filter.maxTotal),
    ...flag('e.late', filter.late),
    ...where('l.document_type = ?', filter.documentType),
    ...where('l.document_id = ?', filter.documentId),
    ...where('l.party_type = ?', filter.partyType),
    ...where('l.party_id = ?', filter.partyId),
    ...where('l.cost_center_id = ?', filter.costCenterId),
    ...where('l.tax_code_id = ?', filter.taxCodeId),
    ...where('l.debit + l.credit = ?', filter.amount),
    ...(words === null ? [] : lineOf(words)),
  ]
  const found = await readPage<FoundLine>(
    trx,
    {
      columns: `l.entry_id, l.line_no, l.posting_date, s.number, e.description, l.account_id, a.code as account_code, l.debit, l.credit, l.property_id,
        l.cost_center_id, l.party_type, l.party_id, l.document_type, l.document_id, l.tax_code_id, l.tax_base, l.memo, e.source_type, e.source_id`,
      from: source,
      joins: `left join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
        left join journal_seal s on s.tenant_id = e.tenant_id and s.entry_id = e.id`,
      conditions,
      total: !isCounted
        ? words?.entryIds === null
          ? countedTo(source, conditions)
          : null
        : filter.from === undefined && filter.to === undefined
          ? kept(where('p.starts_on >= ?', year?.startsOn))
          : linesWithin(
              { kept, source, conditions, of: isOfPlace ? 'l' : 'e' },
              { tenantId, bookId: book.id, from, to: filter.to },
            ),
      order: `${day} desc, e.sequence desc, l.line_no`,
    },
    { page, limit },
  )
  return { ...found, state: await ledgerState(trx, book.id) }
}
