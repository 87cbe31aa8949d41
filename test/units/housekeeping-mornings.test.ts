import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { generateTasks } from '../../db/units/daily-tasks.ts'
import { generateTasks as generateTasksJob } from '../../jobs/units.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { beginDay, book, changeSettings, moveIn, moveOut, setUnit, summary, tasksOf, tidy } from './housekeepers.ts'
import type { Stay } from './housekeepers.ts'

describe('The morning of a house', () => {
  const world = useWorld()
  let house: House

  before(async () => {
    house = await makeHouse({ units: 20, deposit: null })
  })
  beforeEach(() => tidy(world, house))

  const rhythm = (stayover: string, more: object = {}) => changeSettings(house, { housekeeping: { stayover, ...more } })
  const inHouse = async (nights: number): Promise<Stay> => {
    const stay = await book(house, { from: 0, nights })
    await moveIn(house, stay)
    return stay
  }
  const unitOf = async (unitId: string) => {
    const [unit] = await house.inHouse((trx) =>
      sql<{ condition: string; makeUpRequested: boolean; version: number }>(trx, `select * from unit where id = ?`, [
        unitId,
      ]),
    )
    if (!unit) throw new Error('there is such a unit')
    return unit
  }
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000)

  it('finds occupied units dirty, with a stayover until the last night and a departure then', async () => {
    const stay = await inHouse(3)
    await setUnit(house, stay.unitId, { condition: 'clean' })
    const seen: string[] = []
    for (const n of [0, 1, 2, 3, 4]) {
      await beginDay(house, n)
      seen.push((await unitOf(stay.unitId)).condition)
    }
    // On the day of arrival nobody has slept in it yet.
    expect(seen).to.deep.equal(['clean', 'dirty', 'dirty', 'dirty', 'dirty'])
    expect(await summary(house, stay.unitId)).to.deep.equal([
      `${house.day(1)} stayover skipped not_done`,
      `${house.day(2)} stayover skipped not_done`,
      `${house.day(3)} departure skipped not_done`,
      // A guest who should have left and has not is due the next day too.
      `${house.day(4)} departure open`,
    ])
    const [task] = (await tasksOf(house, stay.unitId)).slice(-1)
    expect([task?.reservationId, task?.priority, task?.generated]).to.deep.equal([stay.reservationId, 3, true])
    expect((await eventsOf(house, 'housekeeping_task.skipped')).map(({ data }) => data.reason)).to.include('not_done')
  })

  it('brings the stayover by the rhythm of the house, or by the wish of the guest, which it forgets', async () => {
    for (const [stayover, days] of [
      ['daily', [1, 2, 3, 4]],
      ['every_2_days', [2, 4]],
      ['every_3_days', [3]],
      ['on_request', []],
    ] as const) {
      await tidy(world, house)
      await rhythm(stayover)
      const stay = await inHouse(5)
      for (const n of [1, 2, 3, 4]) await beginDay(house, n)
      const dates = (await tasksOf(house, stay.unitId)).map((task) => task.date)
      expect(dates, stayover).to.deep.equal(days.map((n) => house.day(n)))
    }
    await tidy(world, house)
    await rhythm('on_request')
    const stay = await inHouse(4)
    await setUnit(house, stay.unitId, { makeUpRequested: true })
    await beginDay(house, 1)
    await beginDay(house, 2)
    expect(await summary(house, stay.unitId)).to.deep.equal([`${house.day(1)} stayover skipped not_done`])
    expect((await unitOf(stay.unitId)).makeUpRequested).to.equal(false)
  })

  it('brings none on days for which the guest has refused service; the next guest has refused nothing', async () => {
    const stay = await inHouse(3)
    const refuse = (reservationId: string | null) => ({
      serviceRefused: JSON.stringify({ until: house.day(2), sealed: '', reservationId }),
    })
    await setUnit(house, stay.unitId, refuse(stay.reservationId))
    const other = await inHouse(3)
    await setUnit(house, other.unitId, refuse(stay.reservationId))
    for (const n of [1, 2, 3]) await beginDay(house, n)
    expect((await tasksOf(house, stay.unitId)).map(({ date, kind }) => `${date} ${kind}`)).to.deep.equal([
      `${house.day(3)} departure`,
    ])
    expect(await tasksOf(house, other.unitId)).to.have.length(3)
  })

  it('that comes twice changes nothing the second time, also beside itself', async () => {
    const stay = await inHouse(3)
    await Promise.all([beginDay(house, 1), beginDay(house, 1), beginDay(house, 1)])
    const tasks = await tasksOf(house)
    expect(tasks).to.have.length(1)
    // The room is made up meanwhile: the same morning does not make it dirty again.
    await setUnit(house, stay.unitId, { condition: 'clean' })
    const before = await unitOf(stay.unitId)
    await beginDay(house, 1)
    expect(await unitOf(stay.unitId)).to.deep.equal(before)
    expect(await tasksOf(house)).to.deep.equal(tasks)
    const told = (await eventsOf(house, 'housekeeping_task.created')).map(({ data }) => data.housekeepingTaskId)
    expect(told.filter((id) => id === tasks[0]?.id)).to.have.length(1)
  })

  it('ranks a departure by who arrives in its unit that day', async () => {
    const stay = await inHouse(2)
    const next = await book(house, { from: 2, nights: 1 })
    await house.inHouse((trx) =>
      sql(trx, `update unit_assignment set unit_id = ? where reservation_id = ?`, [stay.unitId, next.reservationId]),
    )
    await beginDay(house, 1)
    await beginDay(house, 2)
    expect((await tasksOf(house, stay.unitId)).map(({ kind, priority }) => [kind, priority])).to.deep.equal([
      ['stayover', 4],
      ['departure', 2],
    ])
  })

  it('carries a departure over that nobody has done, until the unit is clean', async () => {
    const stay = await inHouse(1)
    await beginDay(house, 1)
    await moveOut(house, stay, 1)
    await beginDay(house, 2)
    await beginDay(house, 3)
    await setUnit(house, stay.unitId, { condition: 'clean' })
    await beginDay(house, 4)
    expect(await summary(house, stay.unitId)).to.deep.equal([
      `${house.day(1)} departure skipped not_done`,
      `${house.day(2)} departure skipped not_done`,
      `${house.day(3)} departure skipped not_done`,
    ])
    expect((await tasksOf(house, stay.unitId)).map((task) => task.reservationId)).to.deep.equal(
      Array.from({ length: 3 }, () => stay.reservationId),
    )
  })

  it('finds a clean unit that stood empty for seven days in need of a look, and has it looked at before the next guest', async () => {
    const [old = '', fresh = '', dirty = ''] = house.unitIds
    await world.database.admin.raw(`update unit set active_from = ?, created_at = ?`, [house.day(-30), ago(30)])
    await setUnit(house, old, { condition: 'inspected', conditionAt: ago(8) })
    await setUnit(house, fresh, { condition: 'clean', conditionAt: ago(2) })
    await setUnit(house, dirty, { conditionAt: ago(8) })
    await beginDay(house, 0)
    const now = async () => Promise.all([old, fresh, dirty].map(async (id) => (await unitOf(id)).condition))
    expect(await now()).to.deep.equal(['pickup', 'clean', 'dirty'])
    const next = await book(house, { from: 1, nights: 1 })
    await house.inHouse((trx) =>
      sql(trx, `update unit_assignment set unit_id = ? where reservation_id = ?`, [old, next.reservationId]),
    )
    await beginDay(house, 1)
    expect((await tasksOf(house)).map(({ unitId, kind, priority }) => [unitId, kind, priority])).to.deep.equal([
      [old, 'pickup', 2],
    ])
  })

  it('has vacant units cleaned deeply by the days that the house says, and not while a guest is in', async () => {
    await rhythm('daily', { deepEveryDays: 30 })
    const stay = await inHouse(3)
    const free = house.unitIds.filter((id) => id !== stay.unitId)
    await world.database.admin.raw(`update unit set last_deep_clean_at = ?`, [ago(10)])
    for (const id of [free[0] ?? '', stay.unitId]) await setUnit(house, id, { lastDeepCleanAt: ago(31) })
    await beginDay(house, 1)
    const deep = (await tasksOf(house)).filter((task) => task.kind === 'deep')
    expect(deep.map(({ unitId, priority }) => [unitId, priority])).to.deep.equal([[free[0], 5]])
  })

  it('looks at the blocks of its own day, and not of that before', async () => {
    await rhythm('daily', { deepEveryDays: 30 })
    await world.database.admin.raw(`update unit set last_deep_clean_at = ?`, [ago(10)])
    const [begins = '', ends = ''] = house.unitIds
    for (const [unitId, from] of [
      [begins, 1],
      [ends, 0],
    ] as const) {
      await setUnit(house, unitId, { lastDeepCleanAt: ago(31) })
      await house.inHouse((trx) =>
        createBlock(trx, {
          propertyId: house.propertyId,
          unitIds: [unitId],
          kind: 'out_of_service',
          reason: 'damage',
          from: house.day(from),
          to: house.day(from + 1),
        }),
      )
    }
    await beginDay(house, 1)
    expect((await tasksOf(house)).map(({ unitId, kind }) => [unitId, kind])).to.deep.equal([[ends, 'deep']])
  })

  it('comes to a house of more units than one transaction takes', async () => {
    const large = await makeHouse({ units: 200, deposit: null })
    const day = { propertyId: large.propertyId, businessDate: large.day(1) }
    expect(await large.inHouse((trx) => generateTasks(trx, day))).to.deep.equal({ done: false })
    expect(await large.inHouse((trx) => generateTasks(trx, day))).to.deep.equal({ done: true })
  })

  it('comes by its job as well', async () => {
    const stay = await inHouse(2)
    const day = { propertyId: house.propertyId, businessDate: house.day(1) }
    await house.inHouse((trx) => enqueue(trx, generateTasksJob, { tenantId: house.tenantId, ...day }))
    await world.drain()
    expect(await summary(house, stay.unitId)).to.deep.equal([`${house.day(1)} stayover open`])
  })
})
