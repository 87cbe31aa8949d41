import { expect } from 'chai'
import { enqueueCloseBlocks } from '../../db/units/blocks/end.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { countersOf, eventsOf } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { arrive, assign, book, drift, place, rollTo, rowsOf, stored, unitsOf } from './stays.ts'

describe('Blocks of units', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 3, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })
  afterEach(async () => {
    expect(await drift(house)).to.deep.equal([])
  })

  const blockOf = (from: number, to: number, more: object = {}) => ({
    propertyId: house.propertyId,
    unitIds: [house.unitIds[0]],
    kind: 'out_of_order',
    reason: 'damage',
    from: house.day(from),
    to: house.day(to),
    ...more,
  })
  const post = (from: number, to: number, more: object = {}, desk = owner) =>
    desk.send('POST', 'unit-blocks', blockOf(from, to, more))
  const make = async (from: number, to: number, more: object = {}): Promise<string> => {
    const { status, body } = await post(from, to, more)
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.id as string
  }
  const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]
  const blocked = async (...days: number[]) =>
    Promise.all(days.map(async (day) => (await countersOf(house, day)).blocked))
  const override = { rules: ['availability'], reason: 'a burst pipe' }
  const conditions = () =>
    house.inHouse((trx) => sql<{ condition: string }>(trx, `select condition from unit order by position`))
  const clean = () => house.inHouse((trx) => sql(trx, `update unit set condition = 'inspected'`))
  const inspections = () =>
    house.inHouse((trx) =>
      sql<{ unitId: string }>(
        trx,
        `select unit_id from housekeeping_task where kind = 'inspection' and status = 'open'`,
      ),
    )

  it('move proposed stays, take capacity on their own nights alone, and a preview of it stores nothing', async () => {
    const stay = await place(house, { from: 6, nights: 2, unitId: house.unitIds[0]! })
    const before = await stored(house)
    const shown = await post(5, 8, { dryRun: true })
    expect(shown.status).to.equal(200)
    expect(shown.body.shortNights).to.deep.equal([])
    expect(shown.body.moves).to.have.length(1)
    expect(await stored(house)).to.deep.equal(before)

    const made = await post(5, 8)
    expect(made.status).to.equal(201)
    expect(made.body).to.include({ phase: 'planned', status: 'open' })
    expect(made.body.moves).to.deep.equal(shown.body.moves)
    expect(await unitsOf(house, stay)).to.deep.equal([shown.body.moves[0].toUnitId])
    expect(await blocked(4, 5, 7, 8)).to.deep.equal([0, 1, 1, 0])
    const read = await owner.get(`unit-blocks/${made.body.id}`)
    expect(read.body.stays).to.have.length(1)
    expect(read.body.stays[0]).to.include({ reservationId: stay, unitId: house.unitIds[0], displaced: false })
    expect(read.body.stays[0].guestName).to.equal('Ana Souza')
    expect(read.body.stays[0].unitIds).to.deep.equal(await unitsOf(house, stay))
    const found = await owner.get(`unit-blocks?from=${house.day(7)}&unitId=${house.unitIds[0]}`)
    expect(found.body.data.map((one: { id: string }) => one.id)).to.deep.equal([made.body.id])
    expect((await owner.get(`unit-blocks?from=${house.day(8)}`)).body.data).to.deep.equal([])
  })

  it('are refused on a sold-out night, and forced by an override that says why; what was forced ends with them', async () => {
    const stays = await Promise.all([1, 2, 3].map(() => book(house, { from: 10, nights: 1 })))
    for (const stay of stays) await assign(house, stay)
    const refused = await post(9, 12)
    expect(codeOf(refused)).to.deep.equal([409, 'sold_out'])
    expect(refused.body.errors).to.deep.equal([{ field: `nights.${house.day(10)}`, message: 'is sold out' }])
    const shown = await post(9, 12, { dryRun: true })
    expect(shown.body.shortNights).to.deep.equal([{ unitPoolId: house.poolId, night: house.day(10), shortage: 1 }])
    const id = await make(9, 12, { override })
    expect(await countersOf(house, 10)).to.include({ sold: 3, blocked: 1, forced: 1 })
    expect(await countersOf(house, 9)).to.include({ blocked: 1, forced: 0 })
    expect(await eventsOf(house, 'inventory.oversold')).to.have.length(1)
    const trail = await house.inHouse((trx) =>
      sqlOne<{ reason: string }>(
        trx,
        `select reason from audit_entry where action = 'unitBlocks.override' and subject_id = ?`,
        [id],
      ),
    )
    expect(trail).to.deep.equal({ reason: override.reason })
    // One of the three is without a unit now, and somebody is told once.
    expect(await eventsOf(house, 'assignment.stranded')).to.have.length(1)
    await world.drain({ kinds: ['inventory.repack'] })
    expect(await eventsOf(house, 'assignment.stranded')).to.have.length(1)
    await owner.send('POST', `unit-blocks/${id}/cancel`, { reason: 'mended already' })
    expect(await countersOf(house, 10)).to.include({ sold: 3, blocked: 0, forced: 0 })
  })

  it('are refused over a promised unit, which an override takes from its guest, and over a guest in the unit whatever is sent', async () => {
    const promised = await place(house, { from: 5, nights: 2, unitId: house.unitIds[0]!, locked: true })
    const refused = await post(6, 9, { kind: 'out_of_service' })
    expect(codeOf(refused)).to.deep.equal([409, 'unit_conflict'])
    expect(refused.body.errors[0].message).to.contain(promised)
    const made = await post(6, 9, { kind: 'out_of_service', override })
    expect(made.body.displaced).to.deep.equal([
      { reservationId: promised, unitId: house.unitIds[0], from: house.day(5), to: house.day(7) },
    ])
    expect(await rowsOf(house, promised)).to.have.length(1)
    expect((await rowsOf(house, promised))[0]).to.include({ status: 'proposed' })
    expect(await unitsOf(house, promised)).not.to.include(house.unitIds[0])

    const guest = await place(house, { from: 0, nights: 3, unitId: house.unitIds[1]! })
    await arrive(house, guest)
    for (const more of [{}, { override }, { dryRun: true }])
      expect(codeOf(await post(2, 4, { unitIds: [house.unitIds[1]], ...more }))).to.deep.equal([409, 'unit_conflict'])
    expect(codeOf(await post(6, 9, { override }))).to.deep.equal([409, 'unit_conflict'])
  })

  it('end early: the nights that remain are given back, those before stay, the units are dirty and looked at', async () => {
    const id = await make(0, 6, { unitIds: house.unitIds.slice(0, 2) })
    expect(codeOf(await owner.send('POST', `unit-blocks/${id}/cancel`))).to.deep.equal([409, 'invalid_transition'])
    await rollTo(house, 1)
    await rollTo(house, 2)
    await clean()
    const { status, body } = await owner.send('POST', `unit-blocks/${id}/end`)
    expect([status, body.status, body.phase, body.to]).to.deep.equal([200, 'ended', 'past', house.day(2)])
    expect(await blocked(0, 1, 2, 5)).to.deep.equal([2, 2, 0, 0])
    expect((await rowsOf(house, id)).map(({ status: of, to }) => [of, to])).to.deep.equal([
      ['ended', house.day(2)],
      ['ended', house.day(2)],
    ])
    expect((await conditions()).map((one) => one.condition)).to.deep.equal(['dirty', 'dirty', 'inspected'])
    expect(await inspections()).to.have.length(2)
    const again = await owner.send('POST', `unit-blocks/${id}/end`)
    expect([again.status, again.body.version]).to.deep.equal([200, body.version])
    expect(codeOf(await owner.send('PATCH', `unit-blocks/${id}`, { note: 'late' }))).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('that end on their first day give this very night back', async () => {
    const id = await make(0, 3)
    await owner.send('POST', `unit-blocks/${id}/end`, { condition: 'inspected' })
    expect(await blocked(0, 1)).to.deep.equal([0, 0])
    expect(await rowsOf(house, id)).to.deep.equal([])
    expect(await inspections()).to.have.length(0)
    const planned = await make(4, 5)
    expect(codeOf(await owner.send('POST', `unit-blocks/${planned}/end`))).to.deep.equal([409, 'invalid_transition'])
  })

  it('change by the difference; a running one changes its end, units and note only', async () => {
    const id = await make(3, 6)
    const patch = (change: object, options = {}) => owner.send('PATCH', `unit-blocks/${id}`, change, options)
    await patch({ from: house.day(4), to: house.day(8), unitIds: [house.unitIds[0], house.unitIds[1]] })
    expect(await blocked(3, 4, 7, 8)).to.deep.equal([0, 2, 2, 0])
    await patch({ kind: 'out_of_service' })
    expect(await blocked(4, 7)).to.deep.equal([0, 0])
    await patch({ kind: 'out_of_order', from: house.day(0) })
    expect(await blocked(0, 7)).to.deep.equal([2, 2])
    await rollTo(house, 1)
    await clean()
    for (const change of [{ kind: 'out_of_service' }, { from: house.day(2) }, { reason: 'inspection' }])
      expect(codeOf(await patch(change)), JSON.stringify(change)).to.deep.equal([422, 'block_begun'])
    expect(codeOf(await patch({ to: house.day(1) }))).to.deep.equal([422, 'date_out_of_range'])
    const { version } = (await owner.get(`unit-blocks/${id}`)).body
    expect(codeOf(await patch({ note: 'x' }, { headers: { 'if-match': `"${version - 1}"` } }))).to.deep.equal([
      409,
      'version_conflict',
    ])
    const done = await patch({ to: house.day(3), unitIds: [house.unitIds[1], house.unitIds[2]], note: 'paint' })
    expect([done.status, done.body.note]).to.deep.equal([200, 'paint'])
    expect(await blocked(0, 1, 2, 3)).to.deep.equal([2, 2, 2, 0])
    expect((await rowsOf(house, id)).map(({ status, from, to }) => [status, from, to])).to.deep.equal([
      ['ended', house.day(0), house.day(1)],
      ['blocked', house.day(0), house.day(3)],
      ['blocked', house.day(1), house.day(3)],
    ])
    expect((await conditions()).map((one) => one.condition)).to.deep.equal(['dirty', 'inspected', 'inspected'])
    expect((await inspections()).map((one) => one.unitId)).to.deep.equal([house.unitIds[0]])
  })

  it('end by themselves when the date rolls past them, once', async () => {
    const id = await make(0, 1)
    const longer = await make(0, 2, { unitIds: [house.unitIds[1]] })
    await rollTo(house, 1)
    for (let time = 0; time < 2; time += 1) {
      await house.inHouse((trx) => enqueueCloseBlocks(trx, house.propertyId, house.day(0)))
      await world.drain({ kinds: ['inventory.close-blocks'] })
    }
    expect((await owner.get(`unit-blocks/${id}`)).body.status).to.equal('ended')
    expect((await owner.get(`unit-blocks/${longer}`)).body).to.include({ status: 'open', phase: 'running' })
    expect(await blocked(0, 1)).to.deep.equal([2, 1])
    expect(await eventsOf(house, 'unit_block.ended')).to.have.length(1)
    expect((await inspections()).map((one) => one.unitId)).to.deep.equal([house.unitIds[0]])
  })

  it('take all of their units or none, from the business date on, and units of their own house', async () => {
    const other = await makeHouse({ units: 1 })
    const second = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const before = await stored(house)
    for (const [more, code] of [
      [{ unitIds: [house.unitIds[0], other.unitIds[0]] }, 'unit_not_in_property'],
      [{ unitIds: [house.unitIds[0], second.unitIds[0]] }, 'unit_not_in_property'],
      [{ from: house.day(-1) }, 'date_out_of_range'],
      [{ to: house.day(2_000) }, 'date_out_of_range'],
    ] as const)
      expect(codeOf(await post(3, 5, more)), code).to.deep.equal([422, code])
    expect((await post(5, 5)).status).to.equal(400)
    expect(await stored(house)).to.deep.equal(before)
    await place(house, { from: 3, nights: 2, unitId: house.unitIds[1]!, locked: true })
    expect(codeOf(await post(3, 5, { kind: 'out_of_service', unitIds: house.unitIds }))).to.deep.equal([
      409,
      'unit_conflict',
    ])
    expect((await owner.get('unit-assignments?status=blocked')).body.data).to.deep.equal([])
  })

  it('reach beyond the horizon, whose nights come with them', async () => {
    const id = await make(725, 740)
    expect(await blocked(730)).to.deep.equal([1])
    expect((await rowsOf(house, id))[0]).to.include({ to: house.day(740) })
    expect((await owner.send('POST', `unit-blocks/${id}/cancel`)).status).to.equal(200)
    expect(await blocked(730)).to.deep.equal([0])
  })

  it('are placed by who may: of a receptionist out of service alone, no override of his, other houses hidden', async () => {
    const receptionist = await openDesk(world, house, 'receptionist')
    const maintenance = await openDesk(world, house, 'maintenance')
    const housekeeper = await openDesk(world, house, 'housekeeper')
    const service = { kind: 'out_of_service' }
    expect((await post(3, 4, {}, receptionist)).status).to.equal(403)
    expect((await post(3, 4, { ...service, override }, receptionist)).status).to.equal(403)
    const { body } = await post(3, 4, service, receptionist)
    expect((await receptionist.send('PATCH', `unit-blocks/${body.id}`, { note: 'x' })).status).to.equal(403)
    expect((await post(3, 4, { unitIds: [house.unitIds[1]] }, maintenance)).status).to.equal(201)
    expect((await post(3, 4, { unitIds: [house.unitIds[2]], override }, maintenance)).status).to.equal(403)
    await place(house, { from: 6, nights: 1, unitId: house.unitIds[0]! })
    const id = await make(6, 7)
    const read = await housekeeper.get(`unit-blocks/${id}`)
    expect(read.body.stays).to.have.length(1)
    expect(read.body.stays[0]).not.to.have.property('guestName')

    const second = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const limited = await openDesk(world, house, 'manager', [second.propertyId])
    expect((await limited.get('unit-blocks')).body.data).to.deep.equal([])
    expect((await limited.get(`unit-blocks/${id}`)).status).to.equal(404)
    for (const [method, path] of [
      ['PATCH', `unit-blocks/${id}`],
      ['POST', `unit-blocks/${id}/end`],
      ['POST', `unit-blocks/${id}/cancel`],
    ] as const)
      expect((await limited.send(method, path)).status).to.equal(404)
    expect((await post(3, 4, {}, limited)).status).to.equal(403)
    const stranger = await openDesk(world, await makeHouse({ units: 1 }), 'owner')
    expect((await stranger.get(`unit-blocks/${id}`)).status).to.equal(404)
  })

  it('race for a unit with one another and with stays: one has it, and the counters are right', async () => {
    const stays = await Promise.all([1, 2].map(() => book(house, { from: 3, nights: 3 })))
    const replies = await Promise.all([
      ...[3, 4, 5].map((from) => post(from, from + 3)),
      // A job that has waited too long for its locks is repeated.
      ...stays.map((stay) => until(() => assign(house, stay))),
    ])
    const placed = replies.flatMap((reply) => (typeof reply === 'string' ? [] : [reply.status]))
    expect(placed.filter((status) => status === 201)).to.have.length(1)
    expect(placed.filter((status) => status === 409)).to.have.length(2)
    for (const stay of stays) {
      expect(await unitsOf(house, stay)).to.have.length(1)
      expect(await unitsOf(house, stay)).not.to.include(house.unitIds[0])
    }
  })
})
