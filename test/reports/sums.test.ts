import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { readSheet } from 'read-excel-file/node'
import { extractText, getDocumentProxy } from 'unpdf'
import { addDays } from '../../config/time.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { report, verifyFacts } from '../../db/reports/index.ts'
import { bookedNightsBy, nightsBy } from '../../db/reports/nights.ts'
import type { Dimension } from '../../db/reports/nights.ts'
import { housesOf } from '../../db/reports/houses.ts'
import { readPart } from '../../db/reports/runs.ts'
import { closeOpenDay, makeLateHouse, makeStays } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { expectSameStays, facts, recount, sumDays } from './recounts.ts'
import type { Row } from './recounts.ts'
import { randomFrom } from './support.ts'
import { fillYear } from './year-of-stays.ts'

const byKey = (rows: readonly object[]) =>
  (rows as Row[]).toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)).map((row) => ({ ...row }))

describe('sums of closed days', () => {
  const world = useWorld()

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

  for (const seed of [1, 2, 3, 4, 5, 6])
    it(`are those of a recount in random world ${seed}: nights, revenue and bookings by every key`, async () => {
      const house = await makeHouse({ units: 2, suite: true, deposit: null })
      await fillYear(world.database.admin, house, { perDay: 2, back: 30, ahead: 12, seed })
      await makeHouse({ units: 1, tenantId: house.tenantId })
      const random = randomFrom(seed)
      const below = (most: number) => Math.floor(random() * most)
      // Facts come late, out of order and four at a time, as in no night audit: sums follow all the same.
      const before = await recount(house, 'property', house.day(-40), house.day(16))
      const late = (day: string, order: number) =>
        house.inHouse((trx) =>
          sql(
            trx,
            `insert into night_fact (property_id, business_date, stay_date, reservation_id, kind, source_type, source_id, unit_type_id, rate_plan_id,
               market_segment, source, unit_nights, adults, children, free, room_revenue, included_tax)
             select r.property_id, cast(:day as date) + n, cast(:day as date) + n, r.id, 'night', 'late', gen_random_uuid(), r.unit_type_id, r.rate_plan_id,
               r.market_segment, 'desk', 1, 1, 1, 'none', 777 + n, 7
             from (select * from reservation where property_id = :propertyId and status = 'checked_out' order by md5(id::text || :order) limit 20) r
             cross join generate_series(0, 2) n`,
            { day, propertyId: house.propertyId, order: String(order) },
          ),
        )
      await Promise.all([1, 2, 3, 4].map((count) => late(house.day(-4 - below(30)), seed + count)))
      await house.inHouse((trx) =>
        sql(
          trx,
          `insert into night_fact (property_id, business_date, stay_date, kind, source_type, source_id, unit_nights, adults, children, free, room_revenue,
             included_tax) values (?, ?, ?, 'other', 'late', gen_random_uuid(), 0, 0, 0, 'none', -4321, -21)`,
          [house.propertyId, house.day(-9), house.day(-9)],
        ),
      )
      const after = await recount(house, 'property', house.day(-40), house.day(16))
      expect(after[0]?.['roomRevenue']).to.not.equal(before[0]?.['roomRevenue'])
      await expectSame(house, house.day(-40), house.day(16))
      await expectSame(house, house.day(-40), house.day(-1))
      await expectSame(house, house.day(0), house.day(16))
      await expectSameStays(house, house.day(-40), house.day(16))
      expect(await sumDays(house)).to.equal(30)
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

  it('are one state of the day for a reading, though the audits of two houses close it meanwhile', async () => {
    const house = await makeLateHouse(1, { units: 3 })
    const other = await makeLateHouse(1, { units: 2, tenantId: house.tenantId })
    await makeStays(house, 2, { from: -1, nights: 3, checkedIn: true })
    await makeStays(other, 1, { from: -1, nights: 2, checkedIn: true })
    const range = { startDate: house.day(-1), endDate: house.day(1) }
    const asked = { propertyId: [house.propertyId, other.propertyId], ...range }
    const read = async (trx: Trx) => {
      const told: object[] = []
      for (const by of ['day', 'segment']) {
        const reading = await report('occupancy').open(trx, { ...asked, by }, { propertyIds: null }, null)
        for await (const row of reading.rows) told.push(row)
        told.push(reading.totals())
      }
      return told as { basis?: string; sold: number; roomRevenue: number }[]
    }
    const [before, during] = await inTenant(
      house.tenantId,
      async (trx) => {
        const first = await read(trx)
        await Promise.all([closeOpenDay(house), closeOpenDay(other)])
        return [first, await read(trx)]
      },
      {},
      { isolation: 'repeatable read', readOnly: true },
    )
    expect(during).to.deep.equal(before)
    const after = await house.inHouse(read)
    const figures = (of: typeof after) => of.map(({ sold, roomRevenue }) => [sold, roomRevenue])
    expect(figures(after)).to.deep.equal(figures(before ?? []))
    expect([before?.[0]?.basis, after[0]?.basis]).to.deep.equal(['open', 'actual'])
    const sums = await house.inHouse((trx) =>
      sql<{ propertyId: string; sold: number; amount: number }>(
        trx,
        `select s.property_id, sum(s.sold)::int as sold, sum(s.room_revenue)::bigint as amount from night_sum s where s.dimension = 'all' group by 1
         except select f.property_id, sum(f.unit_nights)::int, sum(f.room_revenue)::bigint from night_fact f group by 1`,
      ),
    )
    expect(sums).to.deep.equal([])
    expect(after[0]?.sold).to.equal(3)
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
