import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { enqueueCloseBlocks } from '../../db/units/blocks/end.ts'
import { fromDatabase } from '../../db/lib/errors.ts'
import { settle } from '../../db/units/assignments/write.ts'
import type { Change } from '../../db/units/assignments/write.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { assignUnit } from '../../jobs/reservations.ts'
import { closeBlocks, repack, requestRepacks } from '../../jobs/units.ts'
import { processors } from '../../workers/processors.ts'
import { forgetLimits } from '../auth/support.ts'
import { deliver, dispatch, handed } from '../jobs/deliver.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { assign, book, place, rollTo, stored, unitsOf } from './stays.ts'

describe('Repacking', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 3, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })

  const unit = (index: number) => house.unitIds[index] ?? ''
  const at = async (stay: string) => (await unitsOf(house, stay)).map((unitId) => house.unitIds.indexOf(unitId))
  const send = (more: object = {}, desk = owner) =>
    desk.send('POST', 'unit-assignments/repack', { propertyId: house.propertyId, ...more })
  const told = async () => (await eventsOf(house, 'assignment.stranded')).length
  const setLocked = (stay: string, status: 'locked' | 'proposed') =>
    house.inHouse((trx) => sql(trx, `update unit_assignment set status = ? where reservation_id = ?`, [status, stay]))

  /** A stay that fits only where three give way to one another; two promised stays are in between. */
  const chain = async () => {
    const [a, b] = [
      await place(house, { from: 10, nights: 3, unitId: unit(0) }),
      await place(house, { from: 11, nights: 3, unitId: unit(1) }),
    ]
    const locked = [
      await place(house, { from: 9, nights: 1, unitId: unit(1), locked: true }),
      await place(house, { from: 9, nights: 2, unitId: unit(2), locked: true }),
    ]
    return { a, b, locked, x: await book(house, { from: 9, nights: 3 }) }
  }

  it('finds room by a chain of three, and never moves what is promised', async () => {
    const { a, b, locked, x } = await chain()
    expect(await assign(house, x)).to.equal('assigned')
    expect([await at(x), await at(a), await at(b)]).to.deep.equal([[0], [1], [2]])
    expect([await at(locked[0]!), await at(locked[1]!)]).to.deep.equal([[1], [2]])
    expect(await told()).to.equal(0)
  })

  it('lets three go round in a circle at once, and nobody into a unit that is not given up', async () => {
    const stays: string[] = []
    for (const index of [0, 1, 2]) stays.push(await place(house, { from: 10, nights: 3, unitId: unit(index) }))
    const [from, to] = [house.day(10), house.day(13)]
    const rows = await house.inHouse((trx) =>
      sql<{ id: string; reservationId: string }>(
        trx,
        `select id, reservation_id from unit_assignment where status = 'proposed'`,
      ),
    )
    const change = (index: number, target: number): Change => ({
      assignmentId: rows.find((row) => row.reservationId === stays[index])?.id ?? '',
      reservationId: stays[index] ?? '',
      poolId: house.poolId,
      from,
      to,
      fromUnitId: unit(index),
      toUnitId: unit(target),
    })
    await house.inHouse((trx) => settle(trx, [change(0, 1), change(1, 2), change(2, 0)]))
    expect(await Promise.all(stays.map(at))).to.deep.equal([[1], [2], [0]])
    const error = await house
      .inHouse((trx) => settle(trx, [change(0, 0), change(1, 2)]))
      .catch((thrown: unknown) => thrown)
    expect(fromDatabase(error)).to.include({ code: 'unit_conflict' })
    expect(await Promise.all(stays.map(at))).to.deep.equal([[1], [2], [0]])
  })

  it('is shown before it is done, for the pools and days that are asked for, and done twice changes nothing more', async () => {
    const { a, b, x } = await chain()
    const before = await stored(house)
    const shown = await send({ from: house.day(9), to: house.day(20), dryRun: true })
    expect(shown.status, JSON.stringify(shown.body)).to.equal(200)
    expect(shown.body).to.deep.equal({
      moves: [
        { reservationId: a, fromUnitId: unit(0), toUnitId: unit(1) },
        { reservationId: b, fromUnitId: unit(1), toUnitId: unit(2) },
        { reservationId: x, fromUnitId: null, toUnitId: unit(0) },
      ],
      stranded: [],
    })
    expect(await stored(house)).to.deep.equal(before)
    // The others are not of these days, and stay: there is no room.
    expect((await send({ from: house.day(8), to: house.day(10), dryRun: true })).body.stranded).to.have.length(1)
    expect((await send({ unitPoolIds: [house.poolId], dryRun: true })).body).to.deep.equal(shown.body)
    expect((await send({ unitPoolIds: [house.propertyId] })).status).to.equal(422)
    expect((await send({ from: house.day(1), to: house.day(200) })).status).to.equal(400)
    expect((await send()).body).to.deep.equal(shown.body)
    expect([await at(x), await at(a), await at(b)]).to.deep.equal([[0], [1], [2]])
    expect((await send()).body).to.deep.equal({ moves: [], stranded: [] })
    const limited = await openDesk(world, house, 'receptionist', [])
    expect((await send({}, limited)).status).to.equal(403)
    expect((await send({}, await openDesk(world, house, 'maintenance'))).status).to.equal(403)
  })

  it('tells once of who finds no unit, and gives him one when there is room', async () => {
    await place(house, { from: 5, nights: 4, unitId: unit(0), locked: true })
    const early = await place(house, { from: 5, nights: 2, unitId: unit(1), locked: true })
    const late = await place(house, { from: 7, nights: 2, unitId: unit(2), locked: true })
    const stay = await book(house, { from: 5, nights: 4 })
    expect(await assign(house, stay)).to.equal('stranded')
    expect(await assign(house, stay)).to.equal('stranded')
    await inPlatform((trx) => enqueue(trx, requestRepacks, {}))
    const done = await world.drain({ kinds: [repack.name, requestRepacks.name] })
    expect(done.map((one) => [one.kind, one.outcome])).to.deep.include.members([
      [requestRepacks.name, 'done'],
      [repack.name, 'done'],
    ])
    expect((await send()).body.stranded).to.deep.equal([{ reservationId: stay, from: house.day(5), to: house.day(9) }])
    expect(await told()).to.equal(1)
    await setLocked(late, 'proposed')
    await inPlatform((trx) => enqueue(trx, requestRepacks, {}))
    await world.drain({ kinds: [repack.name, requestRepacks.name] })
    expect([await at(stay), await at(early), await at(late)]).to.deep.equal([[2], [1], [1]])
    expect(await house.inHouse((trx) => sql(trx, `select 1 from stranded_stay`))).to.deep.equal([])
  })

  it('gives nobody a unit by itself where the house wants none given, and moves what is there', async () => {
    const { a, x } = await chain()
    await house.inHouse((trx) =>
      sql(trx, `update property set settings = settings || '{"assignment": {"automatic": false}}'`),
    )
    await inPlatform((trx) => enqueue(trx, requestRepacks, {}))
    await world.drain({ kinds: [repack.name, requestRepacks.name] })
    expect([await at(x), (await at(a)).length]).to.deep.equal([[], 1])
    expect(await told()).to.equal(0)
  })

  it('keeps a stay that has grown in its unit, or gives it one for all its nights where it can', async () => {
    const grow = (stay: string, nights: number) =>
      house.inHouse((trx) =>
        sql(
          trx,
          `with more as (insert into reservation_night (reservation_id, date, unit_type_id, rate_plan_id, amount)
             select r.id, r.departure + n, r.unit_type_id, r.rate_plan_id, 0 from reservation r, generate_series(0, ?::int - 1) n where r.id = ? returning 1)
           update reservation set departure = departure + ?::int where id = ?`,
          [nights, stay, nights, stay],
        ),
      )
    const stay = await place(house, { from: 5, nights: 2, unitId: unit(1) })
    await grow(stay, 2)
    await assign(house, stay)
    expect(await at(stay)).to.deep.equal([1])
    await place(house, { from: 9, nights: 2, unitId: unit(1), locked: true })
    await place(house, { from: 5, nights: 4, unitId: unit(0), locked: true })
    await grow(stay, 1)
    await assign(house, stay)
    expect(await at(stay)).to.deep.equal([2])
    await place(house, { from: 10, nights: 2, unitId: unit(2), locked: true })
    await grow(stay, 1)
    await assign(house, stay)
    // No unit is free for all of it: the last night is in another.
    expect(await at(stay)).to.deep.equal([0, 2])
  })

  it('has its jobs done once, also where a worker ends between the commit and the word of it', async () => {
    const { x } = await chain()
    await house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: house.propertyId,
        unitIds: [unit(0)],
        kind: 'out_of_service',
        reason: 'other',
        from: house.day(0),
        to: house.day(1),
      }),
    )
    await rollTo(house, 1)
    const { tenantId } = house
    await house.inHouse(async (trx) => {
      await sql(trx, `delete from jobs where status = 'pending'`)
      await enqueueCloseBlocks(trx, house.propertyId, house.day(0))
      await enqueue(trx, assignUnit, { tenantId, reservationId: x })
      await enqueue(trx, repack, { tenantId, unitPoolId: house.poolId })
    })
    const jobs = await house.inHouse((trx) =>
      sql<{ id: string; kind: string }>(trx, `select id, kind from jobs where status = 'pending' order by seq`),
    )
    expect(jobs.map((job) => job.kind)).to.deep.equal([closeBlocks.name, assignUnit.name, repack.name])
    for (const { id, kind } of jobs) {
      const processor = processors.find((one) => one.job.name === kind)!
      await dispatch(id)
      expect(await deliver(processor, id, 1, 1, { ...handed, tenantId }), kind).to.equal('done')
      const once = await stored(house)
      expect(await deliver(processor, id, 2, 1, { ...handed, tenantId }), kind).not.to.equal('done')
      expect(await stored(house), kind).to.deep.equal(once)
    }
    expect(await eventsOf(house, 'unit_block.ended')).to.have.length(1)
    expect(await at(x)).to.deep.equal([0])
  })

  it('goes on while stays are booked, cancelled and placed, and leaves nobody in a unit of another', async () => {
    const stays = await Promise.all(
      Array.from({ length: 6 }, (_, index) => book(house, { from: 5 + index, nights: 2 })),
    )
    const replies = await Promise.all([
      // An assignment that has waited too long for its locks is repeated.
      ...stays.map((stay) => until(() => assign(house, stay))),
      ...Array.from({ length: 4 }, () => send().then(({ status }) => status)),
    ])
    expect(
      replies.filter((reply) => reply !== 'assigned' && reply !== 'already' && reply !== 200 && reply !== 409),
    ).to.deep.equal([])
    for (const stay of stays) expect(await unitsOf(house, stay)).to.have.length(1)
  })
})
