import { setTimeout as wait } from 'node:timers/promises'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { House } from './houses.ts'
import { bound, columns, houses } from './nights.ts'
import type { Dimension, Keyed } from './nights.ts'
import type { Range } from './rules/dates.ts'
import type { Stays } from './rules/operating.ts'

/**
 * Key of a stay: that of its facts, else of the last nights that came on the books, else its own. A change takes nights off under the old key, and puts them on
 * under the new one. Days that are over keep their keys when a segment is changed or a guest erased.
 */
const stayKey = (by: Dimension): string => {
  const { fact, stay } = columns[by]
  const books = by === 'country' ? '' : `when o.id is not null then ${fact.replace('f.', 'o.')}`
  return `cast(case when f.id is not null then ${fact} ${books} else ${stay} end as text)`
}

/** Tables that `stayKey` reads, beside a reservation `r`. */
const stayFacts = `
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  left join guest g on g.tenant_id = b.tenant_id and g.id = b.booker_guest_id
  left join lateral (select f.* from night_fact f where f.tenant_id = r.tenant_id and f.reservation_id = r.id order by f.business_date, f.id limit 1) f on true
  left join lateral (select o.* from on_the_books_change o where o.tenant_id = r.tenant_id and o.reservation_id = r.id and f.id is null
    and o.unit_nights > 0 order by o.created_at desc, o.id limit 1) o on true`

/** Closed days of `house` whose sums stand, and days of which rows are read one by one, because they are open or have changed since they were summed up. */
export const summedDays = `
  kept as materialized (
    select d.property_id, d.date from house h
    join stay_sum_day d on d.tenant_id = :tenantId and d.property_id = h.id and d.date between cast(:from as date) and cast(:to as date)
    where not exists (select from stay_sum_change c where c.tenant_id = d.tenant_id and c.property_id = d.property_id and c.date = d.date)),
  live as materialized (
    select h.id as property_id, cast(:from as date) + n as date from house h cross join generate_series(0, cast(:to as date) - cast(:from as date)) n
    except select k.property_id, k.date from kept k)`

/** Each stay on the day of its arrival and, where it has left, on that of its departure, of the days of a table. Stays that were never confirmed do not count. */
export const staysOf = (days: string) => `
  select r.id, r.property_id, r.arrival as date, 1 as arrivals, (r.status = 'cancelled')::int as cancelled, (r.status = 'no_show')::int as no_shows,
    greatest(0, r.arrival - cast(r.confirmed_at at time zone y.timezone as date)) as lead_days, 0 as departed, 0 as departed_nights
  from ${days} d
  join reservation r on r.tenant_id = :tenantId and r.property_id = d.property_id and r.arrival = d.date and r.confirmed_at is not null
  join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
  union all
  select r.id, r.property_id, r.check_out_business_date, 0, 0, 0, 0, 1, (select count(*)::int from reservation_night n
    where n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released')
  from ${days} d
  join reservation r on r.tenant_id = :tenantId and r.property_id = d.property_id and r.check_out_business_date = d.date and r.status = 'checked_out'
    and r.confirmed_at is not null`

/** Revenue beside the room of each stay and day, by category of its folio lines, without taxes on top. */
export const extrasOf = (days: string) => `
  select w.reservation_id as id, l.property_id, l.business_date as date, l.category, sum(l.amount) as amount
  from ${days} d
  join folio_line l on l.tenant_id = :tenantId and l.property_id = d.property_id and l.business_date = d.date
    and l.kind in ('charge', 'adjustment', 'fee') and l.category not in ('room', 'tax')
  join folio w on w.tenant_id = l.tenant_id and w.id = l.folio_id and w.reservation_id is not null
  group by 1, 2, 3, 4`

/**
 * SQL: a line of a tax that no charge tells of: that of a night without a price, and one that lowers a tax by its own line and not with its charge. A tax of a fixed amount
 * is lowered so.
 */
export const isOwnTax = `l.category = 'tax' and l.tax_rule_id is not null and (l.kind = 'charge' and l.original_line_id is null
  or l.kind = 'adjustment' and l.source_key in ('', l.original_line_id || ':'))`

/** Base and tax of prices by rule, from the folio lines of days. */
export const priceTaxesOf = (days: string) => `
  select l.property_id, l.business_date as date, w.code, w.rule, sum(w.base) as base, sum(w.tax) as tax
  from ${days} d
  join folio_line l on l.tenant_id = :tenantId and l.property_id = d.property_id and l.business_date = d.date and l.kind in ('charge', 'fee', 'adjustment')
  cross join lateral (
    select t ->> 'code', coalesce(t ->> 'taxRuleId', ''), l.amount, cast(t ->> 'amount' as bigint) * sign(l.amount) from jsonb_array_elements(l.taxes) t
    union all
    select x.code, cast(x.id as text), 0, l.amount from tax_rule x where ${isOwnTax} and x.tenant_id = l.tenant_id and x.id = l.tax_rule_id) w (code, rule, base, tax)
  group by 1, 2, 3, 4`

export const staySums = ['arrivals', 'cancelled', 'no_shows', 'lead_days', 'departed', 'departed_nights']

const ownKeys: Partial<Record<Dimension, string>> = { date: 'x.date::text', property: 'x.property_id::text' }

/** Rows `x` of stays with their key, and sums `s` of closed days. */
const keyed = (by: Dimension, rows: string, table: string, columns: readonly string[]) => {
  const own = ownKeys[by]
  const names = (of: string) => columns.map((column) => `, ${of}.${column}`).join('')
  return `
    counted as materialized (${rows}),
    stay as materialized (${
      own
        ? 'select null::uuid as id, null::text as key where false'
        : `select r.id, ${stayKey(by)} as key from (select distinct id from counted) d
      join reservation r on r.tenant_id = :tenantId and r.id = d.id ${stayFacts}`
    }),
    told (key${columns.map((column) => `, ${column}`).join('')}) as (
      select ${own ?? 'y.key'} ${names('x')} from counted x ${own ? '' : 'join stay y on y.id = x.id'}
      union all
      select ${own?.replace('x.', 's.') ?? `nullif(s.key, '')`} ${names('s')} from house h
      join ${table} s on s.tenant_id = :tenantId and s.property_id = h.id and s.dimension = '${own ? 'all' : by}'
        and s.date between cast(:from as date) and cast(:to as date)
      join kept k on k.property_id = s.property_id and k.date = s.date)`
}

/** Stays by their arrival, and those that left in the range by their day of departure. Only stays that were confirmed at some time count. */
export const staysBy = (trx: Trx, of: readonly House[], range: Range, by: Dimension): Promise<Keyed<Stays>[]> =>
  sql(
    trx,
    `with ${houses}, ${summedDays}, ${keyed(by, staysOf('live'), 'stay_sum', staySums)}
     select key, ${staySums.map((column) => `cast(sum(${column}) as bigint) as ${column}`).join(', ')} from told group by key`,
    bound(trx, of, range),
  )

/** Revenue beside the room from guests of stays, by the key of the stay and the category of the line. */
export const extrasBy = (trx: Trx, of: readonly House[], range: Range, by: Exclude<Dimension, 'date' | 'property'>) =>
  sql<{ key: string | null; category: string; amount: number }>(
    trx,
    `with ${houses}, ${summedDays}, ${keyed(by, extrasOf('live'), 'extra_sum', ['category', 'amount'])}
     select key, category, cast(sum(amount) as bigint) as amount from told group by 1, 2 having sum(amount) <> 0`,
    bound(trx, of, range),
  )

const keys = ['unitType', 'ratePlan', 'segment', 'source', 'channel', 'company', 'agency', 'country'] as const

/** Sums of rows of stays by every dimension, for the days of `day`. */
const summed = (table: string, rows: string, also: readonly string[], columns: readonly string[]) => `
  with day as materialized (select cast(:propertyId as uuid) as property_id, d.date from unnest(cast(:days as date[])) d (date)),
  counted as materialized (${rows}),
  stay as materialized (
    select r.id, ${keys.map((by) => `${stayKey(by)} as "${by}"`).join(', ')} from (select distinct id from counted) d
    join reservation r on r.tenant_id = :tenantId and r.id = d.id ${stayFacts})
  insert into ${table} (property_id, dimension, date, key, ${[...also, ...columns].join(', ')})
  select x.property_id, k.dimension, x.date, coalesce(k.key, ''), ${[...also.map((column) => `x.${column}`), ...columns.map((column) => `sum(x.${column})`)].join(', ')}
  from counted x join stay y on y.id = x.id
  cross join lateral (values ('all', null::text), ${keys.map((by) => `('${by}', y."${by}")`).join(', ')}) k (dimension, key)
  group by ${['x.property_id', 'k.dimension', 'x.date', "coalesce(k.key, '')", ...also.map((column) => `x.${column}`)].join(', ')}`

const statements = [
  summed('stay_sum', staysOf('day'), [], staySums),
  summed('extra_sum', extrasOf('day'), ['category'], ['amount']),
  `with day as materialized (select cast(:propertyId as uuid) as property_id, d.date from unnest(cast(:days as date[])) d (date))
   insert into price_tax_sum (property_id, date, code, rule, base, tax) ${priceTaxesOf('day')}`,
]

/** Closed days that are summed up in one transaction, and notes that are read for it. */
const daysAtOnce = 31
const notesAtOnce = 10_000

/** Waits until each transaction that wrote before this one did has ended: for `tries` times 20 ms at most. Answers false where one still runs. */
const haveEnded = async (trx: Trx, tries: number): Promise<boolean> => {
  const now = await sqlOne<{ isOver: boolean }>(
    trx,
    `select pg_snapshot_xmin(pg_current_snapshot()) >= pg_current_xact_id() as is_over`,
  )
  if (now?.isOver || tries === 0) return now?.isOver ?? false
  await wait(20)
  return haveEnded(trx, tries - 1)
}

/**
 * Sums up closed days of a property that are not summed up yet, and those that have changed since, the latest first. Answers their number: 0 where nothing is left. Notes are
 * taken away before the rows are read, so a change that commits between the two is noted still, and its day summed up once more. A writer that ran beside the one of a
 * note may have noted days as they were before it: notes stand until all of these have ended, which is waited for `tries` times 20 ms.
 */
export const sumStayDays = async (
  trx: Trx,
  propertyId: string,
  { atOnce = daysAtOnce, tries = 100 } = {},
): Promise<number> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended(?, 950))`, [propertyId])
  const found = await sql<{ id: string; date: string }>(
    trx,
    `select c.id, c.date from stay_sum_change c
     join business_day d on d.tenant_id = c.tenant_id and d.property_id = c.property_id and d.date = c.date and d.status = 'closed'
     where c.tenant_id = :tenantId and c.property_id = :propertyId order by c.date desc limit :notesAtOnce`,
    { tenantId, propertyId, notesAtOnce },
  )
  const notes = found.length > 0 && (await haveEnded(trx, tries)) ? found : []
  const due = await sql<{ date: string }>(
    trx,
    `select d.date from business_day d where d.tenant_id = :tenantId and d.property_id = :propertyId and d.status = 'closed'
       and (d.date = any(cast(:noted as date[]))
         or not exists (select from stay_sum_day s where s.tenant_id = d.tenant_id and s.property_id = d.property_id and s.date = d.date))
     order by d.date desc limit :atOnce`,
    { tenantId, propertyId, atOnce, noted: notes.map(({ date }) => date) },
  )
  if (due.length === 0) return 0
  const days = due.map(({ date }) => date)
  const values = { tenantId, propertyId, days }
  await sql(trx, `delete from stay_sum_change where tenant_id = :tenantId and id = any(cast(:ids as uuid[]))`, {
    tenantId,
    ids: notes.filter(({ date }) => days.includes(date)).map(({ id }) => id),
  })
  // Keys of sums have the dimension before the date: naming all dimensions has the index find the days.
  for (const table of ['stay_sum_day', 'stay_sum', 'extra_sum', 'price_tax_sum'])
    await sql(
      trx,
      `delete from ${table} where tenant_id = :tenantId and property_id = :propertyId and date = any(cast(:days as date[]))
       ${table === 'stay_sum' || table === 'extra_sum' ? `and dimension in ('all', ${keys.map((by) => `'${by}'`).join(', ')})` : ''}`,
      values,
    )
  for (const text of statements) await sql(trx, text, values)
  await sql(
    trx,
    `insert into stay_sum_day (property_id, date) select :propertyId, d.date from unnest(cast(:days as date[])) d (date)`,
    { propertyId, days },
  )
  return due.length
}
