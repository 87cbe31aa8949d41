import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import type { House } from './houses.ts'
import type { Range } from './rules/dates.ts'

export type BooksDimension = 'date' | 'unitType' | 'segment' | 'channel'

/** Nights of a range as they stood at the close of a day; without a day, of the night itself. */
export type AskedBooks = Range & { until: string | null }

export type Booked = { key: string | null; stayDate: string; unitNights: number; roomRevenue: number }

const waitingKeys: Record<BooksDimension, string> = {
  date: `''`,
  unitType: 'cast(w.unit_type_id as text)',
  segment: 'w.market_segment',
  channel: `coalesce(cast(w.channel_connection_id as text), '')`,
}

/**
 * Changes of a night up to a day: months that lie before a month, as of the day before it, and the days from then on. Beside the sums stand the changes
 * that are not added to them yet. `night` has the property, the night, the month that days begin with, and the last day.
 */
const changesOf = (by: BooksDimension) => {
  const sums = (span: 'day' | 'month', changedOn: string, condition: string) => `
    select s.key, ${changedOn} as changed_on, s.unit_nights, s.room_revenue from on_the_books_sum s
    where s.tenant_id = :tenantId and s.property_id = night.property_id and s.dimension = '${by === 'date' ? 'all' : by}' and s.span = '${span}'
      and s.stay_date = night.stay_date and ${condition}`
  return `
    ${sums('month', 'night.month - 1', 's.changed_on < night.month')}
    union all ${sums('day', 's.changed_on', 's.changed_on >= night.month and s.changed_on <= night.until')}
    union all
    select ${waitingKeys[by]}, greatest(w.changed_on, night.month - 1), w.unit_nights, w.room_revenue from on_the_books_waiting w
    where w.tenant_id = :tenantId and w.property_id = night.property_id and w.stay_date = night.stay_date and w.changed_on <= night.until`
}

const tenantIn = (trx: Trx) => ({ tenantId: contextOf(trx).tenantId })

/** Nights on the books at the close of days, one list for each that is asked for, by key and night. */
export const booksAt = async (
  trx: Trx,
  of: readonly House[],
  asked: readonly AskedBooks[],
  by: BooksDimension = 'date',
): Promise<Booked[][]> => {
  const rows = await sql<Booked & { n: number }>(
    trx,
    `with night as materialized (
       select a.n, h.id as property_id, d.night::date as stay_date, coalesce(a.until, d.night::date) as until,
         date_trunc('month', coalesce(a.until, d.night::date))::date as month
       from unnest(cast(:firsts as date[]), cast(:lasts as date[]), cast(:untils as date[])) with ordinality a (first, last, until, n)
       cross join unnest(cast(:houses as uuid[])) h (id)
       cross join lateral generate_series(cast(a.first as timestamp), cast(a.last as timestamp), interval '1 day') d (night))
     select night.n, nullif(b.key, '') as key, night.stay_date, cast(sum(b.unit_nights) as bigint) as unit_nights, cast(sum(b.room_revenue) as bigint) as room_revenue
     from night cross join lateral (${changesOf(by)}) b
     group by 1, 2, 3`,
    {
      ...tenantIn(trx),
      houses: of.map(({ id }) => id),
      firsts: asked.map(({ from }) => from),
      lasts: asked.map(({ to }) => to),
      untils: asked.map(({ until }) => until),
    },
  )
  return asked.map((_, index) => rows.filter(({ n }) => n === index + 1))
}

export type Changed = { stayDate: string; changedOn: string; unitNights: number; roomRevenue: number }

/**
 * Changes on the books for nights of a range up to the close of `last`, by the day of the change. Those that lie more than `days` before a night, or before the month of
 * `last` where the night is to come, are told in one sum: what stood on each of the days between is the same.
 */
export const changesOnTheBooks = (
  trx: Trx,
  house: House,
  { from, to }: Range,
  { last, days }: { last: string; days: number },
): Promise<Changed[]> =>
  sql(
    trx,
    `with night as materialized (
       select cast(:propertyId as uuid) as property_id, d.night::date as stay_date, least(d.night::date, cast(:last as date)) as until,
         date_trunc('month', case when d.night::date > cast(:last as date) then cast(:last as date) else d.night::date - cast(:days as int) end)::date as month
       from generate_series(cast(:from as timestamp), cast(:to as timestamp), interval '1 day') d (night))
     select night.stay_date, b.changed_on, cast(sum(b.unit_nights) as bigint) as unit_nights, cast(sum(b.room_revenue) as bigint) as room_revenue
     from night cross join lateral (${changesOf('date')}) b
     group by 1, 2`,
    { ...tenantIn(trx), propertyId: house.id, from, to, last, days },
  )

/** So many changes of a property may wait: to read them costs a report less than it costs to add them. */
const leastWaiting = 50
const foldedAtOnce = 20_000

/** Adds changes on the books to their sums. Answers how many rows were taken up. */
export const foldBooks = async (trx: PlatformTrx, atLeast = leastWaiting, atMost = foldedAtOnce): Promise<number> => {
  const row = await sqlOne<{ gone: number }>(trx, `select fold_on_the_books(:atLeast, :atMost) as gone`, {
    atLeast,
    atMost,
  })
  return row?.gone ?? 0
}
