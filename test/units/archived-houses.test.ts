import { expect } from 'chai'
import { sqlOne } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { hire } from './housekeepers.ts'

describe('An archived house', () => {
  const world = useWorld()

  it('is read only: its units, blocks, tasks and sheets too', async () => {
    const house = await makeHouse({ units: 6, draft: true })
    const { propertyId } = house
    const owner = await openDesk(world, house, 'owner')
    const keeper = await hire(world, house, 'housekeeper')
    const [unitId = '', one = '', other = '', third = '', fourth = ''] = house.unitIds
    const create = async (path: string, body: object): Promise<string> => {
      const made = await owner.send('POST', path, body)
      expect(made.status, JSON.stringify(made.body)).to.equal(201)
      return made.body.id as string
    }
    const block = { propertyId, kind: 'out_of_order', reason: 'renovation', to: house.day(9) }
    const running = await create('unit-blocks', { ...block, unitIds: [one], from: house.day(0) })
    const planned = await create('unit-blocks', { ...block, unitIds: [other], from: house.day(3) })
    const task = { date: house.day(0), kind: 'other' }
    const open = await create('housekeeping/tasks', { ...task, unitId })
    const begun = await create('housekeeping/tasks', { ...task, unitId })
    await owner.send('POST', `housekeeping/tasks/${begun}/start`)
    const share = { propertyId, date: house.day(0), attendants: [{ userId: keeper.userId, maxCredits: 20 }] }
    const { body: shared } = await owner.send('POST', 'housekeeping/sheets', share)
    expect((await owner.send('POST', `properties/${propertyId}/archive`)).body.status).to.equal('archived')
    const events = async () =>
      (await sqlOne<{ n: number }>(world.database.admin, `select count(*)::int as n from event`))?.n
    const told = await events()
    for (const [method, path, body] of [
      ['PATCH', `units/${unitId}`, { notes: 'x' }],
      ['PATCH', `units/${unitId}`, { activeUntil: house.day(90) }],
      ['POST', `units/${third}/archive`],
      ['POST', `units/${unitId}/observe`, { note: 'x' }],
      ['POST', 'unit-blocks', { ...block, unitIds: [fourth], from: house.day(0) }],
      ['POST', 'unit-blocks', { ...block, unitIds: [fourth], from: house.day(0), dryRun: true }],
      ['PATCH', `unit-blocks/${running}`, { note: 'x' }],
      ['POST', `unit-blocks/${running}/end`],
      ['POST', `unit-blocks/${planned}/cancel`],
      ['POST', 'unit-assignments/repack', { propertyId }],
      ['POST', 'housekeeping/conditions', { propertyId, items: [{ unitId, condition: 'clean' }] }],
      ['POST', 'housekeeping/tasks', { ...task, unitId }],
      ['PATCH', `housekeeping/tasks/${open}`, { priority: 1 }],
      ['POST', `housekeeping/tasks/${open}/start`],
      ['POST', `housekeeping/tasks/${open}/skip`, { reason: 'no_time' }],
      ['POST', `housekeeping/tasks/${begun}/complete`],
      ['POST', 'housekeeping/sheets', share],
      ['POST', `housekeeping/sheets/${shared.sheets[0].id}/publish`],
    ] as const) {
      const refused = await owner.send(method, path, body)
      expect([refused.status, refused.body.code], `${method} ${path}`).to.deep.equal([409, 'invalid_transition'])
    }
    expect(await events()).to.equal(told)
    expect((await owner.get(`units/${unitId}`)).body).to.include({ status: 'active', notes: '' })
    const chart = `unit-calendar?propertyId=${propertyId}&from=${house.day(0)}&to=${house.day(5)}`
    expect((await owner.get(chart)).body.units).to.have.length(6)
  })
})
