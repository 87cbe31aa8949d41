import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import type { PoolNight } from '../../db/units/rules/availability.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { recountNights } from '../../db/units/recount.ts'
import { extendHorizon, requestRecounts } from '../../jobs/units.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('The upkeep of counters', () => {
  const world = useWorld()
  let house: House

  beforeEach(async () => {
    house = await makeHouse({ units: 3 })
  })

  const nights = () =>
    house.inHouse((trx) =>
      sql<PoolNight>(trx, `select * from pool_night where pool_id = ? order by night`, [house.poolId]),
    )

  it('adds the nights that have come into reach with the capacity they have, and drops those long past', async () => {
    await world.database.admin.raw(`delete from pool_night where pool_id = ? and night > ?`, [
      house.poolId,
      house.day(720),
    ])
    await world.database.admin.raw(`insert into pool_night (tenant_id, pool_id, night, capacity) values (?, ?, ?, 3)`, [
      house.tenantId,
      house.poolId,
      house.day(-402),
    ])
    await house.inHouse((trx) =>
      sql(trx, `update unit set active_until = ? where id = ?`, [house.day(725), house.unitIds[0]]),
    )
    await inPlatform((trx) => enqueue(trx, extendHorizon, {}))
    await world.drain()
    const found = await nights()
    expect(found[0]?.night).to.equal(house.today)
    expect(found).to.have.length(731)
    expect(found.slice(721).map((row) => row.capacity)).to.deep.equal([3, 3, 3, 3, 2, 2, 2, 2, 2, 2])
  })

  it('finds nothing to repair where all went by the book', async () => {
    expect(
      await house.inHouse((trx) => recountNights(trx, house.propertyId, house.today, house.day(31))),
    ).to.deep.equal([])
  })

  it('repairs what differs from reservations and units, and reports it', async () => {
    await house.inHouse((trx) => moveInventory(trx, [{ poolId: house.poolId, night: house.day(40), sold: 2, held: 1 }]))
    await world.database.admin.raw(`update pool_night set capacity = 9 where pool_id = ? and night = ?`, [
      house.poolId,
      house.day(41),
    ])
    await inPlatform((trx) => enqueue(trx, requestRecounts, {}))
    await world.drain()
    const found = await nights()
    expect(found[40]).to.include({ sold: 0, held: 0, capacity: 3 })
    expect(found[41]).to.include({ capacity: 3 })
    const events = await house.inHouse((trx) =>
      sql<{ data: object }>(trx, `select data from event where type = 'inventory.drift_repaired'`),
    )
    // How many more may be sold than was thought.
    expect(events.map(({ data }) => data)).to.deep.equal([
      {
        unitPoolId: house.poolId,
        nights: [
          { date: house.day(40), units: 3 },
          { date: house.day(41), units: -6 },
        ],
      },
    ])
  })
})
