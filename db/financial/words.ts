import { invalid } from '../../config/errors.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { allOf } from '../lib/paging.ts'
import type { Paging, Part } from '../lib/paging.ts'
import { plainTerm } from '../lib/sealing/normalise.ts'

/** Texts, entries and rows that a list goes through at most. */
const most = 10_000

type Days = { from?: string | undefined; to?: string | undefined }
export type WordsFound = {
  /** Descriptions and memos that have every word. */
  texts: string[]
  /** Entries that have the number in the diary of a year. */
  numbered: string[]
  /** All entries found; null where they are more than a search goes through: then a page fills up soon. */
  entryIds: string[] | null
}

const patternOf = (word: string) => `%${word.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`

/**
 * Entries of a book by the words of their descriptions or of the memos of their lines, without regard to case and accents, and by their number in the
 * diary. 400 `validation_failed` where the words stand in too many different texts.
 */
export const findWords = async (
  trx: Trx,
  bookId: string,
  q: string,
  { from, to }: Days,
  { memos }: { memos: boolean },
): Promise<WordsFound> => {
  const words = plainTerm(q.trim()).split(' ')
  const found = await sql<{ found: string }>(trx, `select found from journal_texts_like(?, ?, ?)`, [
    bookId,
    words.map(patternOf),
    most + 1,
  ])
  if (found.length > most) throw invalid([{ field: 'q', message: `stands in more than ${most} texts; add a word` }])
  const texts = found.map((one) => one.found)
  const days = (day: string) =>
    `${day} between coalesce(cast(:from as date), date '0001-01-01') and coalesce(cast(:to as date), date '9999-12-31')`
  const values = {
    tenantId: contextOf(trx).tenantId,
    bookId,
    texts,
    from: from ?? null,
    to: to ?? null,
    most: most + 1,
  }
  const numbered = await withNumber(trx, bookId, q.trim())
  const entries = await sql<{ id: string }>(
    trx,
    `select id from (
       select e.id from unnest(cast(:texts as text[])) t (text) cross join lateral (
         select e.id from journal_entry e where e.tenant_id = :tenantId and e.book_id = :bookId and e.description = t.text and ${days('e.posting_date')}
         limit :most) e
       ${memos ? `union ${ofMemos(days('l.posting_date'))}` : ''}) f limit :most`,
    values,
  )
  if (entries.length > most) return { texts, numbered, entryIds: null }
  return { texts, numbered, entryIds: [...new Set([...entries.map(({ id }) => id), ...numbered])] }
}

const ofMemos = (days: string) => `
  select l.entry_id from unnest(cast(:texts as text[])) t (text) cross join lateral (
    select l.entry_id from journal_line l where l.tenant_id = :tenantId and l.book_id = :bookId and l.memo = t.text and l.memo <> '' and ${days}
    limit :most) l`

const withNumber = async (trx: Trx, bookId: string, q: string): Promise<string[]> => {
  if (!/^\d{1,15}$/.test(q)) return []
  const found = await sql<{ entryId: string }>(
    trx,
    `select s.entry_id from fiscal_year y
     join journal_seal s on s.tenant_id = y.tenant_id and s.book_id = y.book_id and s.year = y.year and s.number = ?
     where y.tenant_id = ? and y.book_id = ?`,
    [Number(q), contextOf(trx).tenantId, bookId],
  )
  return found.map(({ entryId }) => entryId)
}

/** That an entry `e` is one of those found. */
export const entryOf = ({ texts, numbered, entryIds }: WordsFound): Part =>
  entryIds === null
    ? { text: '(e.description = any(?::text[]) or e.id = any(?::uuid[]))', values: [texts, numbered] }
    : { text: 'e.id = any(?::uuid[])', values: [entryIds] }

/** That a line `l` of an entry `e` has the words itself, in its entry's description, or that its entry has the number. */
export const lineOf = ({ texts, numbered, entryIds }: WordsFound): Part[] => [
  ...(entryIds === null ? [] : [{ text: 'l.entry_id = any(?::uuid[])', values: [entryIds] }]),
  {
    text: '(e.description = any(?::text[]) or l.memo = any(?::text[]) or e.id = any(?::uuid[]))',
    values: [texts, texts, numbered],
  },
]

/** The number of rows under conditions that many fulfil: as many as a list goes through at most. */
export const countedTo = (from: string, conditions: readonly Part[]): Part => {
  const { text, values } = allOf(conditions)
  return { text: `select count(*) as total from (select from ${from} where ${text} limit ${most}) f`, values }
}

/** Refuses pages behind the rows that a list goes through at most; a report run has more. */
export const refuseDepth = ({ page, limit }: Paging) => {
  if (page * limit > most) throw invalid([{ field: 'page', message: `goes beyond ${most} rows; narrow the days` }])
}
