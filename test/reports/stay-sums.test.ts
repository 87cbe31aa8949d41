import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { report, verifyFacts } from '../../db/reports/index.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { expectSameStays, sumDays } from './recounts.ts'
import { randomFrom } from './support.ts'
import { fillYear } from './year-of-stays.ts'

describe('sums of stays of closed days', () => {
  const world = useWorld()
  const rows = <Row = Record<string, unknown>>(house: House, text: string, values: Record<string, unknown> = {}) =>
    house.inHouse((trx) =>
      sql<Row>(trx, text, { ...(/:propertyId/.test(text) ? { propertyId: house.propertyId } : {}), ...values }),
    )
  /** Dates of days that are summed up and stand. */
  const standing = async (house: House) =>
    (
      await rows<{ date: string }>(
        house,
        `select date from stay_sum_day d where property_id = :propertyId
           and not exists (select from stay_sum_change c where c.property_id = d.property_id and c.date = d.date) order by date`,
      )
    ).map(({ date }) => date)
  before(async () => {
    // Changes are made by hand here, and leave the totals of reservations as they are.
    for (const table of ['reservation', 'reservation_night'])
      await world.database.admin.raw(`alter table ${table} disable trigger reservation_totals`)
  })

  const isOfSums = ({ report }: { report: string }) => report === 'production' || report === 'taxes'
  const drifts = (house: House) => house.inHouse((trx) => verifyFacts(trx, house.propertyId))
  const taxes = (house: House, from: string, to: string) =>
    house.inHouse(async (trx) => [
      ...((
        await report('taxes').open(
          trx,
          { propertyId: house.propertyId, startDate: from, endDate: to },
          { propertyIds: null },
          null,
        )
      ).rows as Iterable<object>),
    ])
  const recountTaxes = (house: House, from: string, to: string) =>
    rows(
      house,
      `select t ->> 'code' as code, to_char(l.business_date, 'YYYY-MM') as period, sum(l.amount)::bigint as base, sum((t ->> 'amount')::bigint * sign(l.amount))::bigint as tax
       from folio_line l cross join jsonb_array_elements(l.taxes) t where l.property_id = :propertyId and l.kind in ('charge', 'fee', 'adjustment')
         and l.business_date between cast(:from as date) and cast(:to as date) group by 1, 2 order by 2`,
      { from, to },
    )

  /** Bookings of stays that no night fact has a key of. */
  const without = `select b.id from booking b where property_id = :propertyId and exists (select from reservation r where r.booking_id = b.id
    and r.status in ('no_show', 'cancelled') and r.arrival < :today) order by md5(b.id::text || :order)`

  /** Changes of what is over, each of which moves figures or keys of days that are summed up. */
  const changes: Record<string, string> = {
    'a guest who came after all': `update reservation set status = 'confirmed' where id in (select id from reservation where property_id = :propertyId
      and status = 'no_show' and arrival < :today order by md5(id::text || :order) limit 2)`,
    'a stay that did not leave': `update reservation set status = 'checked_in', actual_check_out_at = null, check_out_business_date = null
      where id in (select id from reservation where property_id = :propertyId and status = 'checked_out' order by md5(id::text || :order) limit 2)`,
    'an arrival on another day': `update reservation set arrival = arrival - 1 where id in (select id from reservation where property_id = :propertyId
      and status = 'cancelled' and arrival < :today order by md5(id::text || :order) limit 2)`,
    'a night that was not slept': `update reservation_night set status = 'released' where (reservation_id, date) in (select n.reservation_id, n.date
      from reservation_night n join reservation r on r.id = n.reservation_id where r.property_id = :propertyId and r.status = 'checked_out' and n.status = 'waived'
      order by md5(n.reservation_id::text || n.date || :order) limit 3)`,
    'segments of stays without facts': `update reservation set market_segment = 'wholesale' where id in (select id from reservation where property_id = :propertyId
      and status in ('no_show', 'cancelled') and arrival < :today order by md5(id::text || :order) limit 3)`,
    'sources of bookings': `update booking set source = 'walk_in' where id in (${without} limit 20)`,
    'a country of guests': `update guest set residence_country = case residence_country when 'BR' then 'UY' else 'BR' end
      where id in (select booker_guest_id from booking where property_id = :propertyId)`,
    'bookings of a merged guest': `with other as (insert into guest (first_name, last_name, name_search, residence_country, source)
        values ('Bia', 'Souza', 'bia souza', 'CL', 'staff') returning id)
      update booking set booker_guest_id = (select id from other) where id in (${without} limit 15)`,
    'changes on the books': `insert into on_the_books_change (property_id, stay_date, changed_on, reservation_id, unit_type_id, rate_plan_id, market_segment, source,
        unit_nights, room_revenue)
      select property_id, arrival, arrival, id, unit_type_id, rate_plan_id, 'late', 'email', 1, 5 from (select * from reservation
        where property_id = :propertyId and status in ('no_show', 'cancelled') and arrival < :today order by md5(id::text || :order) limit 3) r`,
    'first facts of stays': `insert into night_fact (property_id, business_date, stay_date, reservation_id, kind, source_type, source_id, unit_type_id, rate_plan_id,
        market_segment, source, country_code, unit_nights, adults, children, free, room_revenue, included_tax)
      select r.property_id, r.arrival, r.arrival, r.id, 'other', 'late', gen_random_uuid(), r.unit_type_id, r.rate_plan_id, 'fee', 'portal', 'FR', 0, 0, 0,
        'none', 100, 0 from (select * from reservation where property_id = :propertyId and status in ('no_show', 'cancelled') and arrival < :today
        order by md5(id::text || :order) limit 3) r`,
  }
  const bound = (house: House, text: string, order: number) => ({
    propertyId: house.propertyId,
    ...(text.includes(':order') ? { order: String(order) } : {}),
    ...(text.includes(':today') ? { today: house.today } : {}),
  })
  const change = (house: House, name: string, order: number) => {
    const text = changes[name] ?? ''
    return rows(house, text, bound(house, text, order))
  }

  const filled = async (seed: number) => {
    const house = await makeHouse({ units: 2, suite: true, deposit: null })
    await fillYear(world.database.admin, house, { perDay: 3, back: 20, ahead: 5, seed })
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(
        `update reservation_night set status = 'waived' where status = 'charged' and md5(reservation_id::text || date) < '3'`,
      )
    })
    return house
  }

  it('follow each change of what is over, from its commit on, and are summed up anew', async () => {
    const house = await filled(11)
    expect(await sumDays(house)).to.equal(20)
    const [from, to] = [house.day(-24), house.day(5)]
    for (const [order, name] of Object.keys(changes).entries()) {
      expect(await standing(house), name).to.have.length(20)
      await change(house, name, order)
      expect((await standing(house)).length, name).to.be.lessThan(20)
      await expectSameStays(house, from, to)
      expect(await sumDays(house), name).to.be.greaterThan(0)
      await expectSameStays(house, from, to)
      expect((await drifts(house)).filter(isOfSums), name).to.deep.equal([])
    }
    const known = await recountTaxes(house, from, to)
    const told = (await taxes(house, from, to)) as { code: string; period: string; base: number; tax: number }[]
    expect(told.map(({ code, period, base, tax }) => ({ code, period, base, tax }))).to.deep.equal(known)
  })

  it('miss no change that commits while days are summed up', async () => {
    const house = await filled(12)
    await sumDays(house)
    const random = randomFrom(12)
    const names = Object.keys(changes)
    const some = Array.from({ length: 24 }, (_, order) => ({
      name: names[Math.floor(random() * names.length)] ?? '',
      order,
    }))
    const change4 = async (at: number) => {
      for (const { name, order } of some.slice(at * 6, at * 6 + 6)) await change(house, name, order)
    }
    await Promise.all([...[0, 1, 2, 3].map(change4), ...Array.from({ length: 4 }, () => sumDays(house))])
    await expectSameStays(house, house.day(-24), house.day(5))
    await sumDays(house)
    expect(await standing(house)).to.have.length(20)
    await expectSameStays(house, house.day(-24), house.day(5))
  })

  it('miss no key that changes while stays are moved to other days', async () => {
    const house = await filled(15)
    await sumDays(house)
    const held = (text: string) => {
      let end = () => {}
      const ended = new Promise<void>((resolve) => (end = resolve))
      let isDone = () => {}
      const done = new Promise<void>((resolve) => (isDone = resolve))
      const all = house.inHouse(async (trx) => {
        await sql(trx, text, bound(house, text, 1))
        isDone()
        await ended
      })
      return { done, end: () => (end(), all) }
    }
    const moves = held(
      `update reservation set arrival = arrival - 1 where property_id = :propertyId and status = 'cancelled' and arrival < :today`,
    )
    await moves.done
    const merge = held(changes['bookings of a merged guest'] ?? '')
    await merge.done
    await moves.end()
    const early = await sumDays(house, 2)
    await merge.end()
    expect(early).to.equal(0)
    await expectSameStays(house, house.day(-24), house.day(5))
    expect(await sumDays(house)).to.be.greaterThan(0)
    expect(await standing(house)).to.have.length(20)
    await expectSameStays(house, house.day(-24), house.day(5))
  })

  it('note a change whose transaction began before the sums were made, and ends after them', async () => {
    const house = await filled(13)
    await sumDays(house)
    let isSummed = () => {}
    const summed = new Promise<void>((resolve) => (isSummed = resolve))
    let hasChanged = () => {}
    const changed = new Promise<void>((resolve) => (hasChanged = resolve))
    const late = house.inHouse(async (trx) => {
      await sql(trx, `update reservation set status = 'confirmed' where property_id = ? and status = 'no_show'`, [
        house.propertyId,
      ])
      hasChanged()
      await summed
    })
    await changed
    // Another change makes the same days due.
    await change(house, 'a country of guests', 1)
    await sumDays(house, 2)
    isSummed()
    await late
    await expectSameStays(house, house.day(-24), house.day(5))
    expect((await standing(house)).length).to.be.lessThan(20)
  })

  it('are found where they are wrong by the nightly proof, and read by their own tenant alone', async () => {
    const house = await filled(14)
    const other = await makeHouse({ units: 1 })
    await sumDays(house)
    expect((await drifts(house)).filter(isOfSums)).to.deep.equal([])
    for (const [table, column, found] of [
      ['stay_sum', 'departed', 'production'],
      ['extra_sum', 'amount', 'production'],
      ['price_tax_sum', 'base', 'taxes'],
    ] as const) {
      expect(await other.inHouse((trx) => sql(trx, `select from ${table}`))).to.deep.equal([])
      expect(
        await house.inHouse((trx) => sql(trx, `update ${table} set ${column} = 0`)).then(() => '', String),
      ).to.contain('permission denied')
      const day = house.day(-7)
      const move = (by: number) =>
        sql(
          world.database.admin,
          `update ${table} set ${column} = ${column} + ? where ctid = (select ctid from ${table} where property_id = ? and date = ? limit 1)`,
          [by, house.propertyId, day],
        )
      await move(1)
      expect(await drifts(house)).to.deep.include({ report: found, from: day, to: day })
      await sql(world.database.admin, `delete from stay_sum_day where property_id = ? and date = ?`, [
        house.propertyId,
        day,
      ])
      await sumDays(house)
      expect((await drifts(house)).filter(({ report }) => report === found)).to.deep.equal([])
    }
  })
})
