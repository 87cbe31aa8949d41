import { fiscalYearCreated } from '../../config/events/financial.ts'
import { addDays } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'

const firstOfMonth = (year: number, month: number) => new Date(Date.UTC(year, month - 1, 1)).toISOString().slice(0, 10)

/** First day of the fiscal year that holds a day. */
export const yearStart = (day: string, startMonth: number): string => {
  const [year = 0, month = 1] = day.split('-').map(Number)
  return firstOfMonth(month >= startMonth ? year : year - 1, startMonth)
}

/** Periods 1 to 12 are the months from `startsOn` on, 13 is the closing period on the year's last day. */
export const periodsOf = (startsOn: string) => {
  const [year = 0, month = 1] = startsOn.split('-').map(Number)
  const months = Array.from({ length: 12 }, (_, index) => ({
    number: index + 1,
    kind: 'regular',
    starts_on: firstOfMonth(year, month + index),
    ends_on: addDays(firstOfMonth(year, month + index + 1), -1),
  }))
  const endsOn = addDays(firstOfMonth(year, month + 12), -1)
  return { endsOn, periods: [...months, { number: 13, kind: 'closing', starts_on: endsOn, ends_on: endsOn }] }
}

/** Makes the fiscal year that begins on the day, with its periods. Answers false where the book has that year already. */
export const createYear = async (trx: Trx, bookId: string, startsOn: string): Promise<boolean> => {
  const { tenantId } = contextOf(trx)
  const { endsOn, periods } = periodsOf(startsOn)
  const year = Number(endsOn.slice(0, 4))
  const rows = await sql<{ id: string }>(
    trx,
    `insert into fiscal_year (tenant_id, book_id, year, starts_on, ends_on) values (?, ?, ?, ?, ?)
     on conflict (tenant_id, book_id, year) do nothing returning id`,
    [tenantId, bookId, year, startsOn, endsOn],
  )
  const made = rows[0]
  if (!made) return false
  await sql(
    trx,
    `insert into fiscal_period (tenant_id, book_id, fiscal_year_id, number, kind, starts_on, ends_on)
     select ?, ?, ?, p.number, p.kind, p.starts_on, p.ends_on
     from jsonb_to_recordset(?::jsonb) as p (number int, kind text, starts_on date, ends_on date)`,
    [tenantId, bookId, made.id, JSON.stringify(periods)],
  )
  await emit(trx, fiscalYearCreated, {
    propertyId: null,
    id: made.id,
    version: 1,
    data: { bookId, fiscalPeriodId: null, fiscalYearId: made.id, from: startsOn, to: endsOn },
  })
  return true
}

/** Adds years after the last one until they reach 60 days from today in the book's zone. Answers how many it made. */
export const ensureYears = async (trx: Trx, bookId: string): Promise<number> => {
  let made = 0
  for (;;) {
    const due = await sqlOne<{ startsOn: string }>(
      trx,
      `select max(y.ends_on) + 1 as starts_on from book b join fiscal_year y on y.tenant_id = b.tenant_id and y.book_id = b.id
       where b.tenant_id = ? and b.id = ? group by b.id, b.time_zone having max(y.ends_on) < (now() at time zone b.time_zone)::date + 60`,
      [contextOf(trx).tenantId, bookId],
    )
    if (!due || !(await createYear(trx, bookId, due.startsOn))) return made
    made += 1
  }
}
