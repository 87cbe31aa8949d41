import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { recountNights } from '../../db/units/recount.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makePair } from './support.ts'
import { holdQuote, makeHold, quotedClaims } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

const name = { 'pt-BR': 'Quarto', en: 'Room' }

describe('Unit types', () => {
  const world = useWorld()
  let house: House
  let owner: Desk

  before(async () => {
    house = await makeHouse({ units: 3, suite: true, settings: { portal: { holdShare: 10_000 } } })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  let types = 0
  const type = (more: object = {}) => ({
    propertyId: house.propertyId,
    code: `TYPE-${(types += 1)}`,
    name,
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 2,
    maxChildren: 0,
    maxOccupancy: 2,
    ...more,
  })
  const standard = () => `unit-types/${house.unitTypeId}`
  const miscounts = () => house.inHouse((trx) => recountNights(trx, house.propertyId, house.today, house.day(90)))

  const cancel = (bookingId: string) =>
    house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'guest_request' }))

  it('get a pool of their own, or share those that are named', async () => {
    const own = await owner.send('POST', 'unit-types', type({ beds: [{ kind: 'single', count: 2 }], sizeM2: 18.5 }))
    expect(own.status).to.equal(201)
    expect(own.body).to.deep.include({ status: 'active', bookable: true, sizeM2: 18.5, position: 0, description: {} })
    expect(own.body.pools).to.have.length(1)
    expect(own.headers.etag).to.equal('"1"')
    const shared = await owner.send(
      'POST',
      'unit-types',
      type({ pools: [{ unitPoolId: own.body.pools[0].unitPoolId, quantity: 1 }] }),
    )
    expect(shared.body.pools).to.deep.equal(own.body.pools)
    expect((await owner.get(`unit-types/${shared.body.id}`)).body).to.deep.equal(shared.body)
    const pools = (await owner.get(`unit-pools?propertyId=${house.propertyId}&limit=100`)).body.data
    const pool = pools.find((one: { id: string }) => one.id === own.body.pools[0].unitPoolId)
    expect(pool.unitTypeIds).to.have.members([own.body.id, shared.body.id])
    expect(pool.today).to.include({ night: house.today, capacity: 0 })
  })

  it('name a pool of their own after themselves, also where that name is taken', async () => {
    await owner.send('POST', 'unit-pools', { propertyId: house.propertyId, name: 'TWIN' })
    const made = await owner.send('POST', 'unit-types', type({ code: 'TWIN' }))
    const pools = (await owner.get('unit-pools')).body.data as { id: string; name: string }[]
    expect(pools.find((one) => one.id === made.body.pools[0].unitPoolId)?.name).to.equal('TWIN 2')
  })

  it('refuse what cannot be: a second code, occupancies that fall, texts in no language of the house, pools of others', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    for (const [more, status, code] of [
      [{ code: 'STD' }, 409, 'duplicate_code'],
      [{ maxAdults: 1 }, 422, 'occupancy_invalid'],
      [{ maxOccupancy: 1 }, 422, 'occupancy_invalid'],
      [{ name: { en: 'Room' } }, 400, 'validation_failed'],
      [{ pools: [{ unitPoolId: other.poolId, quantity: 1 }] }, 422, 'reference_not_found'],
      [
        { pools: Array.from({ length: 2 }, () => ({ unitPoolId: house.poolId, quantity: 1 })) },
        400,
        'validation_failed',
      ],
      [{ pools: [{ unitPoolId: house.poolId, quantity: 0 }] }, 400, 'validation_failed'],
    ] as const) {
      const refused = await owner.send('POST', 'unit-types', type(more))
      expect([refused.status, refused.body.code], JSON.stringify(more)).to.deep.equal([status, code])
    }
  })

  it('are listed by property, status, kind and words, in their order, and of the caller’s houses alone', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    await owner.send(
      'POST',
      'unit-types',
      type({ code: 'BED', kind: 'shared', position: 50, name: { 'pt-BR': 'Cama' } }),
    )
    const codes = async (query: string, desk = owner) =>
      (await desk.get(`unit-types?limit=100&${query}`)).body.data.map((one: { code: string }) => one.code)
    const here = `propertyId=${house.propertyId}`
    expect((await codes(here)).slice(0, 1)).to.deep.equal(['STD'])
    expect((await codes(here)).slice(-1)).to.deep.equal(['BED'])
    expect(await codes(`${here}&kind=shared`)).to.deep.equal(['BED'])
    expect(await codes(`${here}&q=cam`)).to.deep.equal(['BED'])
    expect(await codes(`${here}&q=ui`)).to.deep.equal(['SUITE'])
    expect(await codes('status=archived')).to.deep.equal([])
    const limited = await openDesk(world, house, 'receptionist', [other.propertyId])
    expect(await codes('', limited)).to.deep.equal(['STD'])
    const manager = await openDesk(world, house, 'manager', [other.propertyId])
    expect((await limited.get(standard())).status).to.equal(404)
    expect((await manager.send('PATCH', standard(), { position: 1 })).status).to.equal(404)
    expect((await manager.send('POST', `${standard()}/archive`)).status).to.equal(404)
    const stranger = await makeHouse({ units: 1 })
    expect((await owner.get(`unit-types/${stranger.unitTypeId}`)).status).to.equal(404)
    expect((await owner.send('PATCH', `unit-types/${stranger.unitTypeId}`, { position: 1 })).status).to.equal(404)
  })

  it('change by version, and show the change to guests at once', async () => {
    const at = (version: number) => ({ headers: { 'if-match': `"${version}"` } })
    const changed = await owner.send('PATCH', standard(), { description: { 'pt-BR': 'Novo' } }, at(1))
    expect([changed.status, changed.body.version, changed.body.description]).to.deep.equal([
      200,
      2,
      { 'pt-BR': 'Novo' },
    ])
    const stale = await owner.send('PATCH', standard(), { position: 9 }, at(1))
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
    const page = await world.request('GET', `/api/public/property/${house.propertyId}/rooms`)
    expect(JSON.stringify(page.body)).to.contain('Novo')
    const fallen = await owner.send('PATCH', standard(), { maxOccupancy: 2 })
    expect([fallen.status, fallen.body.code]).to.deep.equal([422, 'occupancy_invalid'])
  })

  it('keep their pools while a night is sold or held, and change them once none is', async () => {
    const suite = house.suiteTypeId ?? ''
    const pools = [{ unitPoolId: house.poolId, quantity: 1 }]
    const bookingId = await makeHold(house, { unitTypeId: suite, from: 10 })
    const refused = await owner.send('PATCH', `unit-types/${suite}`, { pools })
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'in_use'])
    expect(refused.body.errors[0].message).to.contain(house.day(10)).and.to.contain(house.day(11))
    await cancel(bookingId)
    // Its unit stands in the pool that it would lose.
    const standing = await owner.send('PATCH', `unit-types/${suite}`, { pools })
    expect([standing.status, standing.body.code, standing.body.errors[0].message]).to.deep.equal([422, 'in_use', '201'])
    const both = [...pools, { unitPoolId: house.suitePoolId, quantity: 1 }]
    const changed = await owner.send('PATCH', `unit-types/${suite}`, { pools: both })
    expect([changed.status, changed.body.version]).to.deep.equal([200, 2])
    expect(changed.body.pools).to.have.deep.members(both)
    // A stay of it takes from both from now on.
    const later = await makeHold(house, { unitTypeId: suite, from: 10, nights: 1 })
    const [held] = await house.inHouse((trx) =>
      sql<{ held: number }>(trx, `select sum(held)::int as held from pool_night where night = ?`, [house.day(10)]),
    )
    expect(held?.held).to.equal(2)
    expect(await miscounts()).to.deep.equal([])
    await cancel(later)
  })

  it('are sold with the pools that they have, however a change and holds come together', async () => {
    const suite = house.suiteTypeId ?? ''
    for (let round = 0; round < 6; round += 1) {
      const claims = await Promise.all(
        [20, 22, 24].map((from) => quotedClaims(house, { unitTypeId: suite, from: from + round * 6, nights: 1 })),
      )
      const quantity = 1 + (round % 2)
      const pools = [
        { unitPoolId: house.poolId, quantity },
        { unitPoolId: house.suitePoolId, quantity: 1 },
      ]
      const [changed, ...holds] = await Promise.allSettled([
        owner.send('PATCH', `unit-types/${suite}`, { pools }),
        ...claims.map((one) => holdQuote(house, one)),
      ])
      expect(changed?.status === 'fulfilled' && [200, 422].includes(changed.value.status)).to.equal(true)
      for (const held of holds)
        if (held.status === 'fulfilled' && 'bookingId' in held.value) await cancel(held.value.bookingId)
      expect(await miscounts(), `round ${round}`).to.deep.equal([])
    }
    const [left] = await house.inHouse((trx) =>
      sql<{ held: number }>(trx, `select sum(held)::int as held from pool_night`),
    )
    expect(left?.held).to.equal(0)
  })

  it('are archived once nothing of them is ahead, and are sold again when restored', async () => {
    const suite = house.suiteTypeId ?? ''
    const ofUnit = await owner.send('POST', `unit-types/${suite}/archive`)
    expect([ofUnit.status, ofUnit.body.code, ofUnit.body.errors[0]]).to.deep.equal([
      422,
      'in_use',
      { field: 'unit', message: '201' },
    ])
    const made = (await owner.send('POST', 'unit-types', type({ pools: [{ unitPoolId: house.poolId, quantity: 1 }] })))
      .body
    const archived = await owner.send('POST', `unit-types/${made.id}/archive`)
    expect([archived.status, archived.body.status]).to.deep.equal([200, 'archived'])
    expect((await owner.send('POST', `unit-types/${made.id}/archive`)).body).to.deep.equal(archived.body)
    expect((await owner.send('PATCH', `unit-types/${made.id}`, { position: 2 })).body.code).to.equal(
      'invalid_transition',
    )
    const restored = await owner.send('POST', `unit-types/${made.id}/restore`)
    expect([restored.body.status, restored.body.version]).to.deep.equal(['active', 3])
    const events = await house.inHouse((trx) =>
      sql<{ type: string }>(trx, `select type from event where entity->>'id' = ? order by occurred_at`, [made.id]),
    )
    expect(events.map((event) => event.type)).to.deep.equal([
      'unit_type.created',
      'unit_type.archived',
      'unit_type.restored',
    ])
  })

  it('are either archived or held, when both come at once', async () => {
    const pair = await makePair(house)
    const seen = new Set<string>()
    for (let round = 0; round < 8; round += 1) {
      const claims = await quotedClaims(house, { ...pair, from: 60 + round })
      const [archived, held] = await Promise.allSettled([
        owner.send('POST', `unit-types/${pair.unitTypeId}/archive`),
        holdQuote(house, claims),
      ])
      const isArchived = archived.status === 'fulfilled' && archived.value.status === 200
      expect([isArchived, held.status === 'fulfilled'], `round ${round}`).to.be.deep.oneOf([
        [true, false],
        [false, true],
      ])
      seen.add(isArchived ? 'archived' : 'held')
      if (held.status === 'fulfilled') await cancel(held.value.bookingId)
      if (isArchived) await owner.send('POST', `unit-types/${pair.unitTypeId}/restore`)
    }
    expect(await miscounts(), [...seen].join()).to.deep.equal([])
  })

  it('are for those who may change them: a receptionist reads', async () => {
    const desk = await openDesk(world, house, 'receptionist')
    expect((await desk.get(standard())).status).to.equal(200)
    expect((await desk.send('PATCH', standard(), { position: 1 })).status).to.equal(403)
    expect((await desk.send('POST', 'unit-types', type())).status).to.equal(403)
  })
})
