import { wordsOf } from '../../config/financial.ts'
import type { JournalKind } from '../../config/financial.ts'
import { ledgerRunDue } from '../../jobs/financial.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { ofTenantsHere } from '../lib/moved-out.ts'
import { linesOf } from './entries.ts'
import { postEntry } from './post.ts'
import { turned } from './rules/resolve.ts'

type DailyJob = typeof ledgerRunDue

/**
 * Jobs that a book has once a day, in its own zone. One of today does what was due up to today; one of `each` day does what belongs to its own day, and is asked
 * for again for each day that was missed.
 */
type Daily = { job: DailyJob; days: 'today' | 'each' }
const dailies: Daily[] = [{ job: ledgerRunDue, days: 'today' }]

/** Adds a job that every book has once a day. */
export const registerDaily = (job: DailyJob, days: Daily['days']): void => {
  if (!dailies.some((one) => one.job === job)) dailies.push({ job, days })
}

/** Days before today that are caught up on; of a longer pause the last ones. */
const mostMissed = 60

/**
 * Marks a book as asked up to today in its zone. Answers the days since it was marked last, today being the last of them; none where another one has marked it.
 */
const daysSince = async (trx: Trx, bookId: string): Promise<string[]> => {
  const bound = { tenantId: contextOf(trx).tenantId, bookId, mostMissed }
  await sql(trx, `select from book_tick where tenant_id = :tenantId and book_id = :bookId for no key update`, bound)
  const days = await sql<{ day: string }>(
    trx,
    `with before as (select t.ticked_on from book_tick t where t.tenant_id = :tenantId and t.book_id = :bookId),
     ticked as (
       insert into book_tick (tenant_id, book_id, ticked_on)
       select b.tenant_id, b.id, cast(now() at time zone b.time_zone as date) from book b where b.tenant_id = :tenantId and b.id = :bookId
       on conflict (tenant_id, book_id) do update set ticked_on = excluded.ticked_on where book_tick.ticked_on < excluded.ticked_on
       returning ticked_on)
     select cast(d as date) as day from ticked
     cross join generate_series(
       greatest(coalesce((select ticked_on + 1 from before), ticked.ticked_on), ticked.ticked_on - cast(:mostMissed as int)), ticked.ticked_on, interval '1 day') d
     order by 1`,
    bound,
  )
  return days.map(({ day }) => day)
}

/** Asks for the daily jobs of each active book in whose zone a day has begun since they were asked for last. Answers how many books. */
export const tickBooks = async (trx: PlatformTrx): Promise<number> => {
  const found = await sql<{ tenantId: string; bookId: string }>(
    trx,
    `select tenant_id, book_id from books_of_a_new_day()`,
  )
  const books = await ofTenantsHere(trx, found)
  for (const { tenantId, bookId } of books) {
    const inside = await enterTenant(trx, tenantId)
    const missed = await daysSince(inside, bookId)
    for (const { job, days } of dailies)
      for (const date of days === 'each' ? missed : missed.slice(-1))
        await enqueue(inside, job, { tenantId, bookId, date }, { uniqueKey: `${bookId}.${date}` })
  }
  return books.length
}

/** Asks that what is due in a book be posted now, up to today in its zone. */
export const requestDue = async (trx: Trx, bookId: string, date: string): Promise<void> => {
  await enqueue(trx, ledgerRunDue, { tenantId: contextOf(trx).tenantId ?? '', bookId, date })
}

/**
 * The day itself where period, book and journal are open for it, else the first later day that is; null while there is none. The journal is named, or the
 * oldest active one of the kind.
 */
export const firstDayFor = async (
  trx: Trx,
  { bookId, journalId = null, kind = 'general' }: { bookId: string; journalId?: string | null; kind?: JournalKind },
  date: string,
): Promise<string | null> => {
  const found = await sqlOne<{ day: string | null }>(
    trx,
    `select min(greatest(p.starts_on, f.day)) as day
     from book b
     left join lateral (select j.locked_until from journal j where j.tenant_id = b.tenant_id and j.book_id = b.id and j.active
       and case when cast(:journalId as uuid) is null then j.kind = :kind else j.id = cast(:journalId as uuid) end
       order by j.created_at, j.code limit 1) j on true
     cross join lateral (select greatest(cast(:date as date), b.locked_until + 1, j.locked_until + 1) as day) f
     join fiscal_period p on p.tenant_id = b.tenant_id and p.book_id = b.id and p.kind = 'regular' and p.status = 'open' and p.ends_on >= f.day
     where b.tenant_id = :tenantId and b.id = :bookId`,
    { tenantId: contextOf(trx).tenantId, bookId, journalId, kind, date },
  )
  return found?.day ?? null
}

/** Entries of a book that said when they are reversed (R21), are due, and were not. */
export const dueReversals = (trx: Trx, bookId: string, date: string) =>
  sql<{ id: string }>(
    trx,
    `select e.id from journal_entry e where e.tenant_id = ? and e.book_id = ? and e.reverse_on <= ?
       and not exists (select from journal_entry r where r.tenant_id = e.tenant_id and r.reverses_entry_id = e.id)
     order by e.reverse_on, e.sequence limit 10000`,
    [contextOf(trx).tenantId, bookId, date],
  )

/** Reverses an entry on the day that it named, or on the first open day after it; once. While no day is open it waits. */
export const reverseDue = async (trx: Trx, entryId: string): Promise<void> => {
  // Those that reverse it by hand take turns with this.
  await sqlOne(trx, `select pg_advisory_xact_lock(hashtextextended(?, 34))`, [entryId])
  const entry = await sqlOne<{
    bookId: string
    journalId: string
    reverseOn: string
    description: string
    countryCode: string
    reversed: boolean
  }>(
    trx,
    `select e.book_id, e.journal_id, e.reverse_on, e.description, b.country_code,
       exists (select from journal_entry r where r.tenant_id = :tenantId and r.reverses_entry_id = e.id) as reversed
     from journal_entry e join book b on b.tenant_id = e.tenant_id and b.id = e.book_id where e.tenant_id = :tenantId and e.id = :entryId`,
    { tenantId: contextOf(trx).tenantId, entryId },
  )
  if (!entry || entry.reversed) return
  const { bookId, journalId } = entry
  const postingDate = await firstDayFor(trx, { bookId, journalId }, entry.reverseOn)
  // While no day is open it waits: every day asks again.
  if (postingDate === null) return
  await postEntry(trx, {
    source: { type: 'financial.reversal', id: entryId },
    bookId,
    journalId,
    postingDate,
    kind: 'reversal',
    description: `${wordsOf('financial.reversal', entry.countryCode)}: ${entry.description}`.slice(0, 300),
    lines: turned((await linesOf(trx, [entryId])).get(entryId) ?? []),
    reversesEntryId: entryId,
    createdBy: null,
  })
}
