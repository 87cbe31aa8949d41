import { expect } from 'chai'
import { addDays, daysIn } from '../../config/time.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { booksAt, changesOnTheBooks } from '../../db/reports/books.ts'
import type { BooksDimension } from '../../db/reports/books.ts'
import { foldBooks, report, verifyFacts } from '../../db/reports/index.ts'
import { housesOf } from '../../db/reports/houses.ts'
import { Books } from '../../db/reports/rules/forecast.ts'
import { readsOf, rowsVisited } from '../lib/rows-visited.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { randomFrom } from './support.ts'
import { fillYear } from './year-of-stays.ts'

type Change = {
  stayDate: string
  changedOn: string
  unitTypeId: string
  marketSegment: string
  channelConnectionId: string | null
  unitNights: number
  roomRevenue: number
}

const keyOf: Record<BooksDimension, (change: Change) => string | null> = {
  date: () => null,
  unitType: ({ unitTypeId }) => unitTypeId,
  segment: ({ marketSegment }) => marketSegment,
  channel: ({ channelConnectionId }) => channelConnectionId,
}
const dimensions = Object.keys(keyOf) as BooksDimension[]

describe('sums of what is on the books', function () {
  this.timeout(240_000)
  const world = useWorld()

  const filled = async (perDay: number, seed = 0) => {
    const house = await makeHouse({ units: 2, suite: true, deposit: null })
    await fillYear(world.database.admin, house, { perDay, back: 40, ahead: 20, seed })
    return house
  }
  const waiting = async (house: House) =>
    (await house.inHouse((trx) => sql<{ n: number }>(trx, `select count(*) as n from on_the_books_waiting`)))[0]?.n
  const foldAll = async (atMost = 700) => {
    while ((await inPlatform((trx) => foldBooks(trx, 1, atMost))) > 0);
  }

  /** Each change, read one by one, against what is told of nights at the close of days, and to the forecast. */
  const expectSame = async (house: House, days: readonly string[]) => {
    const range = { from: house.day(-45), to: house.day(45) }
    const houses = await house.inHouse((trx) =>
      housesOf(trx, 'pace', { propertyId: [house.propertyId] }, { propertyIds: null }, null),
    )
    const told = await house.inHouse(async (trx) => {
      const changes = await sql<Change>(trx, `select * from on_the_books_change where property_id = ?`, [
        house.propertyId,
      ])
      const asked = [...days, null].map((until) => ({ ...range, until }))
      const books: Partial<Record<BooksDimension, Awaited<ReturnType<typeof booksAt>>>> = {}
      for (const by of dimensions) books[by] = await booksAt(trx, houses, asked, by)
      const last = house.day(-1)
      const curve = new Books(await changesOnTheBooks(trx, houses[0]!, range, { last, days: 25 }))
      return { changes, books, curve, last }
    })
    const nightsOf = (by: BooksDimension, until: string | null) => {
      const sums = new Map<string, [number, number]>()
      for (const change of told.changes) {
        if (change.changedOn > (until ?? change.stayDate)) continue
        const key = `${keyOf[by](change)} ${change.stayDate}`
        const [units, revenue] = sums.get(key) ?? [0, 0]
        sums.set(key, [units + change.unitNights, revenue + change.roomRevenue])
      }
      return Object.fromEntries([...sums].filter(([, [units, revenue]]) => units !== 0 || revenue !== 0))
    }
    for (const by of dimensions)
      for (const [index, until] of [...days, null].entries()) {
        const found = (told.books[by]?.[index] ?? [])
          .filter(({ unitNights, roomRevenue }) => unitNights !== 0 || roomRevenue !== 0)
          .map(({ key, stayDate, unitNights, roomRevenue }) => [`${key} ${stayDate}`, [unitNights, roomRevenue]])
        expect(Object.fromEntries(found), `${by} at ${until}`).to.deep.equal(nightsOf(by, until))
      }
    const asked = daysIn(range.from, addDays(range.to, 1)).flatMap((night): [string, string][] =>
      night > told.last ? [[told.last, night]] : [1, 2, 9, 24, 25].map((lead) => [addDays(night, -lead), night]),
    )
    for (const [day, night] of asked) {
      const ofNight = told.changes.filter(({ stayDate, changedOn }) => stayDate === night && changedOn <= day)
      const recount = {
        units: ofNight.reduce((sum, { unitNights }) => sum + unitNights, 0),
        revenue: ofNight.reduce((sum, { roomRevenue }) => sum + roomRevenue, 0),
      }
      const { units, revenue } = told.curve.at(day, night)
      expect({ units, revenue }, `${night} at ${day}`).to.deep.equal(recount)
    }
  }

  for (const seed of [1, 2, 3])
    it(`are a recount of all changes in random world ${seed}, while changes come and are added up at once`, async () => {
      const house = await filled(2, seed)
      const random = randomFrom(seed)
      const below = (most: number) => Math.floor(random() * most)
      const days = [house.day(-60), house.day(-31), house.day(-7 - below(20)), house.day(-1), house.day(0)]
      await expectSame(house, days)
      const change = (order: string, later: number, sign: number) =>
        house.inHouse(async (trx) => {
          await sql(
            trx,
            `insert into on_the_books_change (property_id, stay_date, changed_on, reservation_id, unit_type_id, rate_plan_id, market_segment, source,
               unit_nights, room_revenue)
             select property_id, stay_date + :later::int, changed_on + :later::int, reservation_id, unit_type_id, rate_plan_id, market_segment, source,
               :sign::int * unit_nights, :sign::int * (room_revenue + :later::int)
             from on_the_books_change where property_id = :propertyId order by md5(id::text || :order) limit 40`,
            { propertyId: house.propertyId, order, later, sign },
          )
          if (order.endsWith('3')) throw new Error('taken back')
        })
      const fold = () => inPlatform((trx) => foldBooks(trx, 1, 1 + below(400)))
      for (let round = 0; round < 4; round += 1) {
        const work = Array.from({ length: 8 }, (_, n) =>
          n % 2 === 0 ? fold() : change(`${seed} ${round} ${n}`, below(9), below(2) === 0 ? 1 : -1),
        )
        const ended = await Promise.allSettled(work)
        expect(ended.filter(({ status }) => status === 'rejected')).to.have.length(1)
        await expectSame(house, days)
      }
      await foldAll()
      expect(await waiting(house)).to.equal(0)
      await expectSame(house, days)
    })

  it('let changes of few wait, and are read by their own tenant alone', async () => {
    await foldAll()
    const [house, other] = [await filled(1), await makeHouse({ units: 1 })]
    const before = await waiting(house)
    expect(before).to.be.above(0)
    expect(await inPlatform((trx) => foldBooks(trx, (before ?? 0) + 1))).to.equal(0)
    await foldAll()
    for (const table of ['on_the_books_sum', 'on_the_books_waiting']) {
      expect(await other.inHouse((trx) => sql(trx, `select from ${table}`))).to.deep.equal([])
      expect(await house.inHouse((trx) => sql(trx, `delete from ${table}`)).then(() => '', String)).to.contain(
        'permission denied',
      )
    }
  })

  it('are found where they are wrong by the nightly proof', async () => {
    const house = await filled(1)
    await foldAll()
    const drifts = async () =>
      (await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).filter((drift) => drift.report === 'pace')
    const before = await drifts()
    const day = house.day(29)
    const move = (by: number) =>
      sql(
        world.database.admin,
        `insert into on_the_books_sum as s values (?, ?, 'segment', 'month', ?, date_trunc('month', cast(? as date)), 'leisure', ?, 0)
         on conflict (tenant_id, property_id, dimension, span, stay_date, changed_on, key) do update set unit_nights = s.unit_nights + excluded.unit_nights`,
        [house.tenantId, house.propertyId, day, day, by],
      )
    await move(1)
    expect((await drifts())[0]).to.include({ to: day })
    await move(-1)
    expect(await drifts()).to.deep.equal(before)
  })

  it('bound what pace and forecast visit by nights and days, whatever was booked', async () => {
    const busy = await filled(14)
    const visitsOf = async (house: House) => {
      const visits = await rowsVisited(world.database)
      const found: Record<string, number> = {}
      const asked = [
        ['pace day', 'pace', {}],
        ['pace last year', 'pace', { compare: 'last_year' }],
        ['pace channel', 'pace', { by: 'channel' }],
        ['forecast', 'forecast', { propertyId: house.propertyId, days: 20 }],
      ] as const
      try {
        for (const [name, key, more] of asked) {
          const range = key === 'pace' ? { startDate: house.day(-38), endDate: house.day(18) } : {}
          const reads = await readsOf(() =>
            house.inHouse(async (trx) => {
              const given = { propertyId: [house.propertyId], ...range, ...more }
              for await (const _ of (await report(key).open(trx, given, { propertyIds: null }, null)).rows);
            }),
          )
          found[name] = await visits.of(
            house.tenantId,
            reads.filter((one) => one.sql.includes('on_the_books')),
          )
        }
      } finally {
        await visits.end()
      }
      return found
    }
    // All of their changes wait.
    await world.database.admin.raw(`vacuum analyze`)
    const without = await visitsOf(busy)
    await foldAll(50_000)
    await world.database.admin.raw(`vacuum analyze`)
    const after = await visitsOf(busy)
    // A night has at most a row for each month before it and each day of one, twice; the forecast has the days of its lead. No stay of a house adds one.
    const spans = 5 + 31
    expect(after['pace day']).to.be.below(57 * 2 * spans)
    expect(after['forecast']).to.be.below(61 * (spans + 20))
    for (const [name, rows] of Object.entries(without)) expect(rows, name).to.be.above(1.5 * (after[name] ?? 0))
  })
})
