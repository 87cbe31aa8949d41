import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { promiseUnit, withdrawPromise } from '../../db/reservations/unit-lock.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf, makeHold } from '../support/stay.ts'
import type { StayOptions } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { arrive, assign, book, leave, place, rollTo, rowsOf, unitsOf } from './stays.ts'

describe('Units of stays', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let first: string
  let second: string
  beforeEach(async () => {
    house = await makeHouse({ units: 4, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    owner = await openDesk(world, house, 'owner')
    ;[first = '', second = ''] = house.unitIds
    await forgetLimits(world)
  })

  const swap = (reservationIds: string[], more: object = {}, desk = owner) =>
    desk.send('POST', 'unit-assignments/swap', { reservationIds, ...more })
  const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]
  const shown = async (id: string) =>
    (await rowsOf(house, id)).map(({ status, unitId, from, to }) => [status, house.unitIds.indexOf(unitId), from, to])
  const soldOut = /sold_out|not_available/
  const refusal = (options: StayOptions) => makeHold(house, options).catch((error: { code: string }) => error.code)
  const conditions = async () =>
    (
      await house.inHouse((trx) =>
        sql<{ condition: string }>(trx, `select condition from unit where unit_type_id = ? order by position`, [
          house.unitTypeId,
        ]),
      )
    ).map((one) => one.condition)

  it('are exchanged where each is in the other’s way, and stay so: the constraint looks when both have moved', async () => {
    const long = await place(house, { from: 5, nights: 6, unitId: first })
    const short = await place(house, { from: 6, nights: 3, unitId: second, locked: true })
    const after = await place(house, { from: 9, nights: 2, unitId: second })
    const { status, body } = await swap([long, short])
    expect(status, JSON.stringify(body)).to.equal(200)
    const day = house.day
    // The unit of the shorter stay is another's afterwards: the longer goes back to its own.
    expect(await shown(long)).to.deep.equal([
      ['proposed', 0, day(5), day(6)],
      ['proposed', 0, day(9), day(11)],
      ['locked', 1, day(6), day(9)],
    ])
    expect(await shown(short)).to.deep.equal([['locked', 0, day(6), day(9)]])
    expect(await shown(after)).to.deep.equal([['proposed', 1, day(9), day(11)]])
    expect(body.data).to.have.length(4)
    expect((await eventsOf(house, 'assignment.swapped'))[0]?.data).to.deep.include({
      reservationIds: [long, short],
      from: day(6),
      to: day(9),
    })
    await world.drain({ kinds: ['inventory.repack', 'inventory.assign'] })
    expect(await shown(short)).to.deep.equal([['locked', 0, day(6), day(9)]])
  })

  it('are kept to the end by who stays longer, where they are free', async () => {
    const long = await place(house, { from: 5, nights: 6, unitId: first })
    const short = await place(house, { from: 5, nights: 3, unitId: second })
    expect((await swap([long, short], { from: house.day(6) })).status).to.equal(200)
    expect(await shown(long)).to.deep.equal([
      ['proposed', 0, house.day(5), house.day(6)],
      ['locked', 1, house.day(6), house.day(11)],
    ])
  })

  it('are not exchanged for those of another type, without a unit, without a common night, or by whom the house is hidden from', async () => {
    const stay = await place(house, { from: 5, nights: 2, unitId: first })
    const suite = await place(house, { from: 5, nights: 2, unitTypeId: house.suiteTypeId! })
    const later = await place(house, { from: 7, nights: 2, unitId: first })
    const without = await book(house, { from: 5, nights: 2 })
    const peer = await place(house, { from: 5, nights: 2, unitId: second })
    const elsewhere = await makeHouse({ tenantId: house.tenantId, units: 1, deposit: null })
    const foreign = await place(elsewhere, { from: 5 })
    for (const [pair, more, code] of [
      [[stay, suite], {}, [422, 'unit_type_mismatch']],
      [[stay, later], {}, [422, 'date_out_of_range']],
      [[stay, peer], { from: house.day(4) }, [422, 'date_out_of_range']],
      [[stay, without], {}, [422, 'unit_not_assigned']],
      [[stay, foreign], {}, [422, 'unit_type_mismatch']],
      [[stay, house.propertyId], {}, [404, 'not_found']],
      [[stay, stay], {}, [400, 'validation_failed']],
    ] as const)
      expect(codeOf(await swap([...pair], more)), String(code)).to.deep.equal(code)
    const limited = await openDesk(world, house, 'receptionist', [elsewhere.propertyId])
    expect((await swap([stay, peer], {}, limited)).status).to.equal(404)
    expect((await limited.get('unit-assignments')).body.data).to.have.length(1)
    expect((await swap([stay, peer], {}, await openDesk(world, house, 'housekeeper'))).status).to.equal(403)
    const listed = await owner.get(`unit-assignments?reservationId=${stay}&from=${house.day(6)}&to=${house.day(7)}`)
    expect(listed.body.data).to.have.length(1)
    expect(listed.body.data[0]).to.include({ unitId: first, unitName: '101', status: 'proposed' })
  })

  it('of guests in house are exchanged today, and both become dirty', async () => {
    const one = await place(house, { from: 0, nights: 3, unitId: first })
    const other = await place(house, { from: 0, nights: 2, unitId: second })
    await arrive(house, one)
    await arrive(house, other)
    await rollTo(house, 1)
    await house.inHouse((trx) => sql(trx, `update unit set condition = 'inspected'`))
    expect((await swap([one, other])).status).to.equal(200)
    const { day } = house
    expect(await shown(one)).to.deep.equal([
      ['ended', 0, day(0), day(1)],
      ['occupied', 1, day(1), day(3)],
    ])
    expect(await shown(other)).to.deep.equal([
      ['occupied', 0, day(1), day(2)],
      ['ended', 1, day(0), day(1)],
    ])
    expect(await conditions()).to.deep.equal(['dirty', 'dirty', 'inspected', 'inspected'])
    const arriving = await place(house, { from: 2, nights: 1, unitId: house.unitIds[2]! })
    expect(codeOf(await swap([one, arriving]))).to.deep.equal([422, 'date_out_of_range'])
  })

  it('are exchanged by many at once without a loss, an overlap or a deadlock', async () => {
    const stays: string[] = []
    for (const unitId of house.unitIds) stays.push(await place(house, { from: 5, nights: 4, unitId }))
    const before = await deadlocks()
    const pairs = stays.flatMap((one, index) => stays.slice(index + 1).map((other) => [one, other]))
    const replies = await Promise.all([...pairs, ...pairs.map((pair) => pair.toReversed())].map((pair) => swap(pair)))
    // A caller that has waited for too long is asked to repeat; anything else would be a mistake.
    const codes = replies.map((reply) => String(reply.body.code ?? reply.status))
    expect(codes.filter((code) => code !== '200' && code !== 'inventory_contended')).to.deep.equal([])
    expect(codes).to.include('200')
    const units = await Promise.all(stays.map((stay) => unitsOf(house, stay)))
    expect(units.flat().sort()).to.deep.equal(house.unitIds.toSorted())
    expect(await deadlocks()).to.equal(before)
  })

  it('are given to the next guest the evening of a day on which one came and left', async () => {
    const [day, unitId] = [house.day, first]
    const one = await place(house, { from: 0, nights: 2, unitId })
    await arrive(house, one)
    await leave(house, one)
    expect(await shown(one)).to.deep.equal([['ended', 0, day(0), day(1)]])
    expect((await conditions())[0]).to.equal('dirty')
    const departures = await house.inHouse((trx) =>
      sql(trx, `select 1 from housekeeping_task where kind = 'departure' and unit_id = ? and status = 'open'`, [
        unitId,
      ]),
    )
    expect(departures).to.have.length(1)
    const next = await place(house, { from: 0, nights: 1, unitId })
    await arrive(house, next)
    expect(await shown(next)).to.deep.equal([['occupied', 0, day(0), day(1)]])
    expect((await eventsOf(house, 'unit.occupancy_changed')).map(({ data }) => data.occupancy)).to.deep.equal([
      'occupied',
      'vacant',
      'occupied',
    ])
    const [, left] = await eventsOf(house, 'unit.occupancy_changed')
    expect(left?.data).to.include({ unitId, name: '101', condition: 'dirty', ready: false })
  })

  it('are given to who arrives on another’s departure day, once that one has left', async () => {
    const leaving = await place(house, { from: 0, nights: 1, unitId: first })
    const arriving = await place(house, { from: 1, nights: 1, unitId: first })
    await arrive(house, leaving)
    await rollTo(house, 1)
    const refused = await arrive(house, arriving).then(
      () => null,
      (error: { code: string; errors: { field: string }[] }) => [error.code, error.errors[0]?.field],
    )
    expect(refused).to.deep.equal(['transition_blocked', 'blockers.unit_occupied'])
    await leave(house, leaving)
    await arrive(house, arriving)
    expect(await shown(arriving)).to.deep.equal([['occupied', 0, house.day(1), house.day(2)]])
  })

  it('are not looked for where a guest should have left: such a unit is not free tonight', async () => {
    const overdue = await place(house, { from: 0, nights: 1, unitId: first })
    await arrive(house, overdue)
    await rollTo(house, 1)
    await rollTo(house, 2)
    const stay = await book(house, { from: 2, nights: 1 })
    await assign(house, stay)
    expect(await unitsOf(house, stay)).to.deep.equal([second])
  })

  it('that a guest asks for are promised: proposed stays give way, promised ones do not, and nothing moves it', async () => {
    const ask = (stay: string, unitId: string) =>
      house
        .inHouse((trx) => promiseUnit(trx, stay, unitId))
        .then(
          () => 'promised',
          (error: { code: string }) => error.code,
        )
    const other = await place(house, { from: 5, nights: 3, unitId: first })
    const stay = await place(house, { from: 6, nights: 3, unitId: second })
    expect(await ask(stay, first)).to.equal('promised')
    expect(await shown(stay)).to.deep.equal([['locked', 0, house.day(6), house.day(9)]])
    expect((await shown(other)).map(([status, index]) => [status, index === 0])).to.deep.equal([['proposed', false]])
    expect(await ask(stay, first)).to.equal('promised')
    expect(await ask(other, first)).to.equal('unit_conflict')
    const suite = await place(house, { from: 6, nights: 1, unitTypeId: house.suiteTypeId! })
    expect(await ask(suite, second)).to.equal('unit_type_mismatch')
    expect(await ask(stay, house.propertyId)).to.equal('unit_not_in_property')
    const both = await Promise.all([ask(other, second), ask(await place(house, { from: 7, nights: 2 }), second)])
    expect(both.toSorted()).to.deep.equal(['promised', 'unit_conflict'])
    await house.inHouse((trx) => withdrawPromise(trx, stay))
    expect((await shown(stay))[0]?.[0]).to.equal('proposed')
  })

  it('of a dormitory are beds for each, or all of them for who takes it whole', async () => {
    const { propertyId } = house
    const type = {
      propertyId,
      kind: 'shared' as const,
      baseOccupancy: 1,
      maxAdults: 8,
      maxChildren: 0,
      maxOccupancy: 8,
    }
    const [bed, whole] = await house.inHouse(async (trx) => {
      const ofBed = await createUnitType(trx, { ...type, code: 'BED', name: { 'pt-BR': 'Cama' } })
      const poolId = ofBed.pools[0]?.poolId ?? ''
      const ofWhole = await createUnitType(trx, {
        ...type,
        code: 'DORM',
        name: { 'pt-BR': 'Dormitório' },
        pools: [{ poolId, quantity: 8 }],
      })
      const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']
      await createUnits(trx, { propertyId, unitTypeId: ofBed.id, names })
      for (const unitTypeId of [ofBed.id, ofWhole.id])
        await sql(
          trx,
          `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, standard_amount) values (?, ?, 5000)`,
          [house.ratePlanId, unitTypeId],
        )
      return [ofBed.id, ofWhole.id]
    })
    const entire = await book(house, { from: 5, nights: 2, unitTypeId: whole })
    await assign(house, entire)
    expect(new Set(await unitsOf(house, entire)).size).to.equal(8)
    for (const taken of [bed, whole]) expect(await refusal({ from: 6, nights: 1, unitTypeId: taken })).to.match(soldOut)
    const sleepers = await Promise.all(
      Array.from({ length: 7 }, () => book(house, { from: 7, nights: 1, unitTypeId: bed })),
    )
    const given = await Promise.all(sleepers.map((stay) => assign(house, stay)))
    expect(given).to.deep.equal(Array.from({ length: 7 }, () => 'assigned'))
    expect(new Set((await Promise.all(sleepers.map((stay) => unitsOf(house, stay)))).flat()).size).to.equal(7)
    expect(await refusal({ from: 7, nights: 1, unitTypeId: whole })).to.match(soldOut)
  })

  it('of a suite are a room of each of its pools, or none for it while one of them is sold', async () => {
    const { propertyId } = house
    const apartment = await house.inHouse(async (trx) => {
      const { id } = await createUnitType(trx, {
        propertyId,
        code: 'APT',
        name: { 'pt-BR': 'Apartamento' },
        kind: 'private',
        baseOccupancy: 2,
        maxAdults: 4,
        maxChildren: 0,
        maxOccupancy: 4,
        pools: [
          { poolId: house.poolId, quantity: 1 },
          { poolId: house.suitePoolId!, quantity: 1 },
        ],
      })
      await sql(
        trx,
        `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, standard_amount) values (?, ?, 90000)`,
        [house.ratePlanId, id],
      )
      return id
    })
    const stay = await book(house, { from: 5, nights: 2, unitTypeId: apartment })
    await assign(house, stay)
    const units = await unitsOf(house, stay)
    expect(units).to.have.length(2)
    expect(units.filter((unitId) => house.unitIds.includes(unitId))).to.have.length(1)
    expect(await refusal({ from: 5, nights: 1, unitTypeId: house.suiteTypeId! })).to.match(soldOut)
    await book(house, { from: 5, nights: 2 })
    await book(house, { from: 10, nights: 1, unitTypeId: house.suiteTypeId! })
    expect(await refusal({ from: 9, nights: 2, unitTypeId: apartment })).to.match(soldOut)
    expect(codeOf(await swap([stay, await place(house, { from: 5, nights: 2 })]))).to.deep.equal([
      422,
      'unit_type_mismatch',
    ])
  })
})
