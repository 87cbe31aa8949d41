import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { owedToAgency } from '../reservations/index.ts'
import { capacityOfNights } from '../units/index.ts'
import type { House } from './houses.ts'
import type { Range } from './rules/dates.ts'
import type { Capacity, Nights } from './rules/operating.ts'

/** Dimensions that nights are grouped by. Keys are ids or words; null for nights that have none. */
export type Dimension =
  | 'date'
  | 'property'
  | 'unitType'
  | 'ratePlan'
  | 'segment'
  | 'source'
  | 'channel'
  | 'company'
  | 'agency'
  | 'country'

export type Keyed<Value> = Value & { key: string | null }

type Columns = { fact: string; live: string; stay: string }
export const columns: Record<Dimension, Columns> = {
  date: { fact: 'f.business_date', live: 'n.date', stay: '' },
  property: { fact: 'f.property_id', live: 'r.property_id', stay: 'r.property_id' },
  unitType: { fact: 'f.unit_type_id', live: 'n.unit_type_id', stay: 'r.unit_type_id' },
  ratePlan: { fact: 'f.rate_plan_id', live: 'n.rate_plan_id', stay: 'r.rate_plan_id' },
  segment: { fact: 'f.market_segment', live: 'r.market_segment', stay: 'r.market_segment' },
  source: { fact: 'f.source', live: 'b.source', stay: 'b.source' },
  channel: { fact: 'f.channel_connection_id', live: 'b.channel_connection_id', stay: 'b.channel_connection_id' },
  company: { fact: 'f.company_id', live: 'b.company_id', stay: 'b.company_id' },
  agency: { fact: 'f.agency_id', live: 'b.agency_id', stay: 'b.agency_id' },
  country: { fact: 'f.country_code', live: 'g.residence_country', stay: 'g.residence_country' },
}

export const houses = `house as (select * from unnest(cast(:houses as uuid[]), cast(:opens as date[])) h (id, open_on))`

export const bound = (trx: Trx, of: readonly House[], { from, to }: Range) => ({
  tenantId: contextOf(trx).tenantId,
  houses: of.map(({ id }) => id),
  opens: of.map(({ openOn }) => openOn),
  from,
  to,
})

const freeOf = (unitNights: string, free: string) =>
  ['none', 'complimentary', 'house_use']
    .map((kind) => `case ${free} when '${kind}' then ${unitNights} else 0 end`)
    .join(', ')

const sumKeys: Partial<Record<Dimension, string>> = { date: 's.business_date::text', property: 's.property_id::text' }

/** Sums of closed days, kept with the facts. A booking counts on a day whose last one before lies outside of the range: once. */
const closedDays = (by: Dimension) => `
  select ${sumKeys[by] ?? `nullif(s.key, '')`}, s.sold, s.complimentary, s.house_use, s.adults, s.children, s.room_revenue, s.included_tax, s.commission,
    case when s.gap = 0 or s.business_date - s.gap < cast(:from as date) then s.bookings else 0 end, null::uuid
  from house h join night_sum s on s.tenant_id = :tenantId and s.property_id = h.id and s.dimension = '${by in sumKeys ? 'all' : by}'
    and s.business_date >= cast(:from as date) and s.business_date < least(h.open_on, cast(:to as date) + 1)`

/**
 * One row for each night of the days that are not closed: they count as they do on the books. Of a night that was charged on a day that has closed, revenue and
 * commission are facts of that day.
 */
const onTheBooks = ({ live }: Columns) => `
  select ${live}::text, ${freeOf('u.units', `case when r.market_segment in ('complimentary', 'house_use') then r.market_segment else 'none' end`)},
    r.adults, cardinality(r.children_ages),
    case when n.status = 'waived' or c.is_told then 0 else n.amount - (select coalesce(sum((x ->> 'amount')::bigint), 0) from jsonb_array_elements(n.components) x) end,
    case when n.status = 'waived' or c.is_told then 0 else (select coalesce(sum((x ->> 'amount')::bigint), 0) from jsonb_array_elements(n.taxes) x where (x ->> 'included')::boolean) end,
    case when n.status = 'waived' or c.is_told then 0 else coalesce(n.commission, 0) end, 0, case when u.units > 0 then r.booking_id end
  from house h
  join reservation r on r.tenant_id = :tenantId and r.property_id = h.id and r.status in ('confirmed', 'checked_in', 'checked_out')
    and r.arrival <= cast(:to as date) and r.departure > greatest(h.open_on, cast(:from as date))
  join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released'
    and n.date between greatest(h.open_on, cast(:from as date)) and cast(:to as date)
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  left join guest g on g.tenant_id = b.tenant_id and g.id = b.booker_guest_id
  cross join lateral (select coalesce(sum(p.quantity), 0)::int as units from unit_type_pool p where p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id) u
  cross join lateral (select n.status = 'charged' and exists (
    select from folio_line l where l.tenant_id = n.tenant_id and l.source_type = 'reservation_night' and l.source_id = n.reservation_id
      and l.source_key = n.date || ':room' and l.business_date < h.open_on) as is_told) c`

/** Commissions that agencies are owed for stays that leave on the open day or later, on the day on which they leave. Those of closed days are facts. */
const owedToAgencies = (by: Dimension) => `
  select ${by === 'date' ? 'r.leaves' : columns[by].stay}::text, 0, 0, 0, 0, 0, 0, 0, ${owedToAgency}, 0, null::uuid
  from (
    select r.*, r.check_out_business_date as leaves from house h
    join reservation r on r.tenant_id = :tenantId and r.property_id = h.id and r.status = 'checked_out'
      and r.check_out_business_date between greatest(h.open_on, cast(:from as date)) and cast(:to as date)
    union all
    select r.*, greatest(r.departure, h.open_on) from house h
    join reservation r on r.tenant_id = :tenantId and r.property_id = h.id and r.status in ('confirmed', 'checked_in') and r.departure <= cast(:to as date)
      and greatest(r.departure, h.open_on) between greatest(h.open_on, cast(:from as date)) and cast(:to as date)) r
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id and b.agency_id is not null and b.commission_rate > 0
  left join guest g on g.tenant_id = b.tenant_id and g.id = b.booker_guest_id`

const summed = (by: Dimension) => `with ${houses},
  night (key, sold, complimentary, house_use, adults, children, room_revenue, included_tax, commission, bookings, booking_id) as (
    ${closedDays(by)} union all ${onTheBooks(columns[by])} union all ${owedToAgencies(by)}),
  sums as (
    select n.key, cast(sum(n.sold) as bigint) as sold, cast(sum(n.complimentary) as bigint) as complimentary, cast(sum(n.house_use) as bigint) as house_use,
      cast(sum(n.adults) as bigint) as adults, cast(sum(n.children) as bigint) as children, cast(sum(n.room_revenue) as bigint) as room_revenue,
      cast(sum(n.included_tax) as bigint) as included_tax, cast(sum(n.commission) as bigint) as commission, cast(sum(n.bookings) as bigint) as bookings
    from night n group by n.key)`

/** Nights of houses in a range, from the sums of days that are closed and from the books where they are not. */
export const nightsBy = (trx: Trx, of: readonly House[], range: Range, by: Dimension): Promise<Keyed<Nights>[]> =>
  sql(
    trx,
    `${summed(by)} select key, sold, complimentary, house_use, adults, children, room_revenue, included_tax, commission from sums`,
    bound(trx, of, range),
  )

/** Nights as `nightsBy` has them, with the number of bookings that they are of. One that has nights on both sides of the open day counts with the closed ones. */
export const bookedNightsBy = (
  trx: Trx,
  of: readonly House[],
  range: Range,
  by: Exclude<Dimension, 'date'>,
): Promise<Keyed<Nights & { bookings: number }>[]> =>
  sql(
    trx,
    `${summed(by)},
     fresh as (
       select l.key, count(*) as bookings from (select distinct n.key, n.booking_id from night n where n.booking_id is not null) l
       where cast(:from as date) >= (select max(h.open_on) from house h) or not exists (
         select from reservation r
         join night_fact f on f.tenant_id = r.tenant_id and f.reservation_id = r.id and f.unit_nights > 0
           and f.business_date between cast(:from as date) and cast(:to as date) and ${columns[by].fact}::text is not distinct from l.key
         join house h on h.id = f.property_id and f.business_date < h.open_on
         where r.tenant_id = :tenantId and r.booking_id = l.booking_id)
       group by l.key)
     select s.key, s.sold, s.complimentary, s.house_use, s.adults, s.children, s.room_revenue, s.included_tax, s.commission,
       s.bookings + coalesce(f.bookings, 0) as bookings
     from sums s left join fresh f on f.key is not distinct from s.key`,
    bound(trx, of, range),
  )

/** Bookings with a night of any key but these, each once, though its nights are of several of them. Null is a key, too. */
export const bookingsBeside = async (
  trx: Trx,
  of: readonly House[],
  range: Range,
  { by, keys }: { by: Exclude<Dimension, 'date'>; keys: readonly (string | null)[] },
): Promise<number> => {
  const [row] = await sql<{ bookings: number }>(
    trx,
    `with ${houses},
     night (key, sold, complimentary, house_use, adults, children, room_revenue, included_tax, commission, bookings, booking_id) as (
       ${onTheBooks(columns[by])})
     select cast(count(*) as bigint) as bookings from (
       select n.booking_id from night n where n.booking_id is not null and coalesce(n.key, '') <> all(cast(:keys as text[]))
       union
       select r.booking_id from house h
       join night_fact f on f.tenant_id = :tenantId and f.property_id = h.id and f.unit_nights > 0 and f.business_date >= cast(:from as date)
         and f.business_date < least(h.open_on, cast(:to as date) + 1)
       join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
       where coalesce(${columns[by].fact}::text, '') <> all(cast(:keys as text[]))) b`,
    { ...bound(trx, of, range), keys: keys.map((key) => key ?? '') },
  )
  return row?.bookings ?? 0
}

/** Units that there were, or are, to sell on each day. Beds count one by one where beds are units. */
export const capacityBy = (
  trx: Trx,
  of: readonly House[],
  range: Range,
  by: 'date' | 'property' = 'date',
): Promise<Keyed<Capacity>[]> => {
  const key = (date: string) => (by === 'date' ? date : 'h.id')
  return sql(
    trx,
    `with ${houses}
     select cast(key as text) as key, cast(sum(units) as bigint) as units, cast(sum(out_of_order) as bigint) as out_of_order,
       cast(sum(out_of_service) as bigint) as out_of_service
     from (
       select ${key('d.date')} as key, d.units, d.out_of_order, d.out_of_service from house h
       join property_day d on d.tenant_id = :tenantId and d.property_id = h.id and d.date >= cast(:from as date)
         and d.date < least(h.open_on, cast(:to as date) + 1)
       union all
       select ${key('c.night')}, c.capacity, c.blocked, 0 from house h
       join (${capacityOfNights}) c on c.tenant_id = :tenantId and c.property_id = h.id and c.night >= greatest(h.open_on, cast(:from as date)) and c.night <= cast(:to as date)
       union all
       select ${key('cast(d.night as date)')}, 0, 0, 1 from house h
       join unit_block b on b.tenant_id = :tenantId and b.property_id = h.id and b.kind = 'out_of_service' and b.status = 'open'
         and b."from" <= cast(:to as date) and b."to" > greatest(h.open_on, cast(:from as date))
       join unit_assignment a on a.tenant_id = b.tenant_id and a.unit_block_id = b.id and a.status = 'blocked'
       cross join lateral generate_series(cast(greatest(lower(a.during), h.open_on, cast(:from as date)) as timestamp),
         cast(least(upper(a.during) - 1, cast(:to as date)) as timestamp), interval '1 day') d (night)) c
     group by key`,
    bound(trx, of, range),
  )
}
