import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { extendNights } from '../../db/units/nights.ts'
import { recountNights } from '../../db/units/recount.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { waitsForLock } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

describe('Unit pools', () => {
  const world = useWorld()
  let house: House
  let owner: Desk

  before(async () => {
    house = await makeHouse({ units: 3, suite: true })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  const create = (name: string, desk = owner) => desk.send('POST', 'unit-pools', { propertyId: house.propertyId, name })

  it('say their units, their types and how much of today is left', async () => {
    await makeHold(house, { from: 0, nights: 1 })
    const { body } = await owner.get(`unit-pools?propertyId=${house.propertyId}`)
    const pool = body.data.find((one: { id: string }) => one.id === house.poolId)
    expect(pool).to.deep.include({ name: 'STD', unitIds: house.unitIds, unitTypeIds: [house.unitTypeId], version: 1 })
    const none = { sold: 0, allotted: 0, blocked: 0, oversell: 0, forced: 0 }
    expect(pool.today).to.deep.equal({ night: house.today, capacity: 3, held: 1, ...none })
    expect(body.meta.total).to.equal(2)
  })

  it('are renamed by version, and no two have one name', async () => {
    const made = await create('Annex')
    expect(made.status).to.equal(201)
    expect(made.body).to.deep.include({ unitIds: [], unitTypeIds: [], name: 'Annex' })
    const again = await create('Annex')
    expect([again.status, again.body.code]).to.deep.equal([409, 'duplicate_name'])
    const path = `unit-pools/${made.body.id}`
    const first = { headers: { 'if-match': '"1"' } }
    const renamed = await owner.send('PATCH', path, { name: 'Garden' }, first)
    expect([renamed.status, renamed.body.name, renamed.body.version]).to.deep.equal([200, 'Garden', 2])
    expect((await owner.send('PATCH', path, { name: 'Yard' }, first)).body.code).to.equal('version_conflict')
    expect((await owner.send('PATCH', path, { name: 'STD' })).body.code).to.equal('duplicate_name')
  })

  it('are deleted with their counters while nothing is in them', async () => {
    const used = await owner.send('DELETE', `unit-pools/${house.suitePoolId}`)
    expect([used.status, used.body.code]).to.deep.equal([422, 'in_use'])
    expect(used.body.errors).to.deep.equal([
      { field: 'unit', message: '201' },
      { field: 'unitType', message: 'SUITE' },
    ])
    const { id } = (await create('Empty')).body
    expect((await owner.send('DELETE', `unit-pools/${id}`)).body).to.include({ id, name: 'Empty' })
    expect((await owner.send('DELETE', `unit-pools/${id}`)).status).to.equal(404)
    const nights = await house.inHouse((trx) => sql(trx, `select 1 from pool_night where pool_id = ?`, [id]))
    expect(nights).to.deep.equal([])
  })

  it('of others are not found, and of limited extras not shown', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const stranger = await makeHouse({ units: 1 })
    const manager = await openDesk(world, house, 'manager', [house.propertyId])
    for (const id of [other.poolId, stranger.poolId]) {
      expect((await manager.send('PATCH', `unit-pools/${id}`, { name: 'X' })).status).to.equal(404)
      expect((await manager.send('DELETE', `unit-pools/${id}`)).status).to.equal(404)
    }
    const extra = await owner.send('POST', 'extras', {
      propertyId: house.propertyId,
      code: 'BOAT',
      name: { 'pt-BR': 'Barco' },
      category: 'activity',
      revenueGroup: 'tours',
      amount: 1_000,
      basis: 'per_stay',
      dailyLimit: 4,
    })
    expect(extra.body.poolId).to.be.a('string')
    const { body } = await manager.get('unit-pools?limit=100')
    expect(body.data.map((pool: { id: string }) => pool.id)).to.not.include.members([extra.body.poolId, other.poolId])
    expect((await owner.send('PATCH', `unit-pools/${extra.body.poolId}`, { name: 'X' })).status).to.equal(404)
    expect((await create('Z', await openDesk(world, house, 'receptionist'))).status).to.equal(403)
  })

  it('have no night beyond their horizon, and count every unit on the night that comes into reach', async () => {
    const rush = await makeHouse({ tenantId: house.tenantId, units: 2 })
    const { propertyId, unitTypeId, poolId } = rush
    await world.database.admin.raw(`delete from pool_night where pool_id = ? and night >= ?`, [poolId, rush.day(730)])
    const refused = await rush
      .inHouse((trx) => moveInventory(trx, [{ poolId, night: rush.day(730), held: 1 }]))
      .catch((error: unknown) => error)
    expect(refused).to.include({ status: 422, code: 'beyond_horizon' })
    const last = () =>
      rush.inHouse((trx) =>
        sql<{ night: string; capacity: number }>(
          trx,
          `select night, capacity from pool_night where pool_id = ? order by night desc limit 1`,
          [poolId],
        ),
      )
    expect(await last()).to.deep.equal([{ night: rush.day(729), capacity: 2 }])
    // On the day that the edge moves, units come and go meanwhile; one has come and nobody sees it yet.
    const [gone = ''] = rush.unitIds
    let isOver = false
    const added = await rush.inHouse(async (trx) => {
      await createUnits(trx, { propertyId, unitTypeId, names: ['A'] })
      const extended = rush.inHouse((other) => extendNights(other, [poolId])).finally(() => (isOver = true))
      await until(async () => isOver || (await waitsForLock(world.database.admin)))
      return { extended }
    })
    const done = await Promise.all([
      added.extended,
      ...['B', 'C'].map((name) => rush.inHouse((trx) => createUnits(trx, { propertyId, unitTypeId, names: [name] }))),
      owner.send('POST', `units/${gone}/archive`),
      rush.inHouse((trx) => extendNights(trx, [poolId])),
    ])
    expect(Number(done[0]) + Number(done.at(-1))).to.equal(1)
    expect(await last()).to.deep.equal([{ night: rush.day(730), capacity: 4 }])
    expect(await rush.inHouse((trx) => recountNights(trx, propertyId, rush.today, rush.day(731)))).to.deep.equal([])
  })
})
