import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createTasks } from '../../db/units/housekeeping-tasks/create.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import {
  act,
  book,
  changeSettings,
  hire,
  moveIn,
  moveOut,
  outcome,
  plan,
  setUnit,
  summary,
  tasksOf,
  tidy,
} from './housekeepers.ts'
import { makePair } from './support.ts'
import type { Worker } from './housekeepers.ts'

describe('Housekeeping tasks', () => {
  const world = useWorld()
  let house: House
  let manager: Worker
  let ana: Worker
  let [first, second] = ['', '']

  before(async () => {
    house = await makeHouse({ units: 6, deposit: null })
    ;[manager, ana] = await Promise.all([hire(world, house, 'manager'), hire(world, house, 'housekeeper')])
  })

  beforeEach(async () => {
    await tidy(world, house)
    ;[first = '', second = ''] = house.unitIds
  })

  const planned = (unitId: string, more: object = {}, by = manager) => plan(house, by, unitId, more)
  const conditionOf = async (unitId: string) => (await manager.get(`units/${unitId}`)).body.condition

  it('go from open to started, done and passed, and their unit from dirty to cleaning, clean and inspected', async () => {
    await changeSettings(house, { housekeeping: { inspection: true } })
    const id = await planned(first)
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
    const id = await planned(first, { kind: 'deep', checklist: [{ key: 'bath', text: 'Bath', required: true }] })
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

  it('that make a unit ready are told to the guest who arrives in it today, once all of his are', async () => {
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into automation (name, enabled, trigger, template_id)
         select 'Ready', true, '{"event": "unit.made_ready"}', template_id from automation where trigger ->> 'event' = 'reservation.confirmed'`,
      ),
    )
    const [one, two] = [
      await book(house, { from: 0, nights: 1 }),
      await book(house, { from: 0, ...(await makePair(house)) }),
    ]
    const pair = (
      await house.inHouse((trx) =>
        sql<{ unitId: string }>(trx, `select unit_id from unit_assignment where reservation_id = ? order by unit_id`, [
          two.reservationId,
        ]),
      )
    ).map((row) => row.unitId)
    const free = house.unitIds.find((id) => id !== one.unitId && !pair.includes(id)) ?? ''
    const told = async () => {
      await world.drain({ kinds: ['messages.trigger'] })
      const rows = await house.inHouse((trx) =>
        sql<{ reservationId: string }>(
          trx,
          `select m.reservation_id from message m join automation a on a.id = m.automation_id where a.name = 'Ready' order by m.created_at`,
        ),
      )
      return rows.map((row) => row.reservationId)
    }
    const clean = (...unitIds: string[]) =>
      manager.send('POST', 'housekeeping/conditions', {
        propertyId: house.propertyId,
        items: unitIds.map((unitId) => ({ unitId, condition: 'clean' })),
      })
    expect(pair).to.have.length(2)
    expect((await clean(free, pair[0] ?? '')).status).to.equal(200)
    expect(await told()).to.deep.equal([])
    await act(ana, await planned(one.unitId), 'complete')
    expect(await told()).to.deep.equal([one.reservationId])
    await clean(pair[1] ?? '')
    expect(await told()).to.deep.equal([one.reservationId, two.reservationId])
    await setUnit(house, pair[0] ?? '', { condition: 'dirty' })
    await setUnit(house, pair[1] ?? '', { condition: 'dirty' })
    await clean(...pair)
    expect(await told()).to.deep.equal([one.reservationId, two.reservationId, two.reservationId])
  })

  it('that pass when their unit was used again leave it as it is', async () => {
    const stay = await book(house, { from: 0, nights: 2 })
    const id = await planned(stay.unitId)
    await act(ana, id, 'complete')
    await moveIn(house, stay)
    await moveOut(house, stay, 1)
    expect(outcome(await act(manager, id, 'inspect', { result: 'pass' }))).to.deep.equal([200, 'passed'])
    expect(await conditionOf(stay.unitId)).to.equal('dirty')
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
    const id = await planned(first, { kind: 'pickup' })
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
    const [open, begun] = [await planned(first), await planned(second)]
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
      ['departure', 'stayover', 'turndown', 'maintenance'].map((kind) => planned(stay.unitId, { kind })),
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

  it('are ranked by who arrives and by kind, unless a person has ranked them', async () => {
    const stay = await book(house, { from: 0, nights: 1 })
    const kinds = ['departure', 'stayover', 'deep', 'maintenance']
    const other = house.unitIds.find((id) => id !== stay.unitId) ?? ''
    const ids = await Promise.all([
      planned(stay.unitId),
      ...kinds.map((kind) => planned(other, { kind })),
      planned(other, { kind: 'other', priority: 1 }),
    ])
    const read = await Promise.all(ids.map((id) => manager.get(`housekeeping/tasks/${id}`)))
    expect(read.map(({ body }) => body.priority)).to.deep.equal([2, 3, 4, 5, 5, 1])
    expect(read.map(({ body }) => body.credits)).to.deep.equal([2, 2, 2, 2, 1, 1])
    // Guests may check in from 14:00 in São Paulo.
    expect(read[0]?.body.dueAt).to.equal(`${house.day(0)}T17:00:00.000Z`)
    expect(read[2]?.body.dueAt).to.equal(null)
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
    const id = await planned(first)
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
