import { wordOf } from '../../../config/report-texts.ts'
import { findWords } from '../../financial/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { streamed } from '../../lib/cursor.ts'
import { atOnce } from '../../../config/reports.ts'
import { ledgerBook, metaOf, rangeOf, refusePart, tooLarge } from '../ledger-context.ts'
import type { Asked, Column, Meta, Reading, Sight, Window } from '../reading.ts'

export type JournalLine = {
  lineNo: number
  accountId: string
  accountCode: string
  accountName: string
  debit: number
  credit: number
  propertyId: string | null
  costCenterId: string | null
  memo: string
}
export type JournalRow = {
  entryId: string
  number: number | null
  year: number | null
  sequence: number
  postingDate: string
  journalId: string
  journalCode: string
  kind: string
  description: string
  total: number
  lines: JournalLine[]
}

const from = `journal_entry e join journal j on j.tenant_id = e.tenant_id and j.id = e.journal_id
  left join journal_seal s on s.tenant_id = e.tenant_id and s.entry_id = e.id`
const inRange = `e.tenant_id = :tenantId and e.book_id = :bookId and e.posting_date between cast(:from as date) and cast(:to as date)
  and (cast(:journalId as uuid) is null or e.journal_id = cast(:journalId as uuid))`
const found = `and (cast(:entryIds as uuid[]) is null or e.id = any(cast(:entryIds as uuid[])))
  and (cast(:entryIds as uuid[]) is not null or e.description = any(cast(:texts as text[])) or e.id = any(cast(:numbered as uuid[])))`
const columns = `e.id as entry_id, s.number, s.year, e.sequence, e.posting_date, e.journal_id, j.code as journal_code, e.kind, e.description, e.total`
// Entries without a number follow those that have one.
const order = `s.year nulls last, s.number nulls last, e.posting_date, e.sequence`
const lines = `(select jsonb_agg(jsonb_build_object('lineNo', l.line_no, 'accountId', l.account_id, 'accountCode', a.code, 'accountName', a.name,
    'debit', l.debit, 'credit', l.credit, 'propertyId', l.property_id, 'costCenterId', l.cost_center_id, 'memo', l.memo) order by l.line_no)
  from journal_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
  where l.tenant_id = cast(:tenantId as uuid) and l.entry_id = p.entry_id) as lines`

const columnsOf = ({ locale }: Meta): Column[] => {
  const word = (key: string) => wordOf(key, locale)
  return [
    { key: 'number', title: word('number'), kind: 'count' },
    { key: 'postingDate', title: word('date'), kind: 'day' },
    { key: 'sequence', title: word('sequence'), kind: 'count' },
    { key: 'journalCode', title: word('journal'), kind: 'text', width: 8 },
    { key: 'description', title: word('description'), kind: 'text', width: 40 },
    { key: 'accountCode', title: word('code'), kind: 'text', width: 12 },
    { key: 'accountName', title: word('account'), kind: 'text', width: 30 },
    { key: 'debit', title: word('debit'), kind: 'amount' },
    { key: 'credit', title: word('credit'), kind: 'amount' },
    { key: 'memo', title: word('memo'), kind: 'text', width: 20 },
  ]
}

/** The diary of a book: entries in the order of their numbers, then those that have none yet by date and sequence (R11). Totals are of the whole range, or of what `q` finds in it. */
export const openJournal = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<JournalRow>> => {
  refusePart(asked, sight)
  const book = await ledgerBook(trx, asked, sight)
  const range = rangeOf('journal', asked, book, window)
  if (window !== null && window.page * window.limit > atOnce.rows)
    throw tooLarge('journal', asked, `The page lies behind ${atOnce.rows} entries`)
  const meta = await metaOf(trx, 'journal', book, range, null, sight)
  const q = asked['q'] as string | undefined
  const words = q === undefined ? {} : await findWords(trx, book.id, q, range, { memos: false })
  const where = q === undefined ? inRange : `${inRange} ${found}`
  const values = {
    tenantId: contextOf(trx).tenantId,
    bookId: book.id,
    ...range,
    journalId: (asked['journalId'] as string | undefined) ?? null,
    ...words,
  }
  const counted = await sqlOne<{ entries: number; total: number }>(
    trx,
    `select count(*) as entries, cast(coalesce(sum(e.total), 0) as bigint) as total from journal_entry e where ${where}`,
    values,
  )
  const { entries, total } = counted ?? { entries: 0, total: 0 }
  const rows =
    window === null
      ? streamed<JournalRow>(
          trx,
          `select p.*, ${lines} from (select ${columns} from ${from} where ${where} order by ${order}) p`,
          values,
          500,
        )
      : await sql<JournalRow>(
          trx,
          `select p.*, ${lines} from (select ${columns} from ${from} where ${where} order by ${order} limit :limit offset :offset) p
           order by p.year nulls last, p.number nulls last, p.posting_date, p.sequence`,
          { ...values, limit: window.limit, offset: (window.page - 1) * window.limit },
        )
  return {
    meta,
    rows,
    total: entries,
    totals: () => ({ entries, debit: total, credit: total }),
    columns: columnsOf(meta),
    flat: ({ lines: inside, ...entry }) => inside.map((line) => ({ ...entry, ...line })),
    foot: () => ({ description: wordOf('totals', meta.locale), debit: total, credit: total }),
  }
}
