import { expect } from 'chai'
import { addDays, daysIn } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import { verifyFacts } from '../../db/reports/index.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { forgetLimits } from '../auth/support.ts'
import { arrive, closeOpenDay, makeLateHouse, makeStays, openDay, readStay, setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { deskOf } from '../reservations/desk.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { makeBook, randomFrom } from './support.ts'

type Row = Record<string, number> & { key: string; date: string; basis: string; occupancy: string | null }
type Answer = { meta: Record<string, unknown>; data: Row[]; totals: Row }
type Raw = {
  date: string
  sold: number
  slept: number
  revenue: number
  channel: string
  segment: string
  type: string
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)
const ratio = (one: number, other: number) =>
  other === 0 ? null : (Math.round((one / other) * 10_000) / 10_000).toFixed(4)
const average = (amount: number, by: number) => (by === 0 ? null : Math.floor(amount / by + 0.5))

describe('operating reports beside a recount of raw nights', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  const { leave, miss } = deskOf(() => house)
  const units = 6

  const ask = async (report: string, query: Record<string, string> = {}, desk = owner): Promise<Answer> => {
    const { status, body } = await desk.get(`reports/${report}?${new URLSearchParams(query).toString()}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as Answer
  }

  /** Nights as they lie in the tables: those charged on closed days, those that count from the open day on. */
  const raw = async (open: string) =>
    house.inHouse((trx) =>
      sql<Raw>(
        trx,
        `select n.date, case when r.market_segment in ('complimentary', 'house_use') then 0 else 1 end as sold, 1 as slept,
           (n.amount - (select coalesce(sum((x ->> 'amount')::bigint), 0) from jsonb_array_elements(n.components) x))::bigint as revenue,
           coalesce(b.channel_connection_id::text, 'direct') as channel, r.market_segment as segment, n.unit_type_id::text as type
         from reservation_night n join reservation r on r.id = n.reservation_id join booking b on b.id = r.booking_id
         where r.property_id = ? and case when n.date < ?::date then n.status = 'charged'
           else n.status in ('open', 'charged') and r.status in ('confirmed', 'checked_in', 'checked_out') end`,
        [house.propertyId, open],
      ),
    )

  beforeEach(() => forgetLimits(world))

  it('agree with it after random stays, moves, cancellations, no-shows and early departures', async () => {
    house = await makeLateHouse(6, { units })
    owner = await openDesk(world, house, 'owner')
    const random = randomFrom(20_261_123)
    const below = (most: number) => Math.floor(random() * most)
    const stays: string[] = []
    for (let count = 0; count < 22; count += 1) {
      const from = count < 12 ? -6 : below(8) - 2
      stays.push(...(await makeStays(house, 1, { from, nights: 1 + below(4) }).catch(() => [])))
    }
    // Some are free.
    await house.inHouse(async (trx) => {
      await sql(trx, `update reservation set market_segment = 'complimentary' where id = any(?)`, [stays.slice(0, 2)])
      await sql(trx, `update reservation set market_segment = 'house_use' where id = any(?)`, [stays.slice(2, 3)])
      await sql(trx, `select record_on_the_books(?::uuid[])`, [stays])
    })
    for (let days = -6; days < 0; days += 1) {
      const today = house.day(days)
      for (const id of stays) {
        const stay = await readStay(house, id)
        const dice = random()
        if (stay.status === 'checked_in' && stay.departure <= today) await leave(id, false, 'balance')
        else if (stay.status === 'checked_in' && dice < 0.1) await leave(id, true, 'balance')
        else if (stay.status === 'confirmed' && stay.arrival <= today) {
          if (dice < 0.15) await miss(id).catch(() => undefined)
          else await arrive(house, id).catch(() => undefined)
        } else if (stay.status === 'confirmed' && dice < 0.15)
          await house.inHouse((trx) =>
            cancelReservations(trx, stay.bookingId, { reason: 'guest_request', terms: 'free' }),
          )
        else if (stay.status === 'confirmed' && dice < 0.3)
          await house
            .inHouse((trx) => amendReservation(trx, id, { departure: addDays(stay.departure, 1) }))
            .catch(() => undefined)
      }
      await closeOpenDay(house)
      expect(await openDay(house)).to.equal(house.day(days + 1))
    }
    const open = await openDay(house)
    const nights = await raw(open)
    expect(nights.filter(({ date }) => date < open).length).to.be.greaterThan(8)
    const range = { startDate: house.day(-6), endDate: house.day(8) }
    const within = nights.filter(({ date }) => date >= range.startDate && date <= range.endDate)

    const byDay = await ask('occupancy', range)
    for (const row of byDay.data) {
      const of = within.filter(({ date }) => date === row.key)
      const sold = sum(of.map((night) => night.sold))
      const revenue = sum(of.map((night) => night.revenue))
      const told = [
        row.key,
        row['available'],
        row['sold'],
        row['roomRevenue'],
        row.occupancy,
        row['adr'],
        row['revpar'],
      ]
      expect(told).to.deep.equal([
        row.key,
        units,
        sold,
        revenue,
        ratio(sold, units),
        average(revenue, sold),
        average(revenue, units),
      ])
      expect(row.basis).to.equal(row.key < open ? 'actual' : row.key === open ? 'open' : 'on_the_books')
    }
    const revenue = sum(within.map((night) => night.revenue))
    expect(byDay.totals).to.include({ roomRevenue: revenue, sold: sum(within.map(({ sold }) => sold)) })
    expect(byDay.totals['complimentary']).to.equal(within.filter(({ segment }) => segment === 'complimentary').length)
    for (const by of ['week', 'month', 'unitType', 'segment', 'channel']) {
      const { data, totals } = await ask('occupancy', { ...range, by })
      expect([
        by,
        sum(data.map((row) => row['roomRevenue'] ?? 0)),
        sum(data.map((row) => row['sold'] ?? 0)),
      ]).to.deep.equal([by, revenue, totals['sold']])
    }
    for (const by of ['channel', 'source', 'segment', 'ratePlan', 'unitType', 'company', 'agency', 'country']) {
      const { data, totals } = await ask('production', { ...range, by })
      expect([by, totals['roomRevenue'], totals['unitNights']]).to.deep.equal([by, revenue, within.length])
      expect([
        by,
        sum(data.map((row) => row['roomRevenue'] ?? 0)),
        sum(data.map((row) => row['unitNights'] ?? 0)),
      ]).to.deep.equal([by, revenue, within.length])
      expect(sum(data.map((row) => Math.round(Number(row['share']) * 10_000)))).to.equal(10_000)
    }
    const few = await ask('production', { ...range, by: 'segment', top: '1' })
    expect(few.data.map(({ key }) => key)).to.deep.equal([few.data[0]?.key, 'others'])
    expect(sum(few.data.map((row) => row['roomRevenue'] ?? 0))).to.equal(revenue)

    // What was known on each past day: the changes up to then, and the pickup between two of them.
    for (const asOf of daysIn(house.day(-6), addDays(open, 1))) {
      const { data, totals, meta } = await ask('pace', { ...range, asOf, pickupSince: house.day(-6) })
      const [known] = await house.inHouse((trx) =>
        sql<{ units: number; revenue: number; before: number }>(
          trx,
          `select coalesce(sum(unit_nights), 0)::int as units, coalesce(sum(room_revenue), 0)::bigint as revenue,
             coalesce(sum(unit_nights) filter (where changed_on <= ?), 0)::int as before
           from on_the_books_change where property_id = ? and stay_date between ? and ? and changed_on <= ?`,
          [house.day(-6), house.propertyId, range.startDate, range.endDate, asOf],
        ),
      )
      expect(meta['booksAsOf']).to.equal(asOf)
      expect([totals['unitNights'], totals['roomRevenue'], totals['pickupUnits']]).to.deep.equal([
        known?.units,
        known?.revenue,
        (known?.units ?? 0) - (known?.before ?? 0),
      ])
      expect(sum(data.map((row) => row['unitNights'] ?? 0))).to.equal(totals['unitNights'])
    }
    const now = await ask('pace', { ...range, asOf: open, by: 'segment', compare: 'last_year' })
    expect(sum(now.data.map((row) => row['roomRevenue'] ?? 0))).to.equal(now.totals['roomRevenue'])

    const forecast = await ask('forecast', { days: '9' })
    expect(forecast.data.map(({ date }) => date)).to.deep.equal(daysIn(open, addDays(open, 9)))
    for (const row of forecast.data) {
      const of = within.filter(({ date }) => date === row.date)
      expect([row['onTheBooksUnits'], row['method'], row['units']]).to.deep.equal([
        of.length,
        'on_the_books',
        of.length,
      ])
    }
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })

  it('name the nights whose facts differ from their records, which is told once and not repaired', async () => {
    house = await makeLateHouse(2, { units: 3 })
    owner = await openDesk(world, house, 'owner')
    await makeStays(house, 1, { from: -2, nights: 5, checkedIn: true })
    const { propertyId, tenantId } = house
    await house.inHouse((trx) =>
      sql(trx, `select record_on_the_books(array_agg(id)) from reservation where property_id = ?`, [propertyId]),
    )
    await closeOpenDay(house)
    const asked = await sql<{ payload: unknown }>(
      world.database.admin,
      `select payload from jobs where kind = 'reports.verify-facts' and tenant_id = ?`,
      [tenantId],
    )
    expect(asked.map(({ payload }) => payload)).to.deep.equal([{ tenantId, propertyId }])
    const verify = () => house.inHouse((trx) => verifyFacts(trx, propertyId))
    const told = () =>
      sql<{ data: object }>(
        world.database.admin,
        `select data from event where type = 'reports.drift_found' and tenant_id = ?`,
        [tenantId],
      )
    expect(await verify()).to.deep.equal([])

    const [closed, open, next] = [house.day(-2), house.day(-1), house.day(0)]
    await house.inHouse(async (trx) => {
      const copy = (table: string, columns: string, changed: string) =>
        sql(
          trx,
          `insert into ${table} (property_id, stay_date, reservation_id, unit_type_id, rate_plan_id, market_segment, source, unit_nights, ${columns})
           select property_id, stay_date, reservation_id, unit_type_id, rate_plan_id, market_segment, source, ${changed} from ${table}
           where property_id = ? and stay_date = ? limit 1`,
          [propertyId, table === 'night_fact' ? closed : next],
        )
      await copy('on_the_books_change', 'room_revenue, changed_on', '1, 0, changed_on')
      await copy(
        'night_fact',
        'room_revenue, business_date, kind, source_type, source_id, adults, children, free, included_tax',
        `0, 1, business_date, kind, source_type, gen_random_uuid(), 0, 0, free, 0`,
      )
      await sql(trx, `update pool_night set sold = sold + 1 where night in (?, ?)`, [open, house.day(1)])
    })
    const drifts = [
      { report: 'pace', from: next, to: next },
      { report: 'occupancy', from: closed, to: closed },
      { report: 'forecast', from: open, to: house.day(1) },
    ]
    expect(await verify()).to.deep.equal(drifts)
    expect(await verify()).to.deep.equal(drifts)
    expect((await told()).map(({ data }) => data)).to.have.deep.members(drifts)
    const named = async (startDate: string, endDate: string) =>
      (await ask('occupancy', { startDate, endDate })).meta['drifts']
    const of = (report: string) => ({ propertyId, ...drifts.find((one) => one.report === report) })
    expect(await named(closed, next)).to.deep.equal([of('forecast'), of('occupancy'), of('pace')])
    expect(await named(closed, closed)).to.deep.equal([of('occupancy')])

    await house.inHouse((trx) =>
      sql(trx, `update pool_night set sold = sold - 1 where night in (?, ?)`, [open, house.day(1)]),
    )
    expect(await verify()).to.deep.equal(drifts.slice(0, 2))
    expect(await named(closed, next)).to.deep.equal([of('occupancy'), of('pace')])
    expect(await told()).to.have.length(3)
  })

  it('stay the same when names, segments and prices change later', async () => {
    house = await makeLateHouse(2, { units: 3 })
    owner = await openDesk(world, house, 'owner')
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 1, checkedIn: true })
    await closeOpenDay(house)
    const range = { startDate: house.day(-2), endDate: house.day(-2) }
    const all = async () => {
      const answers = []
      for (const [report, by] of [
        ['occupancy', 'segment'],
        ['occupancy', 'day'],
        ['production', 'ratePlan'],
        ['production', 'unitType'],
      ] as const) {
        const { meta, ...answer } = await ask(report, { ...range, by })
        answers.push({ ...answer, meta: { ...meta, asOf: '' } })
      }
      return answers
    }
    const before = await all()
    await house.inHouse(async (trx) => {
      await sql(trx, `update rate_plan set name = '{"en": "Other"}', version = version + 1 where id = ?`, [
        house.ratePlanId,
      ])
      await sql(trx, `update unit_type set name = '{"en": "Other"}', version = version + 1 where id = ?`, [
        house.unitTypeId,
      ])
      await sql(trx, `update unit set active_until = ?, status = 'archived' where id = ?`, [
        house.day(0),
        house.unitIds[2],
      ])
      await sql(trx, `update reservation set market_segment = 'corporate' where id = ?`, [id])
    })
    expect(await all()).to.deep.equal(before)
    expect(before[1]?.data[0]).to.include({ available: 3, sold: 1, occupancy: '0.3333' })
  })

  it('foresee what nights of the weekday gained from as many days ahead, within what there is to sell', async () => {
    house = await makeLateHouse(1, { units: 5 })
    owner = await openDesk(world, house, 'owner')
    const [stay = ''] = await makeStays(house, 1, { from: 1, nights: 1 })
    await house.inHouse((trx) => sql(trx, `select record_on_the_books(array[?]::uuid[])`, [stay]))
    await setDay(house, 0)
    const open = await openDay(house)
    // Four closed nights of tomorrow's weekday: 3 units were slept, of which one was on the books two days before; and of the day after, three nights alone.
    await house.inHouse(async (trx) => {
      for (const week of [1, 2, 3, 4])
        for (const shift of week === 4 ? [1] : [1, 2]) {
          const night = addDays(open, shift - 7 * week)
          const change = `insert into on_the_books_change (property_id, stay_date, changed_on, reservation_id, unit_type_id, rate_plan_id, market_segment, source,
            unit_nights, room_revenue) values (:propertyId, :night, :on, :stay, :unitTypeId, :ratePlanId, 'transient', 'portal', :units, :revenue)`
          const of = {
            propertyId: house.propertyId,
            night,
            stay,
            unitTypeId: house.unitTypeId,
            ratePlanId: house.ratePlanId,
          }
          await sql(trx, change, { ...of, on: addDays(night, -30), units: 1, revenue: 10_000 })
          await sql(trx, change, { ...of, on: addDays(night, -1), units: 2, revenue: 20_000 })
          await sql(
            trx,
            `insert into property_day (property_id, date, unit_type_id, units, out_of_order, out_of_service) values (?, ?, ?, 5, 0, 0)`,
            [house.propertyId, night, house.unitTypeId],
          )
          await sql(
            trx,
            `insert into night_fact (property_id, business_date, stay_date, kind, source_type, source_id, unit_nights, adults, children, free, room_revenue, included_tax)
             values (?, ?, ?, 'night', 'test', gen_random_uuid(), 3, 3, 0, 'none', 33000, 0)`,
            [house.propertyId, night, night],
          )
        }
    })
    const { data } = await ask('forecast', { days: '3' })
    // On the books 1, gained 2 on average; the rate is that of the books.
    expect(data[1]).to.include({
      onTheBooksUnits: 1,
      units: 3,
      method: 'pickup',
      comparables: 4,
      rate: 16_998,
      revenue: 50_994,
      occupancy: '0.6000',
    })
    expect(data[2]).to.include({ onTheBooksUnits: 0, units: 0, method: 'on_the_books', comparables: 3, rate: 11_000 })
    // Of seven judged nights none had four comparables: each was foreseen as 1 of 3.
    expect(data[1]?.['error']).to.equal('0.6667')
    const far = await ask('forecast', { days: '365' })
    expect(far.data).to.have.length(365)
  })

  it('refuse days and properties that are not right, by name', async () => {
    house = await makeLateHouse(1, { units: 1 })
    owner = await openDesk(world, house, 'owner')
    const refused = async (path: string, desk = owner) => {
      const { status, body } = await desk.get(`reports/${path}`)
      return `${status} ${body.code as string}`
    }
    expect(await refused('occupancy?startDate=2024-02-01&endDate=2024-01-01')).to.equal('400 range_invalid')
    expect(await refused('occupancy?startDate=2020-01-01&endDate=2024-01-01')).to.equal('422 report_too_large')
    expect(await refused(`pace?asOf=${house.day(3)}`)).to.equal('400 range_invalid')
    expect(await refused(`pace?pickupSince=${house.day(0)}`)).to.equal('400 range_invalid')
    expect(await refused(`occupancy?propertyId=${house.tenantId}`)).to.equal('404 not_found')
    expect(await refused('occupancy?by=hour')).to.equal('400 validation_failed')
    expect(await refused('forecast?days=366')).to.equal('400 validation_failed')
    const other = await makeLateHouse(1, { units: 1, tenantId: house.tenantId })
    expect(await refused('forecast')).to.equal('400 validation_failed')
    const part = await openDesk(world, house, 'manager', [house.propertyId])
    expect(await refused(`occupancy?propertyId=${other.propertyId}`, part)).to.equal('403 forbidden')
    // A book of the tenant without a property of theirs is not theirs, with a property or without; one that is not there is not found.
    const { bookId } = await makeBook(house.tenantId)
    const elsewhere = await makeHouse({ units: 1 })
    for (const report of ['occupancy', 'pace', 'production', 'housekeeping', 'inventory-cost']) {
      expect(await refused(`${report}?bookId=${bookId}`, part), report).to.equal('403 forbidden')
      expect(await refused(`${report}?bookId=${elsewhere.bookId}`, part), report).to.equal('404 not_found')
    }
    for (const report of ['occupancy', 'trial-balance'])
      expect(await refused(`${report}?bookId=${bookId}&propertyId=${house.propertyId}`, part)).to.equal('403 forbidden')
    const { meta } = await ask('occupancy', {}, part)
    expect(meta['propertyIds']).to.deep.equal([house.propertyId])
    // The book of a colleague has two properties of its own.
    expect((await ask('occupancy')).meta['propertyIds']).to.have.length(4)
    expect(await refused('occupancy', await openDesk(world, house, 'housekeeper'))).to.equal('403 forbidden')
  })
})
