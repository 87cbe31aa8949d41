import { ledgerSeal } from '../../jobs/financial.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { beforeAll, sealOf } from './rules/diary.ts'
import type { DiaryEntry, DiaryLine } from './rules/diary.ts'

/** Seed of the advisory lock of a book in which its diary is numbered. */
const turn = 36
/** Entries that one transaction numbers. */
const atOnce = 1_000

/** A period whose taxes or numbers are on their way, as SQL on the period `p`. */
export const isWorking = `(p.status <> 'open' and (p.taxes_due or p.diary_until is distinct from p.diary_done))`

/** Asks that the diary of a book be numbered up to where its periods say. */
export const requestSeal = async (trx: Trx, bookId: string, periodId: string): Promise<void> => {
  await enqueue(trx, ledgerSeal, { tenantId: contextOf(trx).tenantId ?? '', bookId, periodId })
}

/** The entry that stands last in a period `p`, for `diary_until`: what is posted later is numbered later. `:tenantId` is bound. */
export const lastSequence = `(select coalesce(max(e.sequence), 0) from journal_entry e where e.tenant_id = :tenantId and e.book_id = p.book_id and e.period_id = p.id)`

type Pending = { id: string; year: number; diaryUntil: number | null }

/** Entries by their ids, with their lines, as they are sealed. */
export const diaryOf = async (trx: Trx, ids: readonly string[]): Promise<Map<string, DiaryEntry>> => {
  const { tenantId } = contextOf(trx)
  const [entries, lines] = await Promise.all([
    sql<Omit<DiaryEntry, 'lines'>>(
      trx,
      `select id, posting_date, kind, source_type, source_id, source_seq, reverses_entry_id, currency, total, description
       from journal_entry where tenant_id = ? and id = any(?::uuid[])`,
      [tenantId, [...ids]],
    ),
    sql<DiaryLine & { entryId: string }>(
      trx,
      `select entry_id, line_no, account_id, debit, credit, property_id, cost_center_id, document_type, document_id
       from journal_line where tenant_id = ? and entry_id = any(?::uuid[]) order by entry_id, line_no`,
      [tenantId, [...ids]],
    ),
  ])
  const byEntry = new Map<string, DiaryLine[]>()
  for (const { entryId, ...line } of lines) {
    const own = byEntry.get(entryId)
    if (own) own.push(line)
    else byEntry.set(entryId, [line])
  }
  return new Map(entries.map((entry) => [entry.id, { ...entry, lines: byEntry.get(entry.id) ?? [] }]))
}

/**
 * Numbers and seals the next entries of a book's diary, a thousand at most, in the order (postingDate, sequence) of the earliest period that waits for it
 * (R28). One transaction of a book does so at a time. Answers whether more is left.
 */
export const sealNext = async (trx: Trx, bookId: string): Promise<boolean> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended(?, ${turn}))`, [bookId])
  const period = await sqlOne<Pending>(
    trx,
    `select p.id, y.year, p.diary_until from fiscal_period p join fiscal_year y on y.tenant_id = p.tenant_id and y.id = p.fiscal_year_id
     where p.tenant_id = ? and p.book_id = ? and p.status <> 'open'
       and (p.diary_until is distinct from p.diary_done or p.taxes_due and p.diary_until is null)
     order by p.starts_on, p.number limit 1`,
    [tenantId, bookId],
  )
  // Without an end its taxes are still being assessed, and later periods wait behind it; that job asks again.
  if (!period || period.diaryUntil === null) return false
  const due = await sql<{ id: string }>(
    trx,
    `select e.id from journal_entry e
     where e.tenant_id = ? and e.book_id = ? and e.period_id = ? and e.sequence <= ?
       and not exists (select from journal_seal s where s.tenant_id = e.tenant_id and s.entry_id = e.id)
     order by e.posting_date, e.sequence limit ${atOnce}`,
    [tenantId, bookId, period.id, period.diaryUntil],
  )
  await seal(
    trx,
    bookId,
    period.year,
    due.map(({ id }) => id),
  )
  if (due.length < atOnce)
    await sql(
      trx,
      `update fiscal_period set diary_done = diary_until, sealed_at = now(), version = version + 1
       where tenant_id = ? and id = ? and diary_until = ?`,
      [tenantId, period.id, period.diaryUntil],
    )
  return true
}

const seal = async (trx: Trx, bookId: string, year: number, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  const { tenantId } = contextOf(trx)
  const [last, entries] = await Promise.all([
    sqlOne<{ position: number; hash: Buffer | null; number: number }>(
      trx,
      `select coalesce(l.position, 0) as position, l.hash, n.number
       from (select coalesce(max(s.number), 0) as number from journal_seal s where s.tenant_id = :tenantId and s.book_id = :bookId and s.year = :year) n
       left join lateral (select s.position, s.hash from journal_seal s where s.tenant_id = :tenantId and s.book_id = :bookId
         order by s.position desc limit 1) l on true`,
      { tenantId, bookId, year },
    ),
    diaryOf(trx, ids),
  ])
  let position = last?.position ?? 0
  let number = last?.number ?? 0
  let previous: Buffer = last?.hash ?? beforeAll
  const rows = ids.flatMap((id) => {
    const entry = entries.get(id)
    if (!entry) return []
    position += 1
    number += 1
    const before = previous
    previous = sealOf(before, number, entry)
    return [{ entry_id: id, position, number, before: before.toString('hex'), hash: previous.toString('hex') }]
  })
  await sql(
    trx,
    `insert into journal_seal (tenant_id, book_id, year, position, number, entry_id, previous_hash, hash)
     select ?, ?, ?, s.position, s.number, s.entry_id, decode(s.before, 'hex'), decode(s.hash, 'hex')
     from jsonb_to_recordset(?::jsonb) as s (position bigint, number bigint, entry_id uuid, before text, hash text) order by s.position`,
    [tenantId, bookId, year, JSON.stringify(rows)],
  )
}

/** The seals of a book that are not those of the entries as they stand, or do not follow the one before, in the order of the chain. */
export const brokenSeals = async (trx: Trx, bookId: string): Promise<Record<string, unknown>[]> => {
  const broken: Record<string, unknown>[] = []
  let previous: Buffer = beforeAll
  for (let position = 0; ;) {
    const seals = await sql<{
      position: number
      year: number
      number: number
      entryId: string
      previousHash: Buffer
      hash: Buffer
    }>(
      trx,
      `select position, year, number, entry_id, previous_hash, hash from journal_seal
       where tenant_id = ? and book_id = ? and position > ? order by position limit ${atOnce}`,
      [contextOf(trx).tenantId, bookId, position],
    )
    const entries = await diaryOf(
      trx,
      seals.map(({ entryId }) => entryId),
    )
    for (const { year, number, entryId, previousHash, hash } of seals) {
      const entry = entries.get(entryId)
      const problem = !previousHash.equals(previous)
        ? 'does not follow the seal before'
        : !entry
          ? 'the entry is gone'
          : sealOf(previousHash, number, entry).equals(hash)
            ? null
            : 'the entry is not what was sealed'
      if (problem) broken.push({ entryId, year, number, problem })
      previous = hash
    }
    const last = seals.at(-1)
    if (!last || seals.length < atOnce) return broken
    position = last.position
  }
}
