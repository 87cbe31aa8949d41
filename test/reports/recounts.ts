import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { housesOf } from '../../db/reports/houses.ts'
import { report, sumStayDays } from '../../db/reports/index.ts'
import type { Dimension } from '../../db/reports/nights.ts'
import { staysBy } from '../../db/reports/stays.ts'
import type { House } from '../support/factories.ts'

/** Columns of facts by which figures are told. */
export const facts: Record<Exclude<Dimension, 'date'>, string> = {
  property: 'property_id',
  unitType: 'unit_type_id',
  ratePlan: 'rate_plan_id',
  segment: 'market_segment',
  source: 'source',
  channel: 'channel_connection_id',
  company: 'company_id',
  agency: 'agency_id',
  country: 'country_code',
}
const nights: Partial<Record<Dimension, string>> = {
  property: 'r.property_id',
  unitType: 'n.unit_type_id',
  ratePlan: 'n.rate_plan_id',
  segment: 'r.market_segment',
  source: 'b.source',
  country: 'g.residence_country',
}

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

export type Row = Record<string, number> & { key: string | null }

/** Each fact before the open day and each night from it on, read one by one. */
export const recount = (house: House, by: Dimension, from: string, to: string) =>
  house.inHouse((trx) =>
    sql<Row>(
      trx,
      `with night as (
         select ${by === 'date' ? 'f.business_date' : `f.${facts[by]}`}::text as key, r.booking_id, f.unit_nights, f.free, f.adults, f.children, f.room_revenue,
           f.included_tax, f.commission
         from night_fact f left join reservation r on r.id = f.reservation_id
         where f.property_id = :propertyId and f.business_date between cast(:from as date) and cast(:to as date) and f.business_date < cast(:open as date)
         union all
         select ${by === 'date' ? 'n.date' : (nights[by] ?? 'null')}::text, r.booking_id, 1,
           case when r.market_segment in ('complimentary', 'house_use') then r.market_segment else 'none' end, r.adults, cardinality(r.children_ages), n.amount,
           (select sum((t ->> 'amount')::bigint) from jsonb_array_elements(n.taxes) t), n.commission
         from reservation r join reservation_night n on n.reservation_id = r.id and n.status <> 'released' join booking b on b.id = r.booking_id
         join guest g on g.id = b.booker_guest_id
         where r.property_id = :propertyId and r.status in ('confirmed', 'checked_in', 'checked_out') and n.date between cast(:from as date) and cast(:to as date)
           and n.date >= cast(:open as date))
       select key, sum(case free when 'none' then unit_nights else 0 end)::bigint as sold,
         sum(case free when 'complimentary' then unit_nights else 0 end)::bigint as complimentary,
         sum(case free when 'house_use' then unit_nights else 0 end)::bigint as house_use, sum(adults)::bigint as adults, sum(children)::bigint as children,
         sum(room_revenue)::bigint as room_revenue, sum(included_tax)::bigint as included_tax, sum(commission)::bigint as commission,
         count(distinct booking_id) filter (where unit_nights > 0) as bookings
       from night group by key`,
      { propertyId: house.propertyId, from, to, open: house.today },
    ),
  )

/** Stays and revenue beside the room by key, one by one: the key is that of the first fact, else of the last change on the books, else the stay's own. */
export const recountStays = (house: House, by: Exclude<Dimension, 'date'>, from: string, to: string) =>
  house.inHouse(async (trx) => {
    const all = (text: string) => sql<Record<string, string & number>>(trx, text, [house.propertyId])
    const stays = await all(
      `select r.*, b.source, b.channel_connection_id, b.company_id, b.agency_id, g.residence_country as country_code,
         greatest(0, r.arrival - cast(r.confirmed_at at time zone 'America/Sao_Paulo' as date)) as lead,
         (select count(*) from reservation_night n where n.reservation_id = r.id and n.status <> 'released') as slept
       from reservation r join booking b on b.id = r.booking_id join guest g on g.id = b.booker_guest_id where r.property_id = ?`,
    )
    const allFacts = await all(`select * from night_fact where property_id = ? order by business_date desc, id desc`)
    const changes = await all(
      `select * from on_the_books_change where property_id = ? and unit_nights > 0 order by created_at, id desc`,
    )
    const lines = await all(
      `select l.amount, l.business_date, f.reservation_id from folio_line l join folio f on f.id = l.folio_id
       where l.property_id = ? and l.kind = 'charge' and l.category not in ('room', 'tax')`,
    )
    const field = camel(facts[by])
    const firstFact = new Map(allFacts.map((fact) => [fact['reservationId'], fact]))
    const lastChange = new Map(changes.map((change) => [change['reservationId'], change]))
    const keyOf = (stay: Record<string, unknown>) => {
      const known =
        firstFact.get(stay['id'] as never) ?? (by === 'country' ? undefined : lastChange.get(stay['id'] as never))
      return ((known ?? stay)[field] as string | null) ?? null
    }
    const sums = new Map<string | null, number[]>()
    const add = (key: string | null, numbers: number[]) =>
      sums.set(
        key,
        (sums.get(key) ?? [0, 0, 0, 0, 0, 0, 0]).map((one, at) => one + (numbers[at] ?? 0)),
      )
    const within = (day: unknown) => typeof day === 'string' && day >= from && day <= to
    const byId = new Map(stays.map((stay) => [stay['id'], stay]))
    for (const stay of stays.filter(({ confirmedAt }) => confirmedAt !== null)) {
      const { status, lead, slept } = stay as unknown as { status: string; lead: number; slept: number }
      if (within(stay['arrival']))
        add(keyOf(stay), [1, status === 'cancelled' ? 1 : 0, status === 'no_show' ? 1 : 0, lead, 0, 0, 0])
      if (within(stay['checkOutBusinessDate'])) add(keyOf(stay), [0, 0, 0, 0, 1, slept, 0])
    }
    for (const line of lines.filter(({ businessDate }) => within(businessDate)))
      add(keyOf(byId.get(line['reservationId']) ?? {}), [0, 0, 0, 0, 0, 0, line['amount'] ?? 0])
    return sums
  })

/** Stays and revenue beside the room, as reports tell them by every key, are those that a recount tells. */
export const expectSameStays = async (house: House, from: string, to: string) => {
  for (const by of Object.keys(facts) as Exclude<Dimension, 'date'>[]) {
    const known = await recountStays(house, by, from, to)
    const asked = { propertyId: [house.propertyId], startDate: from, endDate: to, by }
    const found = await house.inHouse(async (trx) => {
      const houses = await housesOf(trx, 'production', asked, { propertyIds: null }, null)
      return staysBy(trx, houses, { from, to }, by)
    })
    const others = new Map<string | null, number>()
    if (by !== 'property') {
      const rows = await house.inHouse(async (trx) => [
        ...((await report('production').open(trx, asked, { propertyIds: null }, null)).rows as Iterable<Row>),
      ])
      for (const { key, otherRevenue } of rows)
        others.set(key === 'none' || key === 'direct' ? null : key, otherRevenue ?? 0)
    }
    const told = new Map(
      found.map(({ key, arrivals, cancelled, noShows, leadDays, departed, departedNights }) => [
        key,
        [arrivals, cancelled, noShows, leadDays, departed, departedNights],
      ]),
    )
    for (const [key, numbers] of known) {
      expect(told.get(key) ?? [0, 0, 0, 0, 0, 0], `stays by ${by} ${key}`).to.deep.equal(numbers.slice(0, 6))
      if (by !== 'property') expect(others.get(key) ?? 0, `other revenue by ${by} ${key}`).to.equal(numbers[6])
    }
    expect([...told].filter(([key, numbers]) => !known.has(key) && numbers.some((one) => one !== 0))).to.deep.equal([])
  }
}

/** Sums up all closed days, as the job after a close does, with patience for `tries` times 20 ms. Answers their number. */
export const sumDays = async (house: House, tries = 1_000): Promise<number> => {
  let days = 0
  for (let some = 1; some > 0; days += some)
    some = await house.inHouse((trx) => sumStayDays(trx, house.propertyId, { atOnce: 7, tries }))
  return days
}
