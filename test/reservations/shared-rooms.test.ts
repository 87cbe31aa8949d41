import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { enqueueTasks } from '../../db/units/index.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { forgetLimits } from '../auth/support.ts'
import { setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { countersOf, miscounted } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { rowsOf } from '../units/stays.ts'

describe('A dormitory that is sold by the bed, and as a whole', () => {
  const world = useWorld()
  let house: House
  let desk: Desk
  let bed: string
  let whole: string
  let poolId: string
  const override = { rules: ['early_check_in', 'unit_condition'], reason: 'the guest waits' }

  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeHouse({ units: 1, suite: true, deposit: null })
    desk = await openDesk(world, house, 'owner')
    const { propertyId } = house
    const type = {
      propertyId,
      kind: 'shared' as const,
      baseOccupancy: 1,
      maxAdults: 4,
      maxChildren: 0,
      maxOccupancy: 4,
    }
    await house.inHouse(async (trx) => {
      const ofBed = await createUnitType(trx, { ...type, code: 'BED', name: { 'pt-BR': 'Cama' } })
      poolId = ofBed.pools[0]?.poolId ?? ''
      const pools = [{ poolId, quantity: 4 }]
      const ofWhole = await createUnitType(trx, { ...type, code: 'DORM', name: { 'pt-BR': 'Dormitório' }, pools })
      await createUnits(trx, { propertyId, unitTypeId: ofBed.id, names: ['A', 'B', 'C', 'D'] })
      ;[bed, whole] = [ofBed.id, ofWhole.id]
      await sql(
        trx,
        `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, standard_amount) select ?, unnest(?::uuid[]), 5000`,
        [house.ratePlanId, [bed, whole]],
      )
    })
  })
  afterEach(async () => {
    expect(await miscounted(house)).to.deep.equal([])
  })
  const send = (id: string, verb: string, body: object = {}) => desk.send('POST', `reservations/${id}/${verb}`, body)
  const book = async (unitTypeId: string, from: number, to: number): Promise<string> => {
    const room = { unitTypeId, ratePlanId: house.ratePlanId, arrival: house.day(from), departure: house.day(to) }
    const { status, body } = await desk.send('POST', 'bookings', {
      propertyId: house.propertyId,
      source: 'phone',
      booker: { firstName: 'Bia' },
      rooms: [{ ...room, adults: 1, childrenAges: [] }],
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.reservations[0].id as string
  }

  it('keeps a guest who is in all its beds from being sold one of them, while the others would be sold to nobody', async () => {
    const stay = await book(whole, 0, 3)
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    for (const allowMove of [false, true]) {
      const changes = { unitTypeId: bed, from: house.day(1), allowMove }
      const { body: proposal } = await send(stay, 'amendments', { changes })
      expect(proposal).to.include({ unit: 'conflict', feasible: false })
      const refused = await send(stay, `amendments/${proposal.amendmentId}/accept`)
      expect([refused.status, refused.body.code]).to.deep.equal([409, 'unit_conflict'])
    }
    expect((await countersOf(house, 1, poolId)).sold).to.equal(4)
    expect((await rowsOf(house, stay)).map(({ status, to }) => [status, to])).to.deep.equal(
      Array.from({ length: 4 }, () => ['occupied', house.day(3)]),
    )
  })

  it('gives a coming guest of all beds one of them where the stay is changed so, and sells the others', async () => {
    const stay = await book(whole, 5, 7)
    await world.drain({ kinds: ['inventory.assign'] })
    expect(await rowsOf(house, stay)).to.have.lengthOf(4)
    const { body: proposal } = await send(stay, 'amendments', { changes: { unitTypeId: bed } })
    expect((await send(stay, `amendments/${proposal.amendmentId}/accept`)).status).to.equal(200)
    const others = [await book(bed, 5, 7), await book(bed, 5, 7), await book(bed, 6, 7)]
    await world.drain({ kinds: ['inventory.assign'] })
    const beds = [stay, ...others].map(async (id) => (await rowsOf(house, id)).map(({ unitId }) => unitId))
    expect(new Set((await Promise.all(beds)).flat()).size).to.equal(4)
  })

  it('has all its beds again for a guest whose check-out is taken back, with those that were to be added', async () => {
    const stay = await book(bed, 0, 3)
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    const { body: proposal } = await send(stay, 'amendments', { changes: { unitTypeId: whole, from: house.day(1) } })
    expect((await send(stay, `amendments/${proposal.amendmentId}/accept`)).status).to.equal(200)
    const days = `from=${house.day(0)}&to=${house.day(3)}`
    const tape = await desk.get(`unit-calendar?propertyId=${house.propertyId}&${days}`)
    const lacking = (tape.body.unassigned as { reservationId: string }[]).map((one) => one.reservationId)
    expect(lacking, 'three beds short').to.deep.equal([stay])
    const beds = async () => {
      await world.drain({ kinds: ['inventory.assign'] })
      return (await rowsOf(house, stay)).map(({ status, from, to }) => [status, from, to])
    }
    const [now, later] = [
      ['occupied', house.day(0), house.day(3)],
      ['proposed', house.day(1), house.day(3)],
    ]
    expect(await beds()).to.have.deep.members([now, later, later, later])
    const left = await send(stay, 'check-out', { early: true, override: { rules: ['balance'], reason: 'pays later' } })
    expect(left.status, JSON.stringify(left.body)).to.equal(200)
    expect((await send(stay, 'revert-check-out', { reason: 'only a walk' })).status).to.equal(200)
    expect(await beds()).to.have.deep.members([now, later, later, later])
  })

  it('takes a check-out back into a unit for the nights that are sold of it, and another one follows as before', async () => {
    const suite = house.suiteTypeId
    const stay = await book(house.unitTypeId, 0, 3)
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    const changes = { unitTypeId: suite, from: house.day(1), allowMove: true }
    const { body: proposal } = await send(stay, 'amendments', { changes })
    expect((await send(stay, `amendments/${proposal.amendmentId}/accept`)).status).to.equal(200)
    const stages = async () => {
      await world.drain({ kinds: ['inventory.assign'] })
      return (await rowsOf(house, stay)).map(({ status, from, to }) => [status, from, to])
    }
    const both = [
      ['occupied', house.day(0), house.day(1)],
      ['proposed', house.day(1), house.day(3)],
    ]
    expect(await stages()).to.have.deep.members(both)
    const next = await book(house.unitTypeId, 1, 3)
    await send(stay, 'check-out', { early: true, override: { rules: ['balance'], reason: 'pays later' } })
    expect((await send(stay, 'revert-check-out', { reason: 'only a walk' })).status).to.equal(200)
    expect(await stages()).to.have.deep.members(both)
    await world.drain({ kinds: ['inventory.assign'] })
    expect((await rowsOf(house, next)).map(({ unitId }) => unitId)).to.deep.equal(house.unitIds)
  })

  const grow = async (id: string, changes: object) => {
    const { body: proposal } = await send(id, 'amendments', { changes })
    const { status, body } = await send(id, `amendments/${proposal.amendmentId}/accept`)
    return [status, body.code]
  }
  const beds = async (id: string) => (await rowsOf(house, id)).map(({ status, from, to }) => [status, from, to])
  const unitsNow = async () =>
    (
      (await desk.get(`units?propertyId=${house.propertyId}&unitTypeId=${bed}`)).body.data as {
        occupancy: string
        condition: string
      }[]
    ).map((unit) => [unit.occupancy, unit.condition])
  const departures = async () =>
    (
      (await desk.get(`housekeeping/tasks?propertyId=${house.propertyId}`)).body.data as {
        kind: string
        status: string
      }[]
    ).filter((task) => task.kind === 'departure' && task.status === 'open').length
  const leave = (id: string) =>
    send(id, 'check-out', { early: true, override: { rules: ['balance'], reason: 'pays later' } })
  /** A new day begins, and what it asks of the units is done. */
  const begin = async (day: number) => {
    await setDay(house, day)
    await house.inHouse((trx) => enqueueTasks(trx, house.propertyId, house.day(day)))
    await world.drain({ kinds: ['inventory.generate-tasks'] })
  }

  it('is taken in at once by a guest of one bed who has it all from tonight, and given back but for that bed', async () => {
    const stay = await book(bed, 0, 3)
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    expect(await grow(stay, { unitTypeId: whole })).to.deep.equal([200, undefined])
    const all = Array.from({ length: 4 }, () => ['occupied', house.day(0), house.day(3)])
    expect(await beds(stay)).to.deep.equal(all)
    expect(new Set((await unitsNow()).map(([occupancy]) => occupancy))).to.deep.equal(new Set(['occupied']))
    const own = (await rowsOf(house, stay)).map(({ unitId }) => unitId)
    const block = { unitIds: [own[3]], kind: 'out_of_order', reason: 'damage', from: house.day(0), to: house.day(1) }
    const blocked = await desk.send('POST', 'unit-blocks', { propertyId: house.propertyId, ...block })
    expect(blocked.status, JSON.stringify(blocked.body)).to.equal(409)
    expect(await leave(stay).then(({ status }) => status)).to.equal(200)
    expect(await unitsNow()).to.deep.equal(all.map(() => ['vacant', 'dirty']))
    expect(await departures()).to.equal(4)
  })

  it('is given back but for the bed that the guest had before, where the stay shrinks on that day', async () => {
    const stay = await book(bed, 0, 3)
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    const [{ unitId: first } = { unitId: '' }] = await rowsOf(house, stay)
    await begin(1)
    expect(await grow(stay, { unitTypeId: whole, from: house.day(1) })).to.deep.equal([200, undefined])
    expect(await grow(stay, { unitTypeId: bed, from: house.day(2) })).to.deep.equal([409, 'unit_conflict'])
    expect(await grow(stay, { unitTypeId: bed, from: house.day(1) })).to.deep.equal([200, undefined])
    const kept = (await rowsOf(house, stay)).filter(({ status }) => status === 'occupied')
    expect(kept.map(({ unitId, to }) => [unitId, to])).to.deep.equal([[first, house.day(3)]])
    expect(await departures()).to.equal(3)
    for (const id of [await book(bed, 1, 2), await book(bed, 1, 2), await book(bed, 1, 2)])
      expect((await send(id, 'check-in', { override })).status).to.equal(200)
  })

  it('is taken in with the day from which it is sold, but for a bed whose guest has not left; that one by a move', async () => {
    const other = await book(bed, 0, 1)
    expect((await send(other, 'check-in', { override })).status).to.equal(200)
    const stay = await book(bed, 0, 3)
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    expect(await grow(stay, { unitTypeId: whole, from: house.day(1) })).to.deep.equal([200, undefined])
    await world.drain({ kinds: ['inventory.assign'] })
    expect((await beds(stay)).filter(([status]) => status === 'occupied')).to.have.lengthOf(1)
    await begin(1)
    const waiting = async () => (await rowsOf(house, stay)).filter(({ status }) => status !== 'occupied')
    const [last] = await waiting()
    expect(await waiting()).to.have.lengthOf(1)
    const move = () => send(stay, 'move', { unitId: last?.unitId, reason: 'operational' })
    expect([(await move()).status, (await move()).body.code]).to.deep.equal([422, 'unit_occupied'])
    expect((await leave(other)).status).to.equal(200)
    expect((await move()).status).to.equal(200)
    expect(await waiting()).to.deep.equal([])
    expect((await rowsOf(house, stay)).filter(({ status }) => status === 'occupied')).to.have.lengthOf(4)
  })

  it('is left dirty whole, also where nothing said that its other beds were taken', async () => {
    const stay = await book(bed, 0, 3)
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    expect(await grow(stay, { unitTypeId: whole, from: house.day(1) })).to.deep.equal([200, undefined])
    await world.drain({ kinds: ['inventory.assign'] })
    await setDay(house, 2)
    expect((await leave(stay)).status).to.equal(200)
    expect((await unitsNow()).map(([, condition]) => condition)).to.deep.equal(['dirty', 'dirty', 'dirty', 'dirty'])
    expect(await departures()).to.equal(4)
  })
})
