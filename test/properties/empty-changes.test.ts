import { expect } from 'chai'
import { sqlOne } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { openDesk } from './support.ts'

describe('A change that names no field', () => {
  const world = useWorld()

  it('is none: no version, no event, and nothing for portals and channels to read again', async () => {
    const house = await makeHouse({ units: 3, taxes: true })
    const { propertyId, unitTypeId, poolId, ratePlanId, unitIds } = house
    const owner = await openDesk(world, house, 'owner')
    const name = { 'pt-BR': 'X' }
    const create = async (path: string, body: object): Promise<string> => {
      const made = await owner.send('POST', path, { ...(path.startsWith('properties') ? {} : { propertyId }), ...body })
      expect(made.status, JSON.stringify(made.body)).to.equal(201)
      return `${path}/${made.body.id}`
    }
    const first = async (path: string) =>
      `${path}/${(await owner.get(`${path}?propertyId=${propertyId}`)).body.data[0].id}`
    const extra = { name, category: 'meal', revenueGroup: 'food', amount: 100, basis: 'per_stay' }
    const block = {
      unitIds: [unitIds[1]],
      kind: 'out_of_service',
      reason: 'other',
      from: house.day(3),
      to: house.day(4),
    }
    const image = { url: 'https://images.example/1.jpg', category: 'unit' }
    const task = await owner.send('POST', 'housekeeping/tasks', {
      unitId: unitIds[0],
      date: house.day(0),
      kind: 'other',
    })
    const records = [
      `properties/${propertyId}`,
      await create(`properties/${propertyId}/gallery`, image),
      await first('tax-rules'),
      await first('policies'),
      `rate-plans/${ratePlanId}`,
      await create('extras', { ...extra, code: 'X' }),
      await create('promo-codes', { code: 'XXX', type: 'percent', value: 1 }),
      `unit-types/${unitTypeId}`,
      `unit-pools/${poolId}`,
      `units/${unitIds[0]}`,
      await create('unit-blocks', block),
      `housekeeping/tasks/${task.body.id}`,
    ]
    const state = () =>
      sqlOne<{ events: number; publicVersion: number; version: number; blocks: number }>(
        world.database.admin,
        `select (select count(*)::int from event) as events, public_version, version, (select sum(version)::int from unit_block) as blocks
         from property where id = ?`,
        [propertyId],
      )
    const before = await state()
    for (const path of records) {
      const { status, body } = await owner.send('PATCH', path, {})
      expect(status, path).to.equal(200)
      expect(
        (await owner.send('PATCH', path, {}, { headers: { 'if-match': `"${body.version}"` } })).status,
        path,
      ).to.equal(200)
    }
    for (const change of [{}, { portal: {} }])
      expect((await owner.send('PATCH', `properties/${propertyId}/settings`, change)).status).to.equal(200)
    expect(await state()).to.deep.equal(before)
  })
})
