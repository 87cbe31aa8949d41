import { contextOf, prepared, preparedOne, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { owedToAgency } from '../reservations/index.ts'
import { isOwnTax } from './stays.ts'

const inHouse = `r.status = 'checked_in'`

/** The fields of a fact that its reservation `r`, its booking `b` and the night `n` know; the night's own type and plan, where there is one. */
const dimensions = `coalesce(n.unit_type_id, r.unit_type_id), coalesce(n.rate_plan_id, r.rate_plan_id), r.market_segment, b.source,
  b.channel_connection_id, b.company_id, b.agency_id, b.group_id, (select g.residence_country from guest g where g.tenant_id = b.tenant_id and g.id = b.booker_guest_id)`

/** Units that one sale of a type takes. */
const unitsOf = (type: string) =>
  `(select coalesce(sum(p.quantity), 0)::int from unit_type_pool p where p.tenant_id = r.tenant_id and p.unit_type_id = ${type})`

const free = `case r.market_segment when 'complimentary' then 'complimentary' when 'house_use' then 'house_use' else 'none' end`

const columns = `(property_id, business_date, stay_date, reservation_id, kind, source_type, source_id, unit_type_id, rate_plan_id, market_segment, source,
  channel_connection_id, company_id, agency_id, group_id, country_code, unit_nights, adults, children, free, room_revenue, included_tax, commission)`

/** The charge that a line `l` corrects or moves, over all folios that it went through: what became of a night belongs to the stay that slept it. */
const root = `
  with recursive above as (
    select o.tenant_id, o.original_line_id, o.source_type, o.source_id, o.source_key from folio_line o
    where o.tenant_id = l.tenant_id and o.id = l.original_line_id
    union all
    select o.tenant_id, o.original_line_id, o.source_type, o.source_id, o.source_key from above a
    join folio_line o on o.tenant_id = a.tenant_id and o.id = a.original_line_id)
  select * from above where original_line_id is null`

/** One fact for each line of category room on the folios of a day. A night that is charged after its date has revenue, and no unit-night. */
const lineFacts = `
  insert into night_fact ${columns}
  select l.property_id, l.business_date, coalesce(n.date, l.business_date), r.id, k.kind, 'folio_line', l.id, ${dimensions},
    case when k.counts then ${unitsOf('n.unit_type_id')} else 0 end, case when k.counts then r.adults else 0 end,
    case when k.counts then cardinality(r.children_ages) else 0 end, ${free}, l.amount,
    coalesce((select sum((t ->> 'amount')::bigint) from jsonb_array_elements(l.taxes) t where (t ->> 'included')::boolean), 0) * sign(l.amount)::bigint,
    case when k.kind = 'night' then coalesce(n.commission, 0) else 0 end
  from folio_line l
  join folio f on f.tenant_id = l.tenant_id and f.id = l.folio_id
  left join lateral (${root}) o on l.original_line_id is not null
  cross join lateral (select case when coalesce(o.source_type, l.source_type) = 'reservation_night' then left(coalesce(o.source_key, l.source_key), 10)::date end as date,
    case when coalesce(o.source_type, l.source_type) = 'reservation_night' then coalesce(o.source_id, l.source_id) else f.reservation_id end as stay_id offset 0) s
  left join reservation r on r.tenant_id = l.tenant_id and r.id = s.stay_id
  left join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  left join reservation_night n on n.tenant_id = l.tenant_id and n.reservation_id = s.stay_id and n.date = s.date
  cross join lateral (select case when l.kind = 'adjustment' then 'adjustment' when l.source_type = 'reservation_night' then 'night' else 'other' end as kind,
    l.kind = 'charge' and l.source_type = 'reservation_night' and n.date = l.business_date as counts) k
  where l.tenant_id = cast(:tenantId as uuid) and l.property_id = :propertyId and l.business_date = cast(:date as date) and l.category = 'room'
  on conflict do nothing`

/**
 * Nights that cost nothing have no line, and are slept all the same; so are those that the fee of a no-show has paid, where its guest came after all. So is a night that was charged on a day before its own, by a departure while the business day was
 * behind the calendar: its revenue and commission are of that day, and its unit-night is of its own.
 */
const freeFacts = `
  insert into night_fact ${columns}
  select r.property_id, n.date, n.date, r.id, 'night', 'reservation_night', md5(n.reservation_id || ' ' || n.date)::uuid, ${dimensions},
    ${unitsOf('n.unit_type_id')}, r.adults, cardinality(r.children_ages), ${free}, 0, 0, case when c.charged_on is null and n.status = 'charged' then coalesce(n.commission, 0) else 0 end
  from reservation r
  join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.date = cast(:date as date) and n.status in ('charged', 'waived')
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  left join lateral (select max(l.business_date) as charged_on from folio_line l where l.tenant_id = n.tenant_id and l.source_type = 'reservation_night'
    and l.source_id = n.reservation_id and l.source_key = n.date || ':room') c on true
  where r.property_id = :propertyId and r.arrival <= cast(:date as date) and r.departure > cast(:date as date)
    and (c.charged_on is null or c.charged_on < cast(:date as date))
    and (n.status = 'charged' or r.status in ('checked_in', 'checked_out') and r.check_in_business_date <= cast(:date as date)
      and (r.check_out_business_date is null or r.check_out_business_date > cast(:date as date)))
  on conflict do nothing`

/** Commission of an agency is owed from the day on which the guests leave (R43): one fact of the stay, without a night. A departure is taken back on its own day alone. */
const commissionFacts = `
  insert into night_fact ${columns}
  select r.property_id, cast(:date as date), cast(:date as date), r.id, 'other', 'agency_commission', r.id, ${dimensions}, 0, 0, 0, ${free}, 0, 0, o.amount
  from reservation r
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id and b.agency_id is not null and b.commission_rate > 0
  left join reservation_night n on false
  cross join lateral (select ${owedToAgency} as amount) o
  where r.tenant_id = cast(:tenantId as uuid) and r.property_id = :propertyId and r.check_out_business_date = cast(:date as date) and r.status = 'checked_out'
    and o.amount > 0
  on conflict do nothing`

const daysWithoutCommission = `
  select distinct r.check_out_business_date as date
  from reservation r
  join business_day d on d.tenant_id = r.tenant_id and d.property_id = r.property_id and d.date = r.check_out_business_date and d.status = 'closed'
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id and b.agency_id is not null and b.commission_rate > 0
  where r.tenant_id = cast(:tenantId as uuid) and r.property_id = :propertyId and r.status = 'checked_out' and r.check_out_business_date >= cast(:since as date)
    and ${owedToAgency} > 0
    and not exists (select from night_fact f where f.tenant_id = r.tenant_id and f.property_id = r.property_id and f.business_date = r.check_out_business_date
      and f.source_type = 'agency_commission')`

/**
 * Writes down the commissions of agencies on closed days of a property that have none of them: a process of a version that knew no such facts has closed them, while
 * it was being replaced. A day that has some, and lacks one, is left to the proof. Answers the days.
 */
export const fillCommissions = async (trx: Trx, propertyId: string, since: string): Promise<string[]> => {
  const { tenantId } = contextOf(trx)
  const found = await sql<{ date: string }>(trx, daysWithoutCommission, { tenantId, propertyId, since })
  for (const { date } of found) await prepared(trx, commissionFacts, bound(propertyId, date, tenantId))
  return found.map(({ date }) => date)
}

/** Units that there were to sell, by the home type of the units. */
const units = `
  insert into property_day (property_id, date, unit_type_id, units, out_of_order, out_of_service)
  select u.property_id, cast(:date as date), u.unit_type_id, count(*)::int,
    count(*) filter (where k.kind = 'out_of_order')::int, count(*) filter (where k.kind = 'out_of_service')::int
  from unit u
  left join (select a.unit_id, min(b.kind) as kind from unit_block b
    join unit_assignment a on a.tenant_id = b.tenant_id and a.unit_block_id = b.id and a.status = 'blocked' and a.during @> cast(:date as date)
    where b.property_id = :propertyId and b."from" <= cast(:date as date) and b."to" > cast(:date as date) group by a.unit_id) k on k.unit_id = u.id
  where u.property_id = :propertyId and u.active_from <= cast(:date as date) and (u.active_until is null or u.active_until > cast(:date as date))
    and (u.status = 'active' or u.active_until is not null)
  group by u.property_id, u.unit_type_id
  on conflict do nothing`

const moved = (transitions: string, what: string) =>
  `(select ${what} from reservation_event e join reservation r on r.tenant_id = e.tenant_id and r.id = e.reservation_id
    where e.tenant_id = cast(:tenantId as uuid) and e.property_id = :propertyId and e.business_date = cast(:date as date) and e.transition in (${transitions}))`

const counts = `
  insert into property_day_count (property_id, date, arrivals, departures, stay_overs, walk_ins, no_shows, cancellations, bookings, guests_in_house, overbooked,
    conditions, tasks)
  select :propertyId, cast(:date as date), ${moved(`'T13'`, 'count(distinct r.id)::int')}, ${moved(`'T16'`, 'count(distinct r.id)::int')},
    h.stay_overs, ${moved(
      `'T13'`,
      `count(distinct r.id) filter (where exists (select from booking b
      where b.tenant_id = r.tenant_id and b.id = r.booking_id and b.source = 'walk_in'))::int`,
    )},
    ${moved(`'T18'`, 'count(distinct r.id)::int')}, ${moved(`'T11'`, 'count(distinct r.id)::int')},
    ${moved(`'T4', 'T8', 'T21'`, 'count(distinct r.booking_id)::int')}, h.guests, h.overbooked,
    (select coalesce(jsonb_object_agg(c.condition, c.count), '{}') from (select u.condition, count(*) as count from unit u
      where u.property_id = :propertyId and u.status = 'active' group by 1) c),
    (select coalesce(jsonb_object_agg(t.status, t.count), '{}') from (select k.status, count(*) as count from housekeeping_task k
      where k.property_id = :propertyId and k.date = cast(:date as date) group by 1) t)
  from (select count(*) filter (where r.check_in_business_date < cast(:date as date))::int as stay_overs,
      coalesce(sum(r.adults + cardinality(r.children_ages)), 0)::int as guests, count(*) filter (where r.overbooked)::int as overbooked
    from reservation r where r.property_id = :propertyId and ${inHouse}) h
  on conflict do nothing`

const bound = (propertyId: string, date: string, tenantId: string | null) => ({ propertyId, date, tenantId })

/**
 * Writes down what a day has realised: a fact per room line of its folios, and per free night (modules/reports.md). What is written stays, so a repeat
 * takes up what came since. With `closes` also what there was to sell and what moved, which is known when the day closes and not before.
 */
export const snapshotDay = async (
  trx: Trx,
  { tenantId, propertyId, date, closes }: { tenantId: string; propertyId: string; date: string; closes: boolean },
): Promise<void> => {
  const values = bound(propertyId, date, tenantId)
  await prepared(trx, lineFacts, values)
  await prepared(trx, freeFacts, { propertyId, date })
  if (!closes) return
  await prepared(trx, commissionFacts, values)
  await prepared(trx, units, { propertyId, date })
  await prepared(trx, counts, values)
}

/** The figures of a day as they are frozen when it closes: its lines by kind, category and tax, its nights, and the two ledgers of the guests. Minor units. */
export const dayTotals = async (
  trx: Trx,
  { tenantId, propertyId, date }: { tenantId: string; propertyId: string; date: string },
): Promise<Record<string, unknown>> => {
  const row = await preparedOne<{ totals: Record<string, unknown> }>(
    trx,
    `with line as (
       select l.kind, coalesce(l.category, 'none') as category, l.amount, l.taxes, l.payment_id, l.receipt_id, l.tax_rule_id,
         ${isOwnTax} as is_own_tax
       from folio_line l
       where l.tenant_id = cast(:tenantId as uuid) and l.property_id = :propertyId and l.business_date = cast(:date as date))
     select jsonb_build_object(
       'lineCount', (select count(*) from line),
       'lineSum', (select coalesce(sum(amount), 0) from line),
       'lines', (select coalesce(jsonb_agg(x order by x.kind, x.category), '[]') from
         (select kind, category, count(*) as count, sum(amount) as amount from line group by 1, 2) x),
       'taxes', (select coalesce(jsonb_agg(x order by x.code, x.included), '[]') from
         (select code, included, sum(amount) as amount from (
            select t ->> 'code' as code, (t ->> 'included')::boolean as included, (t ->> 'amount')::bigint * case when line.amount < 0 then -1 else 1 end as amount
            from line cross join lateral jsonb_array_elements(line.taxes) t
            union all
            -- Taxes that no charge tells of.
            select r.code, false, line.amount from line join tax_rule r on r.tenant_id = cast(:tenantId as uuid) and r.id = line.tax_rule_id where line.is_own_tax) y
          group by 1, 2) x),
       'payments', (select coalesce(jsonb_agg(x order by x.method, x.kind), '[]') from
         (select coalesce(p.method, 'receipt') as method, line.kind, count(*) as count, sum(line.amount) as amount from line
          left join payment p on p.tenant_id = cast(:tenantId as uuid) and p.id = line.payment_id
          where line.payment_id is not null or line.receipt_id is not null group by 1, 2) x),
       'rooms', (select jsonb_build_object('sold', coalesce(sum(unit_nights) filter (where free = 'none'), 0),
           'complimentary', coalesce(sum(unit_nights) filter (where free = 'complimentary'), 0),
           'houseUse', coalesce(sum(unit_nights) filter (where free = 'house_use'), 0),
           'revenue', coalesce(sum(room_revenue), 0), 'includedTax', coalesce(sum(included_tax), 0))
         from night_fact where property_id = :propertyId and business_date = cast(:date as date)),
       'ledgers', (select jsonb_build_object('guest', coalesce(sum(balance) filter (where stage = 'guest'), 0),
           'deposit', (select coalesce(sum(b.credit), 0) from booking b where b.property_id = :propertyId and b.credit > 0)
             - coalesce(sum(balance) filter (where stage = 'deposit'), 0))
         from folio where property_id = :propertyId and status = 'open')) as totals`,
    bound(propertyId, date, tenantId),
  )
  return row?.totals ?? {}
}
