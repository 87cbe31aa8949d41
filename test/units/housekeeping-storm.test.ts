import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { setConditions } from '../../db/units/unit-conditions.ts'
import { observe } from '../../db/units/observe.ts'
import { generateTasks } from '../../db/units/daily-tasks.ts'
import { shareOutDay } from '../../db/units/housekeeping-sheets.ts'
import { changeTask } from '../../db/units/housekeeping-tasks/change.ts'
import { completeTask, inspectTask, skipTask, startTask } from '../../db/units/housekeeping-tasks/moves.ts'
import { insertTasks } from '../../db/units/housekeeping-tasks/create.ts'
import { makeUser } from '../auth/support.ts'
import { useDatabase } from '../support/database.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { beginDay, book, moveIn, moveOut, putDate, tasksOf } from './housekeepers.ts'
import type { Stay } from './housekeepers.ts'

/** Random numbers that are equal in every run. */
const randomOf = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

describe('A house in which all happens at once', () => {
  useDatabase()
  let house: House
  let people: string[]

  before(async () => {
    house = await makeHouse({ units: 8, deposit: null })
    people = await Promise.all([1, 2, 3].map(async () => (await makeUser({ [house.tenantId]: 'housekeeper' })).userId))
  })

  it('never deadlocks, and every unit and task is what the last one made of it', async function () {
    this.timeout(120_000)
    const stays: Stay[] = []
    for (let index = 0; index < 4; index += 1) stays.push(await book(house, { from: 0, nights: 3 }))
    for (const stay of stays) await moveIn(house, stay)
    await beginDay(house, 1)
    const date = house.day(1)
    const { propertyId } = house
    await house.inHouse((trx) =>
      insertTasks(
        trx,
        house.unitIds.flatMap((unitId) =>
          (['deep', 'pickup', 'inspection', 'deep'] as const).map((kind) => ({ unitId, date, kind })),
        ),
        false,
      ),
    )
    const ids = (await tasksOf(house)).map((task) => task.id)
    const outcomes = new Map<string, number>()

    const player = async (seed: number) => {
      const random = randomOf(seed)
      const one = <T>(values: readonly T[]): T => values[random(values.length)] as T
      const actor = { type: 'user' as const, id: one(people) }
      const acts: [string, (trx: Trx) => Promise<unknown>][] = [
        ['start', (trx) => startTask(trx, one(ids))],
        ['complete', (trx) => completeTask(trx, one(ids), {})],
        [
          'inspect',
          async (trx) => {
            const [done] = await sql<{ id: string }>(
              trx,
              `select id from housekeeping_task where status = 'done' and completed_by <> ? limit 1`,
              [actor.id],
            )
            await inspectTask(trx, done?.id ?? one(ids), { result: one(['pass', 'fail']), note: 'again' })
          },
        ],
        ['skip', (trx) => skipTask(trx, one(ids), { reason: 'no_time' })],
        [
          'refuse',
          (trx) => observe(trx, one(stays).unitId, { serviceRefused: { until: date, evidence: 'a note' } }, () => {}),
        ],
        ['wish', (trx) => observe(trx, one(stays).unitId, { makeUpRequested: true, occupancy: 'vacant' }, () => {})],
        [
          'share',
          (trx) =>
            shareOutDay(trx, { propertyId, date, attendants: people.map((userId) => ({ userId, maxCredits: 9 })) }),
        ],
        [
          'give',
          async (trx) => {
            const id = one(ids)
            // As the pipeline does with the record that a path names.
            await sql(trx, `select id from housekeeping_task where id = ? for no key update`, [id])
            await changeTask(trx, id, { assigneeId: one([...people, null]) })
          },
        ],
        [
          'set',
          (trx) =>
            setConditions(
              trx,
              propertyId,
              house.unitIds.map((unitId) => ({ unitId, condition: 'dirty' })),
            ),
        ],
        ['morning', (trx) => generateTasks(trx, { propertyId, businessDate: date })],
      ]
      for (let step = 0; step < 20; step += 1) {
        // Each act once, every player beginning with another; then by lot.
        const [name, act] = (step < acts.length ? acts[(2 * seed + step) % acts.length] : null) ?? one(acts)
        const outcome = await inTenant(house.tenantId, act, { actor }).then(
          () => 'done',
          (error: unknown) => {
            if (!(error instanceof ApiError)) throw error
            return error.code
          },
        )
        outcomes.set(`${name} ${outcome}`, (outcomes.get(`${name} ${outcome}`) ?? 0) + 1)
      }
    }
    await Promise.all([
      ...[1, 2, 3, 4, 5, 6].map(player),
      moveOut(house, stays[0] as Stay, 1),
      beginDay(house, 2).then(() => putDate(house, 1)),
    ])

    expect(await deadlocks()).to.equal(0)
    // Each can always be done, whatever the others do: it was a storm, and not a row of refusals.
    for (const name of ['refuse', 'wish', 'share', 'set', 'morning'])
      expect(outcomes.get(`${name} done`) ?? 0, name).to.be.above(0)
    expect((outcomes.get('start done') ?? 0) + (outcomes.get('complete done') ?? 0)).to.be.above(0)
    const strange = await house.inHouse((trx) =>
      sql(
        trx,
        `select u.name from unit u where u.condition = 'cleaning' and not exists (
           select from housekeeping_task t where t.tenant_id = u.tenant_id and t.unit_id = u.id and t.status = 'started')`,
      ),
    )
    expect(strange).to.deep.equal([])
  })
})
