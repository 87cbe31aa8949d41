import { ApiError, conflict, notFound, unprocessable } from '../../config/errors.ts'
import { businessDayClosed, businessDayOpened } from '../../config/events/financial.ts'
import { contextOf, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { PostingError } from './rules/selectors.ts'

/** Seed of the advisory lock in which the roll of a day takes its turn. */
const turn = 31

/**
 * PostgreSQL lets new shared locks overtake a waiting exclusive lock, so overlapping commands could keep the day open for ever. All of
 * them take an advisory lock first, which keeps its order.
 */
const openDay = (trx: Trx, propertyId: string) =>
  preparedOne<{ id: string; date: string }>(
    trx,
    `with line as materialized (select pg_advisory_xact_lock_shared(hashtextextended(?, ${turn})))
     select d.id, d.date from line, business_day d where d.tenant_id = ? and d.property_id = ? and d.status = 'open' for share of d`,
    [propertyId, contextOf(trx).tenantId, propertyId],
  )

/**
 * The property's open business day, locked against its roll until the transaction ends: the first lock of a command that is
 * dated by it. A property that never had one (draft) takes today in its zone.
 */
export const businessDay = async (trx: Trx, propertyId: string): Promise<string> => {
  // After waiting for a roll the old day is closed; the second statement sees the new one.
  const day = (await openDay(trx, propertyId)) ?? (await openDay(trx, propertyId))
  if (day) return day.date
  const property = await sqlOne<{ today: string; hadDays: boolean }>(
    trx,
    `select (now() at time zone p.timezone)::date as today,
       exists (select from business_day d where d.tenant_id = p.tenant_id and d.property_id = p.id) as had_days
     from property p where p.tenant_id = ? and p.id = ?`,
    [contextOf(trx).tenantId, propertyId],
  )
  if (!property) throw notFound('No such property')
  if (property.hadDays) throw conflict('business_day_changed', 'The business day is being rolled; repeat the request')
  return property.today
}

/**
 * Opens the first business day of a property; go-live alone calls it. Answers the day's id; the same date again changes nothing,
 * another open day is 409.
 */
export const openBusinessDay = async (trx: Trx, propertyId: string, date: string): Promise<string> => {
  const { tenantId } = contextOf(trx)
  const rows = await sql<{ id: string }>(
    trx,
    `insert into business_day (tenant_id, property_id, date) values (?, ?, ?) on conflict do nothing returning id`,
    [tenantId, propertyId, date],
  )
  const made = rows[0]
  if (made) {
    await emit(trx, businessDayOpened, {
      propertyId,
      id: made.id,
      version: null,
      data: { businessDayId: made.id, date },
    })
    return made.id
  }
  const open = await openDay(trx, propertyId)
  if (open?.date !== date) throw conflict('invalid_transition', 'The property has had business days already')
  return open.id
}

/**
 * Locks the open day so that nothing more is dated on it: the first lock of its close. False where another day is open by now; 409 where commands
 * that are dated by it do not end within the time that a lock may take.
 */
export const lockDayForRoll = async (trx: Trx, propertyId: string, date: string): Promise<boolean> => {
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended(?, ${turn}))`, [propertyId])
  const day = await sqlOne(
    trx,
    `select id from business_day where tenant_id = ? and property_id = ? and status = 'open' and date = ? for update`,
    [contextOf(trx).tenantId, propertyId, date],
  )
  return day !== null
}

/**
 * Closes the open day, which `lockDayForRoll` has locked, with its totals frozen, and opens the next (R32). The night audit alone calls it. Answers
 * the new date.
 */
export const rollBusinessDay = async (
  trx: Trx,
  propertyId: string,
  date: string,
  totals: Record<string, unknown>,
): Promise<string> => {
  const { tenantId, actor } = contextOf(trx)
  const closed = await sqlOne<{ id: string; next: string }>(
    trx,
    `update business_day set status = 'closed', closed_at = clock_timestamp(), closed_by = ?, totals = ?::jsonb
     where tenant_id = ? and property_id = ? and date = ? and status = 'open' returning id, date + 1 as next`,
    [actor.type === 'user' ? actor.id : null, JSON.stringify(totals), tenantId, propertyId, date],
  )
  if (!closed) throw conflict('business_day_changed', 'The business day has been rolled; repeat the request')
  await emit(trx, businessDayClosed, {
    propertyId,
    id: closed.id,
    version: null,
    data: { businessDayId: closed.id, date },
  })
  await openBusinessDay(trx, propertyId, closed.next)
  return closed.next
}

/**
 * Refuses a date that the book would not take: 422 `period_missing`, `period_closed`, `date_locked`. Holds the period and the locks of the book until the
 * end of the transaction.
 */
export const assertOpen = async (trx: Trx, bookId: string, date: string): Promise<void> => {
  const period = await preparedOne<{ status: string; locked: boolean }>(
    trx,
    `select p.status, coalesce(?::date <= b.locked_until, false) as locked
     from fiscal_period p join book b on b.tenant_id = p.tenant_id and b.id = p.book_id
     where p.tenant_id = ? and p.book_id = ? and p.kind = 'regular' and ?::date between p.starts_on and p.ends_on
     for share of p, b`,
    [date, contextOf(trx).tenantId, bookId, date],
  )
  const errors = [{ field: 'postingDate', message: date }]
  if (!period) throw unprocessable('period_missing', 'No fiscal period of the book holds the date', errors)
  if (period.status !== 'open') throw unprocessable('period_closed', 'The period is closed', errors)
  if (period.locked) throw unprocessable('date_locked', 'The date is locked', errors)
}

/** The zone in which the days of a book lie: what a gateway dates by an instant is booked on the day that it was there. */
export const zoneOfBook = async (trx: Trx, bookId: string): Promise<string> => {
  const book = await sqlOne<{ timeZone: string }>(trx, `select time_zone from book where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    bookId,
  ])
  if (!book) throw new PostingError('no such book')
  return book.timeZone
}

/** A job that waits for an open period asks again so much later: a person opens one, or adds the next year. */
const periodWaitSeconds = 3600

/**
 * The date itself where the book takes it, else the first later day that it takes: for dates of gateways and banks. Locks of the journals in which money is posted
 * count as that of the book does, since the wall of events obeys them, too. 422 `period_closed` where no such day is left; jobs then try again.
 */
export const firstOpenDay = async (
  trx: Trx,
  place: { bookId?: string; propertyId?: string },
  date: string,
): Promise<string> => {
  const found = await sqlOne<{ day: string | null }>(
    trx,
    `select min(greatest(p.starts_on, f.day)) as day
     from book b
     cross join lateral (select greatest(cast(:date as date), b.locked_until + 1, max(j.locked_until) + 1) as day from journal j
       where j.tenant_id = b.tenant_id and j.book_id = b.id and j.kind in ('sales', 'purchases', 'cash')) f
     join fiscal_period p on p.tenant_id = b.tenant_id and p.book_id = b.id and p.kind = 'regular' and p.status = 'open' and p.ends_on >= f.day
     where b.tenant_id = :tenantId
       and b.id = coalesce(cast(:bookId as uuid), (select p.book_id from property p where p.tenant_id = :tenantId and p.id = cast(:propertyId as uuid)))`,
    { date, tenantId: contextOf(trx).tenantId, bookId: place.bookId ?? null, propertyId: place.propertyId ?? null },
  )
  if (!found?.day)
    throw new ApiError('period_closed', 'No open period of the book holds the date or a later day', {
      errors: [{ field: 'postingDate', message: date }],
      retryAfterSeconds: periodWaitSeconds,
    })
  return found.day
}
