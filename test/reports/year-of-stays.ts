import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'

export type Stays = {
  /** Arrivals of a day. */
  perDay: number
  /** Days before the open day on which the first stays begin, and days after it. */
  back?: number
  ahead?: number
  seed?: number
}

/**
 * Gives a house a past year and a half year to come: stays of one to four nights on each day, one of ten cancelled and one of thirty not come, nights charged with
 * breakfast beside them, and the facts and changes on the books that follow. Some bookings have several stays, days apart. Written without triggers but those that sum up facts.
 */
export const fillYear = async (
  admin: Knex,
  house: House,
  { perDay, back = 365, ahead = 180, seed = 0 }: Stays,
): Promise<void> => {
  const bound = {
    tenantId: house.tenantId,
    propertyId: house.propertyId,
    typeId: house.unitTypeId,
    suiteId: house.suiteTypeId ?? house.unitTypeId,
    planId: house.ratePlanId,
    saverId: house.saverPlanId,
    today: house.today,
    perDay,
    back,
    ahead,
    seed,
  }
  await admin.transaction(async (trx) => {
    await trx.raw(`select set_config('app.tenant_id', ?, true)`, [house.tenantId])
    const [first] = await sql<{ guestId: string }>(
      trx,
      `insert into guest (tenant_id, first_name, last_name, name_search, residence_country, source)
       values (:tenantId, 'Ana', 'Silva', 'ana silva', 'BR', 'staff') returning id as guest_id`,
      { tenantId: house.tenantId },
    )
    const values = { ...bound, guestId: first?.guestId ?? null }
    for (const text of statements) {
      // Sums follow from facts by a trigger; all else is written as it stands.
      await trx.raw(
        `set local session_replication_role = ${text.includes('insert into night_fact') ? 'origin' : 'replica'}`,
      )
      await sql(trx, text, pick(text, values))
    }
  })
  for (const table of filled) await admin.raw(`analyze ${table}`)
}

const filled = [
  'booking',
  'reservation',
  'reservation_night',
  'folio',
  'folio_line',
  'night_fact',
  'night_sum',
  'on_the_books_change',
  'on_the_books_waiting',
  'guest',
]

const pick = (text: string, values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => text.includes(`:${name}`)))

const statements = [
  `create temp table made on commit drop as
   select gen_random_uuid() as id, gen_random_uuid() as folio_id, x.*,
     case when x.dice % 3 = 0 then md5(cast(:propertyId as text) || ' ' || (x.day + 1000) / 17 || ' ' || x.n / 2)::uuid else gen_random_uuid() end as booking_id,
     cast(:today as date) + x.day as arrival, cast(:today as date) + x.day + x.nights as departure,
     case when x.dice < 10 then 'cancelled' when x.dice < 13 then 'no_show' when x.day >= 0 then 'confirmed'
       when x.day + x.nights > 0 then 'checked_in' else 'checked_out' end as status,
     case when x.dice % 3 = 0 then cast(:suiteId as uuid) else cast(:typeId as uuid) end as unit_type_id,
     case when x.dice % 4 = 0 then cast(:saverId as uuid) else cast(:planId as uuid) end as rate_plan_id,
     (array['leisure', 'corporate', 'complimentary', 'house_use', 'group'])[1 + case when x.dice < 95 then x.dice % 2 else x.dice - 95 end] as segment,
     (array['phone', 'email', 'desk', 'portal', 'channel'])[1 + x.dice % 5] as source
   from (select d.day, n.n, 1 + (d.day + back.n * 7 + n.n) % 4 as nights, abs(hashint8(d.day * 1000 + n.n + :seed::bigint * 1000000)) % 100 as dice
     from generate_series(-:back::int, :ahead::int) d (day) cross join generate_series(1, :perDay::int) n (n)
     cross join (select :back::int as n) back) x`,
  `insert into booking (tenant_id, id, property_id, number, source, currency, language, booker_guest_id, created_at)
   select :tenantId, m.booking_id, :propertyId, upper(left(translate(md5(m.booking_id::text), 'abcdef', '234567'), 8)), min(m.source), 'BRL', 'pt-BR', :guestId,
     now() from made m group by m.booking_id on conflict do nothing`,
  `delete from made m where not exists (select from booking b where b.tenant_id = :tenantId and b.id = m.booking_id)`,
  `insert into reservation (tenant_id, id, booking_id, position, property_id, status, unit_type_id, rate_plan_id, arrival, departure, adults, children_ages,
     primary_guest_id, policies, currency, room_total, extras_total, tax_total, total, market_segment, confirmed_at, cancelled_at, cancel_reason,
     actual_check_in_at, check_in_business_date, actual_check_out_at, check_out_business_date)
   select :tenantId, m.id, m.booking_id, row_number() over (partition by m.booking_id order by m.arrival, m.id), :propertyId, m.status, m.unit_type_id, m.rate_plan_id, m.arrival, m.departure, 2,
     case when m.dice % 5 = 0 then array[4] else '{}'::int[] end, :guestId, '{}', 'BRL', 20000 * m.nights, 0, 0, 20000 * m.nights, m.segment,
     m.arrival::timestamptz - make_interval(days => 1 + m.dice), case when m.status = 'cancelled' then now() end,
     case when m.status = 'cancelled' then 'illness' end, case when m.status like 'checked%' then m.arrival::timestamptz end,
     case when m.status like 'checked%' then m.arrival end, case when m.status = 'checked_out' then m.departure::timestamptz end,
     case when m.status = 'checked_out' then m.departure end
   from made m`,
  `insert into reservation_night (tenant_id, reservation_id, date, unit_type_id, rate_plan_id, amount, status, commission, taxes)
   select :tenantId, m.id, m.arrival + d.n, m.unit_type_id, m.rate_plan_id, 20000 + m.dice, case when m.status in ('cancelled', 'no_show') then 'released'
     when m.day + d.n < 0 then 'charged' else 'open' end, m.dice, '[{"code":"ISS","included":true,"amount":952}]'
   from made m cross join lateral generate_series(0, m.nights - 1) d (n)`,
  `insert into folio (tenant_id, id, property_id, number, kind, reservation_id, is_primary, stage, currency)
   select :tenantId, m.folio_id, :propertyId, left(md5(m.folio_id::text), 20), 'guest', m.id, true, 'guest', 'BRL' from made m where m.day < 0`,
  `insert into folio_line (tenant_id, folio_id, kind, category, description, unit_amount, amount, taxes, business_date, source_type, source_id, source_key,
     posted_by, property_id)
   select :tenantId, m.folio_id, 'charge', k.category, 'x', k.amount, k.amount, '[{"code":"ISS","included":true,"amount":952}]', n.date, 'reservation_night',
     m.id, n.date || ':' || k.category, '{}', :propertyId
   from made m cross join lateral (select m.arrival + d.n as date, d.n from generate_series(0, m.nights - 1) d (n) where m.day + d.n < 0) n
   cross join (values ('room', 20000), ('food', 3000), ('parking', 1000)) k (category, amount)
   where m.status like 'checked%'`,
  `insert into night_fact (tenant_id, property_id, business_date, stay_date, reservation_id, kind, source_type, source_id, unit_type_id, rate_plan_id,
     market_segment, source, country_code, unit_nights, adults, children, free, room_revenue, included_tax, commission)
   select :tenantId, :propertyId, l.business_date, l.business_date, m.id, 'night', 'folio_line', l.id, m.unit_type_id, m.rate_plan_id, m.segment, m.source, case when m.dice % 2 = 0 then 'PT' else 'AR' end,
     1, 2, 0, case when m.segment in ('complimentary', 'house_use') then m.segment else 'none' end, l.amount, 952, m.dice
   from made m join folio_line l on l.tenant_id = :tenantId and l.folio_id = m.folio_id and l.category = 'room'`,
  `insert into on_the_books_change (tenant_id, property_id, stay_date, changed_on, reservation_id, unit_type_id, rate_plan_id, market_segment, source,
     unit_nights, room_revenue)
   select :tenantId, :propertyId, m.arrival + d.n, least(m.arrival - 1 - m.dice + c.later, cast(:today as date)), m.id, m.unit_type_id, m.rate_plan_id, m.segment,
     m.source, c.units, c.units * 20000
   from made m cross join lateral generate_series(0, m.nights - 1) d (n) cross join (values (1, 0), (-1, 5)) c (units, later)
   where c.units = 1 or m.status in ('cancelled', 'no_show')`,
  `insert into on_the_books_waiting (tenant_id, property_id, stay_date, changed_on, unit_type_id, market_segment, channel_connection_id, unit_nights, room_revenue)
   select o.tenant_id, o.property_id, o.stay_date, o.changed_on, o.unit_type_id, o.market_segment, o.channel_connection_id, o.unit_nights, o.room_revenue
   from made m join on_the_books_change o on o.tenant_id = :tenantId and o.reservation_id = m.id`,
  `insert into property_day (tenant_id, property_id, date, unit_type_id, units, out_of_order, out_of_service)
   select :tenantId, :propertyId, cast(:today as date) + d.n, :typeId, 200, 1, 0 from generate_series(-:back::int, -1) d (n) on conflict do nothing`,
  `insert into business_day (tenant_id, property_id, date, status, opened_at, closed_at, totals)
   select :tenantId, :propertyId, cast(:today as date) + d.n, 'closed', now(), now(), '{"taxes":[{"code":"ISS","included":true,"amount":952}]}'
   from generate_series(-:back::int, -1) d (n) on conflict do nothing`,
]
