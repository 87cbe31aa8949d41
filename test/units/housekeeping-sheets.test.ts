import { expect } from 'chai'
import fc from 'fast-check'
import { shareOut } from '../../db/units/rules/task-distribution.ts'
import type { Share } from '../../db/units/rules/task-distribution.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { beginDay, book, hire, setUnit, tasksOf, tidy } from './housekeepers.ts'
import type { Worker } from './housekeepers.ts'

describe('Sharing out', () => {
  const pieces = fc
    .array(fc.record({ credits: fc.integer({ min: 1, max: 20 }), floor: fc.constantFrom('1', '2', '3') }), {
      maxLength: 60,
    })
    .map((list) => list.map((one, index) => ({ ...one, id: `t${index}` })))
  const shares = fc
    .array(
      fc.record({
        maxCredits: fc.integer({ min: 1, max: 60 }),
        credits: fc.integer({ min: 0, max: 30 }),
        floor: fc.constantFrom(null, '1', '2'),
      }),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    .map((list) => list.map((one, index) => ({ ...one, attendantId: `a${index}` })))

  it('gives each task to whom has the fewest credits and may take it, on its floor where that is equal, and nobody too much', () => {
    fc.assert(
      fc.property(pieces, shares, (tasks, attendants) => {
        const { given, left } = shareOut(tasks, attendants)
        // Every task is given or left, once.
        expect([...given.keys(), ...left].sort()).to.deep.equal(tasks.map(({ id }) => id).sort())
        const load = new Map<string, Pick<Share, 'credits' | 'floor'>>(attendants.map((one) => [one.attendantId, one]))
        for (const { id, credits, floor } of tasks) {
          const could = attendants.filter(
            (one) => (load.get(one.attendantId)?.credits ?? 0) + credits <= one.maxCredits,
          )
          const taker = given.get(id)
          expect(taker === undefined, `${id} fits nobody`).to.equal(could.length === 0)
          if (taker === undefined) continue
          const mine = load.get(taker)
          expect(could.map((one) => one.attendantId)).to.include(taker)
          const equals = could.map((one) => load.get(one.attendantId)).filter((one) => one?.credits === mine?.credits)
          for (const one of could) expect(load.get(one.attendantId)?.credits).to.be.at.least(mine?.credits ?? 0)
          expect(mine?.floor === floor, `${id} stays on its floor`).to.equal(equals.some((one) => one?.floor === floor))
          load.set(taker, { credits: (mine?.credits ?? 0) + credits, floor })
        }
      }),
      { numRuns: 300 },
    )
  })

  it('of equal tasks among equal attendants leaves nobody with more than one task more than another', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 1, max: 20 }), (tasks, attendants) => {
        const { given } = shareOut(
          Array.from({ length: tasks }, (_, index) => ({ id: `t${index}`, credits: 2, floor: `${index % 4}` })),
          Array.from({ length: attendants }, (_, index) => ({
            attendantId: `a${index}`,
            maxCredits: 200,
            credits: 0,
            floor: null,
          })),
        )
        const counts = Array.from(
          { length: attendants },
          (_, index) => [...given.values()].filter((one) => one === `a${index}`).length,
        )
        expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1)
      }),
    )
  })
})

describe('Housekeeping sheets', () => {
  const world = useWorld()
  let house: House
  let manager: Worker
  let ana: Worker
  let bia: Worker

  before(async () => {
    house = await makeHouse({ units: 6, deposit: null })
    const [a, b, c] = [
      hire(world, house, 'manager'),
      hire(world, house, 'housekeeper'),
      hire(world, house, 'housekeeper'),
    ]
    ;[manager, ana, bia] = await Promise.all([a, b, c])
    for (const [index, unitId] of house.unitIds.entries())
      await setUnit(house, unitId, { floor: 1 + Math.floor(index / 3) })
  })

  beforeEach(() => tidy(world, house))

  const plan = (index: number, more: object = {}) =>
    manager
      .send('POST', 'housekeeping/tasks', {
        unitId: house.unitIds[index],
        date: house.day(0),
        kind: 'departure',
        ...more,
      })
      .then(({ body }) => body.id as string)
  const planAll = () => Promise.all(house.unitIds.map((_, index) => plan(index)))
  const share = (...attendants: [Worker, number][]) =>
    manager.send('POST', 'housekeeping/sheets', {
      propertyId: house.propertyId,
      date: house.day(0),
      attendants: attendants.map(([worker, maxCredits]) => ({ userId: worker.userId, maxCredits })),
    })
  const publish = (id: string) => manager.send('POST', `housekeeping/sheets/${id}/publish`)
  type Shown = {
    id: string
    status: string
    attendantId: string
    totals: object
    tasks: { id: string; unitName: string }[]
  }
  const doors = (sheet: Shown) => sheet.tasks.map((task) => task.unitName)

  it('share out what nobody has, fairly, and list what fits nobody', async () => {
    const ids = await planAll()
    await manager.send('PATCH', `housekeeping/tasks/${ids[5]}`, { priority: 1 })
    const mending = await plan(0, { kind: 'maintenance', assigneeId: bia.userId, credits: 4 })
    const { status, body } = await share([ana, 6], [bia, 8])
    expect(status).to.equal(201)
    const [ofAna, ofBia] = body.sheets as [Shown, Shown]
    // Bia has four credits of mending already: Ana takes the urgent room and the first, then both in turn.
    expect([doors(ofAna), doors(ofBia)]).to.deep.equal([
      ['106', '101', '102'],
      ['103', '104'],
    ])
    expect(ofAna.totals).to.deep.equal({ tasks: 3, credits: 6 })
    expect(body.unassigned.map((task: { unitName: string }) => task.unitName)).to.deep.equal(['105'])
    const kept = (await tasksOf(house)).find((task) => task.id === mending)
    expect([kept?.assigneeId, kept?.sheetId]).to.deep.equal([bia.userId, null])
  })

  it('take the place of drafts only: what is published stays and gets more, what was begun stays with who began it', async () => {
    const ids = await planAll()
    const one = (await share([ana, 6], [bia, 6])).body.sheets as [Shown, Shown]
    expect((await publish(one[0].id)).body.status).to.equal('published')
    await bia.send('POST', `housekeeping/tasks/${one[1].tasks[0]?.id}/start`)
    await plan(0, { kind: 'deep' })
    const carla = await hire(world, house, 'housekeeper')
    const { body } = await share([ana, 8], [carla, 20])
    const [ofAna, ofCarla] = body.sheets as [Shown, Shown]
    expect([ofAna.id, ofAna.status, ofAna.tasks.length]).to.deep.equal([one[0].id, 'published', 3])
    expect(ofCarla.tasks).to.have.length(3)
    expect(body.unassigned).to.deep.equal([])
    const tasks = await tasksOf(house)
    const begun = tasks.find((task) => task.status === 'started')
    expect([begun?.assigneeId, begun?.sheetId]).to.deep.equal([bia.userId, one[1].id])
    expect(tasks.filter((task) => task.assigneeId === bia.userId)).to.have.length(1)
    // Without Carla all of hers is nobody's, and Bia's draft is hers again. A draft that nothing is left of is gone.
    const again = (await share([bia, 20])).body.sheets as [Shown]
    expect([again[0].id, again[0].tasks.length]).to.deep.equal([one[1].id, 4])
    const { body: all } = await manager.get(`housekeeping/sheets?date=${house.day(0)}`)
    expect(all.data.map((sheet: Shown) => sheet.attendantId).sort()).to.deep.equal([ana.userId, bia.userId].sort())
    expect(ids).to.have.length(6)
  })

  it('of two who share out at once leave each task with one attendant, and each attendant with one sheet', async () => {
    await planAll()
    const replies = await Promise.all([share([ana, 20], [bia, 20]), share([bia, 20], [ana, 20]), share([ana, 20])])
    expect(replies.map(({ status }) => status)).to.deep.equal([201, 201, 201])
    const { body } = await manager.get(`housekeeping/sheets?include=tasks`)
    const sheets = body.data as Shown[]
    expect(new Set(sheets.map((sheet) => sheet.attendantId)).size).to.equal(sheets.length)
    const shared = sheets.flatMap((sheet) => sheet.tasks.map((task) => task.id))
    expect([shared.length, new Set(shared).size]).to.deep.equal([6, 6])
  })

  it('are their attendant’s once published, and are told of once', async () => {
    const ids = await planAll()
    const [ofAna] = (await share([ana, 12], [bia, 12])).body.sheets as [Shown]
    const seen = async (by: Worker) => (await by.get('housekeeping/sheets?include=tasks')).body.data as Shown[]
    expect(await seen(ana)).to.deep.equal([])
    expect((await ana.send('POST', `housekeeping/sheets/${ofAna.id}/publish`)).status).to.equal(403)
    for (const _ of [1, 2]) expect((await publish(ofAna.id)).status).to.equal(200)
    expect((await seen(ana)).map(({ id, tasks }) => [id, tasks.length])).to.deep.equal([[ofAna.id, 3]])
    expect(await seen(bia)).to.deep.equal([])
    const told = (await eventsOf(house, 'housekeeping_sheet.published')).map(({ data }) => data)
    expect(told.filter(({ housekeepingSheetId }) => housekeepingSheetId === ofAna.id)).to.deep.equal([
      { housekeepingSheetId: ofAna.id, date: house.day(0), attendantId: ana.userId, taskCount: 3 },
    ])
    const given = (await eventsOf(house, 'housekeeping_task.assigned')).map(({ data }) => data.housekeepingTaskId)
    expect(given.filter((id) => ids.includes(String(id)))).to.have.members(ofAna.tasks.map((task) => task.id))
  })

  it('rank anew by who arrives what nobody has ranked', async () => {
    const ids = await planAll()
    await manager.send('PATCH', `housekeeping/tasks/${ids[4]}`, { priority: 4 })
    const stay = await book(house, { from: 0, nights: 1 })
    await share([ana, 12])
    const ranks = new Map((await tasksOf(house)).map((task) => [task.unitId, task.priority]))
    expect(ranks.get(stay.unitId)).to.equal(2)
    expect(ranks.get(house.unitIds[4] ?? '')).to.equal(4)
    expect([...ranks.values()].sort((a, b) => a - b)).to.deep.equal([2, 3, 3, 3, 3, 4])
  })

  it('are moved to by a task that is given to their attendant, and left by it', async () => {
    const [id = ''] = await planAll()
    const [ofAna, ofBia] = (await share([ana, 6], [bia, 6])).body.sheets as [Shown, Shown]
    const carla = await hire(world, house, 'housekeeper')
    const give = async (userId: string | null) =>
      (await manager.send('PATCH', `housekeeping/tasks/${id}`, { assigneeId: userId })).body.sheetId
    expect([await give(bia.userId), await give(carla.userId), await give(ana.userId), await give(null)]).to.deep.equal([
      ofBia.id,
      null,
      ofAna.id,
      null,
    ])
  })

  it('are refused for strangers, the same person twice, days that are over, and houses one does not know', async () => {
    const abroad = await hire(world, await makeHouse(), 'owner')
    const next = await makeHouse({ tenantId: house.tenantId })
    const limited = await hire(world, house, 'manager', [next.propertyId])
    const outcome = async (by: Worker, more: object) => {
      const { status, body } = await by.send('POST', 'housekeeping/sheets', {
        propertyId: house.propertyId,
        date: house.day(0),
        attendants: [{ userId: ana.userId, maxCredits: 10 }],
        ...more,
      })
      return [status, body.code]
    }
    const of = (...workers: Worker[]) => ({ attendants: workers.map(({ userId }) => ({ userId, maxCredits: 10 })) })
    expect(await outcome(manager, of(abroad))).to.deep.equal([422, 'reference_not_found'])
    expect(await outcome(manager, of(limited))).to.deep.equal([422, 'reference_not_found'])
    expect(await outcome(manager, of(ana, ana))).to.deep.equal([400, 'validation_failed'])
    for (const day of [-1, 367])
      expect(await outcome(manager, { date: house.day(day) })).to.deep.equal([422, 'date_out_of_range'])
    expect(await outcome(limited, {})).to.deep.equal([403, 'forbidden'])
    expect(await outcome(abroad, {})).to.deep.equal([404, 'not_found'])
    expect(await outcome(ana, {})).to.deep.equal([403, 'forbidden'])
  })

  it('are closed when the date rolls, once their day is over', async () => {
    await planAll()
    const [ofAna] = (await share([ana, 12])).body.sheets as [Shown]
    await publish(ofAna.id)
    await beginDay(house, 1)
    expect((await manager.get('housekeeping/sheets')).body.data.map((sheet: Shown) => sheet.status)).to.deep.equal([
      'closed',
    ])
    expect((await publish(ofAna.id)).body.code).to.equal('invalid_transition')
    // Tasks that people planned are theirs to give up. The roll of the date gives up only tasks that the house made itself.
    expect(new Set((await tasksOf(house)).map((task) => task.status))).to.deep.equal(new Set(['open']))
  })
})
