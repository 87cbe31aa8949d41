import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { createExtra, archiveExtra, changeExtra } from '../../db/properties/terms/extras.ts'
import { promiseUnit } from '../../db/reservations/unit-lock.ts'
import { closeBlocks } from '../../db/units/blocks/end.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { extendNights } from '../../db/units/nights.ts'
import { archiveUnit } from '../../db/units/units/status.ts'
import { recountNights } from '../../db/units/recount.ts'
import { repack, requestRepacks } from '../../jobs/units.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { arrive, assign, book, drift, place, rollTo, rowsOf, unitsOf } from './stays.ts'

describe('Edges of units', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 2, deposit: null, settings: { portal: { holdShare: 10_000, maxNights: 90 } } })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })
  afterEach(async () => {
    expect(await drift(house)).to.deep.equal([])
  })

  const unit = (index: number) => house.unitIds[index] ?? ''
  const at = async (stay: string) => (await unitsOf(house, stay)).map((unitId) => house.unitIds.indexOf(unitId))
  /** Rows of a stay: unit, first and last day, status. */
  const setRows = (stay: string, ...rows: [string, number, number, string][]) =>
    house.inHouse((trx) =>
      sql(
        trx,
        `insert into unit_assignment (reservation_id, unit_id, during, status)
         select ?, u, daterange("from", "to"), s from unnest(?::uuid[], ?::date[], ?::date[], ?::text[]) as n (u, "from", "to", s)`,
        [
          stay,
          rows.map(([unitId]) => unitId),
          rows.map(([, from]) => house.day(from)),
          rows.map(([, , to]) => house.day(to)),
          rows.map(([, , , status]) => status),
        ],
      ),
    )
  const send = (from: number, to: number) =>
    owner.send('POST', 'unit-assignments/repack', {
      propertyId: house.propertyId,
      from: house.day(from),
      to: house.day(to),
    })

  const makeExtra = (trx: Trx) =>
    createExtra(trx, {
      propertyId: house.propertyId,
      code: 'BIKE',
      name: { 'pt-BR': 'Bicicleta', en: 'Bike' },
      category: 'activity',
      revenueGroup: 'other',
      amount: 1_000,
      basis: 'per_stay',
      dailyLimit: 3,
    })

  describe('stays of months', () => {
    beforeEach(async () => {
      await place(house, { from: 100, nights: 1, unitId: unit(1), locked: true })
      await place(house, { from: 175, nights: 2, unitId: unit(1), locked: true })
    })

    it('do not give way into a unit that is taken long after the days in question', async () => {
      const long = await place(house, { from: 101, nights: 80, unitId: unit(0) })
      const stay = await book(house, { from: 100, nights: 2 })
      expect(await assign(house, stay)).to.equal('stranded')
      expect(await at(long)).to.deep.equal([0])
    })

    it('are rearranged where they are free to their end', async () => {
      const long = await place(house, { from: 101, nights: 80, unitId: unit(0) })
      expect((await send(95, 110)).status).to.equal(200)
      expect(await at(long)).to.deep.equal([0])
    })

    it('find a unit that is free to their end', async () => {
      const long = await book(house, { from: 101, nights: 80 })
      expect((await send(95, 110)).status).to.equal(200)
      expect(await at(long)).to.deep.equal([0])
    })
  })

  it('a block takes a unit twice from a stay that comes back to it', async () => {
    const stay = await book(house, { from: 5, nights: 6 })
    await setRows(stay, [unit(0), 5, 7, 'proposed'], [unit(1), 7, 9, 'locked'], [unit(0), 9, 11, 'proposed'])
    const { status, body } = await owner.send('POST', 'unit-blocks', {
      propertyId: house.propertyId,
      unitIds: [unit(0)],
      kind: 'out_of_service',
      reason: 'damage',
      from: house.day(5),
      to: house.day(11),
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    expect(body.moves).to.have.length(2)
    expect((await eventsOf(house, 'unit_block.created'))[0]?.data).to.include({ kind: 'out_of_service', issueId: null })
    const { number, bookingId } = (await eventsOf(house, 'reservation.confirmed'))[0]?.data ?? {}
    const lost = await eventsOf(house, 'reservation.unit_assigned')
    expect(lost.at(-1)?.data).to.include({ reservationId: stay, number, bookingId, locked: false })
  })

  it('a block that is closed late leaves a guest who is in the unit by then in peace', async () => {
    await house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: house.propertyId,
        unitIds: house.unitIds,
        kind: 'out_of_service',
        reason: 'damage',
        from: house.day(0),
        to: house.day(1),
      }),
    )
    await rollTo(house, 1)
    await arrive(house, await place(house, { from: 1, nights: 1, unitId: unit(0) }))
    await house.inHouse(async (trx) => {
      await sql(trx, `update unit set condition = 'clean', do_not_disturb = true`)
      expect(await closeBlocks(trx, house.propertyId)).to.equal(1)
      const units = await sql(trx, `select condition, do_not_disturb from unit order by position`)
      expect(units).to.deep.equal([
        { condition: 'clean', doNotDisturb: true },
        { condition: 'dirty', doNotDisturb: false },
      ])
      const tasks = await sql(trx, `select unit_id, kind from housekeeping_task`)
      expect(tasks).to.deep.equal([{ unitId: unit(1), kind: 'inspection' }])
    })
  })

  it('a swap leaves nobody in a unit that is no more', async () => {
    expect((await owner.send('PATCH', `units/${unit(1)}`, { activeUntil: house.day(8) })).status).to.equal(200)
    const long = await place(house, { from: 5, nights: 6, unitId: unit(0) })
    const short = await book(house, { from: 5, nights: 3 })
    await setRows(short, [unit(1), 5, 8, 'proposed'])
    const { status, body } = await owner.send('POST', 'unit-assignments/swap', { reservationIds: [long, short] })
    expect(status, JSON.stringify(body)).to.equal(200)
    expect(
      (await rowsOf(house, long)).map((row) => [house.unitIds.indexOf(row.unitId), row.from, row.to]),
    ).to.deep.equal([
      [0, house.day(8), house.day(11)],
      [1, house.day(5), house.day(8)],
    ])
  })

  it('a stay that lacks a unit twice is told of once, however often it is looked at', async () => {
    const stay = await book(house, { from: 5, nights: 42 })
    await setRows(stay, [unit(0), 7, 45, 'proposed'])
    for (const from of [5, 45]) {
      const other = await book(house, { from, nights: 2 })
      await setRows(other, [unit(0), from, from + 2, 'locked'])
      await house.inHouse((trx) =>
        createBlock(trx, {
          propertyId: house.propertyId,
          unitIds: [unit(1)],
          kind: 'out_of_service',
          reason: 'damage',
          from: house.day(from),
          to: house.day(from + 2),
        }),
      )
    }
    expect(await assign(house, stay)).to.equal('stranded')
    const lookTwice = async () => {
      for (let night = 0; night < 2; night += 1) {
        await inPlatform((trx) => enqueue(trx, requestRepacks, {}))
        await world.drain({ kinds: [repack.name, requestRepacks.name] })
      }
    }
    await lookTwice()
    expect(await eventsOf(house, 'assignment.stranded')).to.have.length(1)
    // The stay moves off the unit that is blocked now, and still lacks the nights that it lacked.
    await house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: house.propertyId,
        unitIds: [unit(0)],
        kind: 'out_of_service',
        reason: 'damage',
        from: house.day(10),
        to: house.day(12),
      }),
    )
    expect(await at(stay)).to.deep.equal([1])
    await lookTwice()
    expect(await eventsOf(house, 'assignment.stranded')).to.have.length(1)
  })

  it('an archived extra keeps its limit on nights that come into reach', async () => {
    await house.inHouse(async (trx) => {
      const id = await makeExtra(trx)
      await archiveExtra(trx, id)
      const [row] = await sql<{ poolId: string }>(trx, `select pool_id from extra where id = ?`, [id])
      const poolId = row?.poolId ?? ''
      await sql(trx, `delete from pool_night where pool_id = ? and night > ?::date`, [poolId, house.day(300)])
      expect(await extendNights(trx, [poolId])).to.be.above(400)
    })
  })

  it('an extra that is given another limit has it on the night that the house is on', async () => {
    await house.inHouse(async (trx) => {
      await sql(trx, `update property set business_date = ? where id = ?`, [house.day(-1), house.propertyId])
      const id = await makeExtra(trx)
      await changeExtra(trx, id, { dailyLimit: 5 })
      expect(await recountNights(trx, house.propertyId, house.day(-1), house.today)).to.deep.equal([])
    })
  })

  it('a unit that is archived meanwhile is promised to nobody', async () => {
    const stay = await book(house, { from: 5, nights: 2 })
    let promised: Promise<unknown> = Promise.resolve()
    await house.inHouse(async (trx) => {
      await archiveUnit(trx, unit(1), null)
      promised = house
        .inHouse((other) => promiseUnit(other, stay, unit(1)))
        .catch((error: { code: string }) => error.code)
      for (let waits = 0; waits === 0;) {
        const { rows } = await world.database.admin.raw(
          `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted`,
        )
        waits = rows[0].n
      }
    })
    expect(await promised).to.equal('unit_not_in_property')
    expect(await at(stay)).to.deep.equal([])
  })

  it('a stay in two units that is promised a third has that one alone', async () => {
    const stay = await book(house, { from: 5, nights: 4 })
    await setRows(stay, [unit(0), 5, 7, 'proposed'], [unit(1), 7, 9, 'locked'])
    await house.inHouse((trx) => promiseUnit(trx, stay, unit(0)))
    expect(await at(stay)).to.deep.equal([0])
  })
})
