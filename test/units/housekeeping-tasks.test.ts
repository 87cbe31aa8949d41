import { expect } from 'chai'
import { sql } from '../../db/connection.ts'
import { createTasks } from '../../db/units/tasks.ts'
import type { Reply } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { book, changeSettings, hire, moveIn, moveOut, setUnit, summary, tasksOf, tidy } from './housekeepers.ts'
import type { Worker } from './housekeepers.ts'

describe('Housekeeping tasks', () => {
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

  const plan = async (unitId: string, more: object = {}, by = manager) => {
    const { status, body } = await by.send('POST', 'housekeeping/tasks', {
      unitId,
      date: house.day(0),
      kind: 'departure',
      ...more,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.id as string
  }
  const act = (by: Worker, id: string, verb: string, body: object = {}, version?: number) =>
    by.send(
      'POST',
      `housekeeping/tasks/${id}/${verb}`,
      body,
      version === undefined ? {} : { headers: { 'if-match': `"${version}"` } },
    )
  const outcome = ({ status, body }: Reply) => [status, status < 300 ? body.status : body.code]
  const conditionOf = async (unitId: string) => (await manager.get(`units/${unitId}`)).body.condition

  it('go from open to started, done and passed, and their unit from dirty to cleaning, clean and inspected', async () => {
    await changeSettings(house, { housekeeping: { inspection: true } })
    const id = await plan(first)
    const seen: unknown[] = []
    const step = async (by: Worker, verb: string, body: object = {}) => {
      const reply = outcome(await act(by, id, verb, body))
      // Said again, it is answered as it is.
      const again = outcome(await act(by, id, verb, body))
      expect(again).to.deep.equal(reply)
      seen.push([...reply, await conditionOf(first)])
    }
    await step(ana, 'start')
    await step(ana, 'complete', { minutes: 25, note: 'a cup is missing' })
    await step(manager, 'inspect', { result: 'pass' })
    expect(seen).to.deep.equal([
      [200, 'started', 'cleaning'],
      [200, 'done', 'clean'],
      [200, 'passed', 'inspected'],
    ])
    const { body } = await manager.get(`housekeeping/tasks/${id}`)
    expect(body).to.include({
      assigneeId: ana.userId,
      completedBy: ana.userId,
      inspectedBy: manager.userId,
      minutes: 25,
      note: 'a cup is missing',
      version: 4,
    })
    const unit = (await manager.get(`units/${first}`)).body
    expect(unit.ready).to.equal(true)
    expect(unit.lastCleanedAt).to.be.a('string')
    for (const verb of ['start', 'complete', 'skip'])
      expect(outcome(await act(manager, id, verb, verb === 'skip' ? { reason: 'mistake' } : {})), verb).to.deep.equal([
        409,
        'invalid_transition',
      ])
    const told = (type: string) => eventsOf(house, type).then((events) => events.length)
    for (const type of ['created', 'started', 'completed', 'passed'])
      expect(await told(`housekeeping_task.${type}`), type).to.equal(1)
    // Inspected is what this house asks for: clean alone did not make the unit ready.
    expect(await told('unit.made_ready')).to.equal(1)
    expect((await eventsOf(house, 'unit.condition_changed')).map(({ data }) => data.condition)).to.deep.equal([
      'cleaning',
      'clean',
      'inspected',
    ])
  })

  it('are inspected by another person than who did the work, and what fails is to be done again', async () => {
    const id = await plan(first, { kind: 'deep', checklist: [{ key: 'bath', text: 'Bath', required: true }] })
    expect(outcome(await act(manager, id, 'inspect', { result: 'pass' }))).to.deep.equal([409, 'invalid_transition'])
    await act(manager, id, 'complete', { checklist: [{ key: 'bath', done: true }] })
    expect(outcome(await act(manager, id, 'inspect', { result: 'pass' }))).to.deep.equal([403, 'self_approval'])
    const desk = await hire(world, house, 'receptionist')
    expect((await act(desk, id, 'inspect', { result: 'fail' })).status).to.equal(400)
    expect(outcome(await act(desk, id, 'inspect', { result: 'fail', note: 'hair in the bath' }))).to.deep.equal([
      200,
      'failed',
    ])
    expect(await conditionOf(first)).to.equal('dirty')
    expect((await act(ana, id, 'inspect', { result: 'pass' })).status).to.equal(403)
    const [failed, again] = await tasksOf(house, first)
    expect([failed?.status, failed?.inspectedBy]).to.deep.equal(['failed', desk.userId])
    expect(again).to.include({
      status: 'open',
      kind: 'deep',
      note: 'hair in the bath',
      assigneeId: manager.userId,
      generated: false,
    })
    expect(again?.checklist).to.deep.equal([{ key: 'bath', text: 'Bath', required: true, done: false }])
  })

  it('are done only with what their checklist requires, which comes from the settings of the house', async () => {
    await changeSettings(house, {
      housekeeping: {
        checklists: {
          pickup: [
            { key: 'dust', text: 'Dust' },
            { key: 'water', text: 'Run the water' },
          ],
        },
      },
    })
    const id = await plan(first, { kind: 'pickup' })
    const { body } = await ana.get(`housekeeping/tasks/${id}`)
    expect(body.checklist).to.deep.equal([
      { key: 'dust', text: 'Dust', required: true, done: false },
      { key: 'water', text: 'Run the water', required: true, done: false },
    ])
    const partly = await act(ana, id, 'complete', { checklist: [{ key: 'dust', done: true }] })
    expect([partly.status, partly.body.code, partly.body.errors]).to.deep.equal([
      422,
      'checklist_incomplete',
      [{ field: 'checklist.water', message: 'Run the water' }],
    ])
    expect(await conditionOf(first)).to.equal('dirty')
    expect((await act(ana, id, 'complete', { checklist: [{ key: 'stove', done: true }] })).status).to.equal(400)
    const all = ['dust', 'water'].map((key) => ({ key, done: true }))
    expect(outcome(await act(ana, id, 'complete', { checklist: all }))).to.deep.equal([200, 'done'])
    // A house that does not inspect: clean is ready.
    expect((await manager.get(`units/${first}`)).body.ready).to.equal(true)
  })

  it('are skipped with a reason; cleaning that was begun leaves the unit dirty', async () => {
    const [open, begun] = [await plan(first), await plan(second)]
    await setUnit(house, first, { condition: 'clean' })
    await act(ana, begun, 'start')
    expect(await conditionOf(second)).to.equal('cleaning')
    for (const id of [open, begun])
      expect(outcome(await act(ana, id, 'skip', { reason: 'no_time', note: 'late' }))).to.deep.equal([200, 'skipped'])
    expect([await conditionOf(first), await conditionOf(second)]).to.deep.equal(['clean', 'dirty'])
    expect(outcome(await act(ana, open, 'start'))).to.deep.equal([409, 'invalid_transition'])
    expect((await act(ana, open, 'skip', { reason: 'not_done' })).status).to.equal(400)
    expect(await summary(house, second)).to.deep.equal([`${house.day(0)} departure skipped no_time`])
  })

  it('of a departure wait until the guest has left, even where he does not want to be disturbed', async () => {
    const stay = await book(house, { from: 0, nights: 2 })
    await moveIn(house, stay)
    await setUnit(house, stay.unitId, { doNotDisturb: true })
    const [departure, stayover, turndown, mending] = await Promise.all(
      ['departure', 'stayover', 'turndown', 'maintenance'].map((kind) => plan(stay.unitId, { kind })),
    )
    expect(outcome(await act(ana, departure ?? '', 'start'))).to.deep.equal([422, 'unit_occupied'])
    // Nor can it be said to be done without having been begun.
    expect(outcome(await act(ana, departure ?? '', 'complete'))).to.deep.equal([422, 'unit_occupied'])
    for (const id of [stayover, turndown]) {
      expect(outcome(await act(ana, id ?? '', 'start'))).to.deep.equal([422, 'do_not_disturb'])
      expect(outcome(await act(ana, id ?? '', 'complete'))).to.deep.equal([422, 'do_not_disturb'])
    }
    expect(outcome(await act(ana, mending ?? '', 'start'))).to.deep.equal([200, 'started'])
    await moveOut(house, stay, 1)
    await setUnit(house, stay.unitId, { doNotDisturb: true })
    expect(outcome(await act(ana, departure ?? '', 'start'))).to.deep.equal([200, 'started'])
  })

  it('belong to who starts them first: of two who start one at once, one has it', async () => {
    const ids = await Promise.all(house.unitIds.map((unitId) => plan(unitId)))
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
    const mine = await plan(first, { assigneeId: ana.userId })
    const theirs = await plan(second, { assigneeId: bia.userId })
    const free = await plan(house.unitIds[2] ?? '')
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
    const mine = await plan(first, { kind: 'maintenance' }, fixer)
    const cleaning = await plan(first)
    expect(outcome(await act(fixer, mine, 'start'))).to.deep.equal([200, 'started'])
    expect(outcome(await act(fixer, cleaning, 'start'))).to.deep.equal([403, 'forbidden'])
    expect((await fixer.get(`housekeeping/tasks/${cleaning}`)).status).to.equal(200)
    expect((await fixer.send('POST', `units/${first}/observe`, { occupancy: 'vacant' })).status).to.equal(403)
    // What is mended is as dirty as before.
    await act(fixer, mine, 'complete')
    expect(await conditionOf(first)).to.equal('dirty')
  })

  it('are ranked by who arrives and by kind, unless a person has ranked them', async () => {
    const stay = await book(house, { from: 0, nights: 1 })
    const kinds = ['departure', 'stayover', 'deep', 'maintenance']
    const other = house.unitIds.find((id) => id !== stay.unitId) ?? ''
    const ids = await Promise.all([
      plan(stay.unitId),
      ...kinds.map((kind) => plan(other, { kind })),
      plan(other, { kind: 'other', priority: 1 }),
    ])
    const read = await Promise.all(ids.map((id) => manager.get(`housekeeping/tasks/${id}`)))
    expect(read.map(({ body }) => body.priority)).to.deep.equal([2, 3, 4, 5, 5, 1])
    expect(read.map(({ body }) => body.credits)).to.deep.equal([2, 2, 2, 2, 1, 1])
    // Guests may check in from 14:00 in São Paulo.
    expect(read[0]?.body.dueAt).to.equal(`${house.day(0)}T17:00:00.000Z`)
    expect(read[2]?.body.dueAt).to.equal(null)
  })

  it('are changed while they are not over, of the version that was read', async () => {
    const id = await plan(first)
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
    const id = await plan(first)
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

  it('that the house makes of itself are made once, and again where the unit was used again', async () => {
    const task = { unitId: first, date: house.day(0), kind: 'departure' as const }
    await Promise.all([1, 2, 3].map(() => house.inHouse((trx) => createTasks(trx, [task]))))
    const [made] = await tasksOf(house, first)
    expect(await summary(house, first)).to.have.length(1)
    await act(ana, made?.id ?? '', 'complete')
    await house.inHouse((trx) => createTasks(trx, [task]))
    await house.inHouse((trx) => createTasks(trx, [task]))
    expect(await summary(house, first)).to.deep.equal([
      `${house.day(0)} departure done`,
      `${house.day(0)} departure open`,
    ])
  })

  it('keep their promises in the database itself', async () => {
    const id = await plan(first)
    const refused = async (text: string, constraint: string) => {
      const error = await house
        .inHouse((trx) => sql(trx, text, [id]))
        .then(
          () => null,
          (reason: { constraint?: string }) => reason,
        )
      expect(error?.constraint, text).to.equal(constraint)
    }
    const set = (columns: string) => `update housekeeping_task set ${columns} where id = ?`
    await refused(set(`status = 'done'`), 'housekeeping_task_completed')
    await refused(set(`status = 'skipped'`), 'housekeeping_task_skipped')
    await refused(set(`status = 'started'`), 'housekeeping_task_started')
    const one = `'${ana.userId}'`
    await refused(
      set(
        `status = 'passed', completed_at = now(), completed_by = ${one}, inspected_at = now(), inspected_by = ${one}`,
      ),
      'housekeeping_task_other_eyes',
    )
    const copy = `insert into housekeeping_task (property_id, unit_id, date, kind, priority, credits, generated)
      select property_id, unit_id, date, kind, 3, 1, true from housekeeping_task, generate_series(1, 2) where id = ?`
    await refused(copy, 'housekeeping_task_generated')
  })
})
