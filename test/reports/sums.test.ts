import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { readSheet } from 'read-excel-file/node'
import { extractText, getDocumentProxy } from 'unpdf'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { report, verifyFacts } from '../../db/reports/index.ts'
import { bookedNightsBy, nightsBy, staysBy } from '../../db/reports/nights.ts'
import type { Dimension } from '../../db/reports/nights.ts'
import { housesOf } from '../../db/reports/houses.ts'
import { readPart } from '../../db/reports/runs.ts'
import { openDesk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { randomFrom } from './support.ts'
import { fillYear } from './year-of-stays.ts'

const facts: Record<Exclude<Dimension, 'date'>, string> = {
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

type Row = Record<string, number> & { key: string | null }
const byKey = (rows: readonly object[]) =>
  (rows as Row[]).toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)).map((row) => ({ ...row }))

describe('sums of closed days', () => {
  const world = useWorld()

  /** Each fact before the open day and each night from it on, read one by one. */
  const recount = (house: House, by: Dimension, from: string, to: string) =>
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
  const readBy = (house: House, by: Dimension, from: string, to: string) =>
    house.inHouse(async (trx) => {
      const houses = await housesOf(trx, 'production', { propertyId: [house.propertyId] }, { propertyIds: null }, null)
      return by === 'date' ? nightsBy(trx, houses, { from, to }, by) : bookedNightsBy(trx, houses, { from, to }, by)
    })
  const expectSame = async (house: House, from: string, to: string) => {
    for (const by of ['date', ...Object.keys(facts)] as Dimension[]) {
      const known = byKey(await recount(house, by, from, to)).map(({ bookings, ...row }) =>
        by === 'date' ? row : { ...row, bookings },
      )
      expect(byKey(await readBy(house, by, from, to)), `${by} from ${from} to ${to}`).to.deep.equal(known)
    }
  }

  /** Stays and revenue beside the room by key, one by one: the key is that of the first fact, else of the last change on the books, else the stay's own. */
  const recountStays = (house: House, by: Exclude<Dimension, 'date'>, from: string, to: string) =>
    house.inHouse(async (trx) => {
      const all = (text: string) => sql<Record<string, string & number>>(trx, text, [house.propertyId])
      const stays = await all(
        `select r.*, b.source, b.channel_connection_id, b.company_id, b.agency_id, g.residence_country as country_code,
           greatest(0, r.arrival - cast(r.confirmed_at at time zone 'America/Sao_Paulo' as date)) as lead,
           (select count(*) from reservation_night n where n.reservation_id = r.id and n.status <> 'released') as slept
         from reservation r join booking b on b.id = r.booking_id join guest g on g.id = b.booker_guest_id where r.property_id = ?`,
      )
      const allFacts = await all(`select * from night_fact where property_id = ? order by business_date desc, id desc`)
      const changes = await all(`select * from on_the_books_change where property_id = ? order by created_at, id desc`)
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
  const expectSameStays = async (house: House, from: string, to: string) => {
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
      expect([...told.keys()].filter((key) => !known.has(key))).to.deep.equal([])
    }
  }

  for (const seed of [1, 2, 3, 4, 5, 6])
    it(`are those of a recount in random world ${seed}: nights, revenue and bookings by every key`, async () => {
      const house = await makeHouse({ units: 2, suite: true, deposit: null })
      await fillYear(world.database.admin, house, { perDay: 2, back: 30, ahead: 12, seed })
      await makeHouse({ units: 1, tenantId: house.tenantId })
      const random = randomFrom(seed)
      const below = (most: number) => Math.floor(random() * most)
      // Facts come late and out of order, as in no night audit: sums follow all the same.
      const before = await recount(house, 'property', house.day(-40), house.day(16))
      await house.inHouse(async (trx) => {
        for (let count = 0; count < 4; count += 1)
          await sql(
            trx,
            `insert into night_fact (property_id, business_date, stay_date, reservation_id, kind, source_type, source_id, unit_type_id, rate_plan_id,
               market_segment, source, unit_nights, adults, children, free, room_revenue, included_tax)
             select r.property_id, cast(:day as date) + n, cast(:day as date) + n, r.id, 'night', 'late', gen_random_uuid(), r.unit_type_id, r.rate_plan_id,
               r.market_segment, 'desk', 1, 1, 1, 'none', 777 + n, 7
             from (select * from reservation where property_id = :propertyId and status = 'checked_out' order by md5(id::text || :seed) limit 20) r
             cross join generate_series(0, 2) n`,
            { day: house.day(-4 - below(30)), propertyId: house.propertyId, seed: String(seed + count) },
          )
        await sql(
          trx,
          `insert into night_fact (property_id, business_date, stay_date, kind, source_type, source_id, unit_nights, adults, children, free, room_revenue,
             included_tax) values (?, ?, ?, 'other', 'late', gen_random_uuid(), 0, 0, 0, 'none', -4321, -21)`,
          [house.propertyId, house.day(-9), house.day(-9)],
        )
      })
      const after = await recount(house, 'property', house.day(-40), house.day(16))
      expect(after[0]?.['roomRevenue']).to.not.equal(before[0]?.['roomRevenue'])
      await expectSame(house, house.day(-40), house.day(16))
      await expectSame(house, house.day(-40), house.day(-1))
      await expectSame(house, house.day(0), house.day(16))
      for (let count = 0; count < 3; count += 1) {
        const from = house.day(-35 + below(40))
        const to = addDays(from, below(30))
        await expectSame(house, from, to)
        await expectSameStays(house, from, to)
      }
      // A wrong sum is found by the nightly proof.
      const drifts = async () =>
        (await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).filter(
          ({ report }) => report === 'production',
        )
      expect(await drifts()).to.deep.equal([])
      await sql(
        world.database.admin,
        `update night_sum set room_revenue = room_revenue + 1 where property_id = ? and business_date = ? and dimension = 'segment' and key = 'leisure'`,
        [house.propertyId, house.day(-3)],
      )
      expect(await drifts()).to.deep.equal([{ report: 'production', from: house.day(-3), to: house.day(-3) }])
    })

  it('are read by their own tenant alone, and written by no statement of its own', async () => {
    const house = await makeHouse({ units: 1, deposit: null })
    const other = await makeHouse({ units: 1 })
    await fillYear(world.database.admin, house, { perDay: 1, back: 10, ahead: 0 })
    const count = async (of: House) =>
      (await of.inHouse((trx) => sql<{ n: number }>(trx, `select count(*) as n from night_sum`)))[0]?.n
    expect(await count(house)).to.be.greaterThan(80)
    expect(await count(other)).to.equal(0)
    for (const text of ['delete from night_sum', 'update night_sum set sold = 0'])
      expect(await house.inHouse((trx) => sql(trx, text)).then(() => '', String)).to.contain('permission denied')
  })

  it('stand alike in JSON, CSV, XLSX and PDF', async () => {
    const house = await makeHouse({ units: 2, suite: true, deposit: null })
    await fillYear(world.database.admin, house, { perDay: 3, back: 40, ahead: 10, seed: 9 })
    const desk = await openDesk(world, house, 'owner')
    const range = { startDate: house.day(-33), endDate: house.day(4), propertyId: [house.propertyId] }
    const [known] = await recount(house, 'property', range.startDate, range.endDate)
    const plain = ((known?.['roomRevenue'] ?? 0) / 100).toFixed(2)
    for (const [report, more] of [
      ['occupancy', { by: 'segment' }],
      ['production', { by: 'source' }],
    ] as const) {
      const files = new Map<string, Buffer>()
      for (const format of ['json', 'csv', 'xlsx', 'pdf']) {
        const parameters = { ...range, ...more }
        const { body } = await desk.send('POST', 'reports/runs', { report, format, locale: 'en', parameters })
        await world.drain({ kinds: ['reports.run'] })
        files.set(format, await house.inHouse((trx) => readPart(trx, String(body.id), 1)))
      }
      const file = (format: string) => files.get(format) ?? Buffer.alloc(0)
      const { totals } = JSON.parse(String(file('json'))) as { totals: Record<string, number> }
      expect([totals['roomRevenue'], totals['sold']]).to.deep.equal([known?.['roomRevenue'], known?.['sold']])
      const csv = parse(file('csv'), { bom: true, relax_column_count: true }).at(-1)
      expect(csv).to.include(plain)
      const sheet = ((await readSheet(file('xlsx'))) as unknown[][]).at(-1)
      expect(sheet).to.include(Number(plain))
      const { text } = await extractText(await getDocumentProxy(new Uint8Array(file('pdf'))), { mergePages: true })
      expect(text.split(/\s+/)).to.include(plain.replace(/\B(?=(\d{3})+\.)/g, ','))
    }
  })
})
