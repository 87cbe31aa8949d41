import type { ReportKey } from '../../config/reports.ts'
import { owedToAgency } from '../reservations/index.ts'
import { capacityOfNights } from '../units/index.ts'
import { extrasOf, priceTaxesOf, staysOf, staySums } from './stays.ts'

/** The first and the last night of which the two sides are not the same. */
const across = (ours: string, theirs: string) => `
  with ours as (${ours}), theirs as (${theirs})
  select min(d.night) as "from", max(d.night) as "to"
  from (select coalesce(o.night, t.night) as night from ours o full join theirs t on t.night = o.night
    where coalesce(o.units, 0) <> coalesce(t.units, 0) or coalesce(o.amount, 0) <> coalesce(t.amount, 0)) d`

const ofProperty = (alias: string) =>
  `${alias}.tenant_id = cast(:tenantId as uuid) and ${alias}.property_id = :propertyId`

/** Nights from a day on that reservations take, found by the types of the house, by the quantity of units that their type takes. */
const nights = (where: string, since: string, more = '') => `
  select n.date as night, sum(q.units) as units, ${more || '0'} as amount
  from unit_type t
  join reservation_night n on n.tenant_id = t.tenant_id and n.unit_type_id = t.id and n.status <> 'released' and n.date >= cast(${since} as date)
  join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
  cross join lateral (select coalesce(sum(s.quantity), 0) as units from unit_type_pool s where s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id) q
  where ${ofProperty('t')} and ${ofProperty('r')} and ${where}
  group by n.date`

/** Each night and each stay is summed up once for every dimension. */
const sumsOfNight = 9

/** Each change on the books is summed up for four dimensions, by the day and by the month. */
const sumsOfChange = 8
const sumsOfBooks = `s.dimension in ('all', 'unitType', 'segment', 'channel') and s.span in ('day', 'month')`

/** Days of the property that are summed up and have not changed since. */
const kept = `(
  select d.property_id, d.date from stay_sum_day d
  where ${ofProperty('d')} and d.date >= cast(:since as date) and d.date < cast(:open as date)
    and not exists (select from stay_sum_change c where c.tenant_id = d.tenant_id and c.property_id = d.property_id and c.date = d.date))`
const ofKept = (columns: string, from: string) =>
  `select x.date as night, ${columns} from ${from} x join ${kept} k on k.property_id = x.property_id and k.date = x.date
   where ${ofProperty('x')} group by x.date`
const again = (columns: string, from: string) => `select x.date as night, ${columns} from (${from}) x group by x.date`
const allOf = (names: readonly string[], times: number) =>
  `${times} * sum(${names.map((name) => `x.${name}`).join(' + ')})`

/**
 * Statements that find where facts differ from the records that they stand for, by the report that is read from them first: what is on the books (pace), what closed
 * days have realised (occupancy) and its sums (production, taxes), and what is left to sell (forecast). Each is one statement, so that both of its sides are of one moment.
 */
export const differsAcross: readonly { report: ReportKey; text: string }[] = [
  {
    report: 'pace',
    text: across(
      `select o.stay_date as night, sum(o.unit_nights) as units, sum(o.room_revenue) as amount from on_the_books_change o
     where ${ofProperty('o')} and o.stay_date >= cast(:since as date) group by o.stay_date`,
      nights(
        `r.status in ('confirmed', 'checked_in', 'checked_out')`,
        ':since',
        `sum(case n.status when 'waived' then 0
         else n.amount - (select coalesce(sum((x ->> 'amount')::bigint), 0) from jsonb_array_elements(n.components) x) end)`,
      ),
    ),
  },
  {
    report: 'pace',
    text: across(
      `select x.night, sum(x.units) as units, sum(x.amount) as amount from (
       select s.stay_date as night, s.unit_nights as units, s.room_revenue as amount from on_the_books_sum s
       where ${ofProperty('s')} and ${sumsOfBooks} and s.stay_date >= cast(:since as date)
       union all
       select w.stay_date, ${sumsOfChange} * w.unit_nights, ${sumsOfChange} * w.room_revenue from on_the_books_waiting w
       where ${ofProperty('w')} and w.stay_date >= cast(:since as date)) x group by x.night`,
      `select o.stay_date as night, ${sumsOfChange} * sum(o.unit_nights) as units, ${sumsOfChange} * sum(o.room_revenue) as amount from on_the_books_change o
     where ${ofProperty('o')} and o.stay_date >= cast(:since as date) group by o.stay_date`,
    ),
  },
  {
    report: 'occupancy',
    text: across(
      `select f.business_date as night, 0 as units, sum(f.room_revenue) as amount from night_fact f
     where ${ofProperty('f')} and f.business_date >= cast(:since as date) and f.business_date < cast(:open as date) group by f.business_date`,
      `select l.business_date as night, 0 as units, sum(l.amount) as amount from folio_line l
     where ${ofProperty('l')} and l.category = 'room' and l.business_date >= cast(:since as date) and l.business_date < cast(:open as date) group by l.business_date`,
    ),
  },
  {
    report: 'production',
    text: across(
      `select s.business_date as night, sum(s.sold + s.complimentary + s.house_use) as units, sum(s.room_revenue + s.commission) as amount from night_sum s
     where ${ofProperty('s')} and s.business_date >= cast(:since as date) and s.business_date < cast(:open as date) group by s.business_date`,
      `select f.business_date as night, ${sumsOfNight} * sum(f.unit_nights) as units, ${sumsOfNight} * sum(f.room_revenue + f.commission) as amount from night_fact f
     where ${ofProperty('f')} and f.business_date >= cast(:since as date) and f.business_date < cast(:open as date) group by f.business_date`,
    ),
  },
  {
    report: 'production',
    text: across(
      `select f.business_date as night, 0 as units, sum(f.commission) as amount from night_fact f
     where ${ofProperty('f')} and f.business_date >= cast(:since as date) and f.business_date < cast(:open as date) and f.source_type = 'agency_commission'
     group by f.business_date`,
      `select r.check_out_business_date as night, 0 as units, sum(${owedToAgency}) as amount from reservation r
     join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id and b.agency_id is not null and b.commission_rate > 0
     where ${ofProperty('r')} and r.status = 'checked_out' and r.check_out_business_date >= cast(:since as date) and r.check_out_business_date < cast(:open as date)
     group by r.check_out_business_date`,
    ),
  },
  {
    report: 'forecast',
    text: across(
      `select c.night, sum(c.sold) as units, 0 as amount from (${capacityOfNights}) c
     where ${ofProperty('c')} and c.night >= cast(:open as date) group by c.night`,
      nights(`r.status <> 'held'`, ':open'),
    ),
  },
  {
    report: 'production',
    text: across(
      ofKept(`${allOf(staySums, 1)} as units, 0 as amount`, 'stay_sum'),
      again(`${allOf(staySums, sumsOfNight)} as units, 0 as amount`, staysOf(kept)),
    ),
  },
  {
    report: 'production',
    text: across(
      ofKept(`0 as units, sum(x.amount) as amount`, 'extra_sum'),
      again(`0 as units, ${sumsOfNight} * sum(x.amount) as amount`, extrasOf(kept)),
    ),
  },
  {
    report: 'taxes',
    text: across(
      ofKept(`sum(x.base) as units, sum(x.tax) as amount`, 'price_tax_sum'),
      again(`sum(x.base) as units, sum(x.tax) as amount`, priceTaxesOf(kept)),
    ),
  },
]
