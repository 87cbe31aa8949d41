import { expect } from 'chai'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { act, hire, outcome, plan, tasksOf, tidy } from './housekeepers.ts'
import type { Worker } from './housekeepers.ts'

describe('Who housekeeping tasks are for: they', () => {
  const world = useWorld()
  let house: House
  let manager: Worker
  let ana: Worker
  let bia: Worker
  let [first, second] = ['', '']

  before(async () => {
    house = await makeHouse({ units: 6, deposit: null })
    const [a, b, c] = [
      hire(world, house, 'manager'),
      hire(world, house, 'housekeeper'),
      hire(world, house, 'housekeeper'),
    ]
    ;[manager, ana, bia] = await Promise.all([a, b, c])
  })

  beforeEach(async () => {
    await tidy(world, house)
    ;[first = '', second = ''] = house.unitIds
  })

  const planned = (unitId: string, more: object = {}, by = manager) => plan(house, by, unitId, more)
  const conditionOf = async (unitId: string) => (await manager.get(`units/${unitId}`)).body.condition

  it('belong to who starts them first: of two who start one at once, one has it', async () => {
    const ids = await Promise.all(house.unitIds.map((unitId) => planned(unitId)))
    const races = await Promise.all(
      ids.map(async (id) => {
        const replies = await Promise.all([act(ana, id, 'start'), act(bia, id, 'start')])
        return replies.map(({ status }) => status).sort((a, b) => a - b)
      }),
    )
    expect(races).to.deep.equal(ids.map(() => [200, 404]))
    const started = await eventsOf(house, 'housekeeping_task.started')
    expect(ids.map((id) => started.filter(({ data }) => data.housekeepingTaskId === id).length)).to.deep.equal(
      ids.map(() => 1),
    )
    for (const task of await tasksOf(house)) expect([ana.userId, bia.userId]).to.include(task.assigneeId)
  })

  it('are seen and performed by housekeepers where they are theirs or nobody’s, in lists and on the board alike', async () => {
    const mine = await planned(first, { assigneeId: ana.userId })
    const theirs = await planned(second, { assigneeId: bia.userId })
    const free = await planned(house.unitIds[2] ?? '')
    const list = async (by: Worker) =>
      (await by.get('housekeeping/tasks')).body.data.map((task: { id: string }) => task.id).sort()
    expect(await list(ana)).to.deep.equal([mine, free].sort())
    expect((await ana.get('housekeeping/tasks')).body.meta.total).to.equal(2)
    expect(await list(manager)).to.have.length(3)
    for (const reply of [
      await ana.get(`housekeeping/tasks/${theirs}`),
      await act(ana, theirs, 'start'),
      await act(ana, theirs, 'skip', { reason: 'mistake' }),
    ])
      expect([reply.status, reply.body.code]).to.deep.equal([404, 'not_found'])
    const board = (await ana.get(`housekeeping/board?propertyId=${house.propertyId}&date=${house.day(0)}`)).body.data
    expect(board).to.have.length(6)
    expect(board.map((line: { task: { id: string } | null }) => line.task?.id ?? null)).to.deep.equal([
      mine,
      null,
      free,
      null,
      null,
      null,
    ])
    expect(
      (await ana.send('POST', 'housekeeping/tasks', { unitId: first, date: house.day(0), kind: 'deep' })).status,
    ).to.equal(403)
    expect((await ana.send('PATCH', `housekeeping/tasks/${mine}`, { priority: 1 })).status).to.equal(403)
  })

  it('of maintenance are all that maintenance creates and performs', async () => {
    const fixer = await hire(world, house, 'maintenance')
    const body = { unitId: first, date: house.day(0) }
    expect((await fixer.send('POST', 'housekeeping/tasks', { ...body, kind: 'departure' })).status).to.equal(403)
    const mine = await planned(first, { kind: 'maintenance' }, fixer)
    const cleaning = await planned(first)
    expect(outcome(await act(fixer, mine, 'start'))).to.deep.equal([200, 'started'])
    expect(outcome(await act(fixer, cleaning, 'start'))).to.deep.equal([403, 'forbidden'])
    expect((await fixer.get(`housekeeping/tasks/${cleaning}`)).status).to.equal(200)
    expect((await fixer.send('POST', `units/${first}/observe`, { occupancy: 'vacant' })).status).to.equal(403)
    // A unit that is mended is as dirty as before.
    await act(fixer, mine, 'complete')
    expect(await conditionOf(first)).to.equal('dirty')
  })

  it('are changed while they are not over, of the version that was read', async () => {
    const id = await planned(first)
    const change = (body: object, version?: number) =>
      manager.send(
        'PATCH',
        `housekeeping/tasks/${id}`,
        body,
        version === undefined ? {} : { headers: { 'if-match': `"${version}"` } },
      )
    const dueAt = `${house.day(0)}T20:00:00.000Z`
    const changed = await change({ assigneeId: bia.userId, priority: 1, dueAt, note: 'two beds' }, 1)
    expect(changed.body).to.include({ assigneeId: bia.userId, priority: 1, dueAt, note: 'two beds', version: 2 })
    expect(outcome(await change({ priority: 2 }, 1))).to.deep.equal([409, 'version_conflict'])
    expect(outcome(await act(manager, id, 'start', {}, 1))).to.deep.equal([409, 'version_conflict'])
    const stranger = await hire(world, await makeHouse(), 'housekeeper')
    expect(outcome(await change({ assigneeId: stranger.userId }))).to.deep.equal([422, 'reference_not_found'])
    expect((await eventsOf(house, 'housekeeping_task.assigned')).at(-1)?.data).to.include({
      housekeepingTaskId: id,
      assigneeId: bia.userId,
    })
    await act(bia, id, 'complete')
    expect(outcome(await change({ priority: 2 }))).to.deep.equal([409, 'invalid_transition'])
  })

  it('are planned for a day to come, of an active unit of the house, by people who work there', async () => {
    const refused = async (more: object) =>
      outcome(
        await manager.send('POST', 'housekeeping/tasks', { unitId: first, date: house.day(0), kind: 'other', ...more }),
      )
    expect(await refused({ date: house.day(-1) })).to.deep.equal([422, 'date_out_of_range'])
    expect(await refused({ date: house.day(400) })).to.deep.equal([422, 'date_out_of_range'])
    expect(await refused({ assigneeId: house.propertyId })).to.deep.equal([422, 'reference_not_found'])
    expect(await refused({ reservationId: house.propertyId })).to.deep.equal([422, 'reference_not_found'])
    expect(await refused({ unitId: house.propertyId })).to.deep.equal([404, 'not_found'])
  })

  it('of another tenant, or of a house that one is not given, are unknown', async () => {
    const next = await makeHouse({ tenantId: house.tenantId, deposit: null })
    const abroad = await hire(world, await makeHouse(), 'owner')
    const id = await planned(first)
    const limited = await hire(world, house, 'manager', [next.propertyId])
    for (const stranger of [abroad, limited])
      for (const reply of [
        await stranger.get(`housekeeping/tasks/${id}`),
        await stranger.send('PATCH', `housekeeping/tasks/${id}`, { priority: 1 }),
        await act(stranger, id, 'start'),
        await act(stranger, id, 'inspect', { result: 'pass' }),
        await stranger.send('POST', 'housekeeping/tasks', { unitId: first, date: house.day(0), kind: 'other' }),
        await stranger.send('POST', `units/${first}/observe`, { occupancy: 'vacant' }),
      ])
        expect([reply.status, reply.body.code]).to.deep.equal([404, 'not_found'])
    expect((await limited.get('housekeeping/tasks')).body.meta.total).to.equal(0)
    expect((await limited.get(`housekeeping/tasks?propertyId=${house.propertyId}`)).status).to.equal(403)
    expect(
      (await abroad.get(`housekeeping/board?propertyId=${house.propertyId}&date=${house.day(0)}`)).status,
    ).to.equal(404)
  })
})
