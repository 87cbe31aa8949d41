import { expect } from 'chai'
import { ApiError, overtaken } from '../../config/errors.ts'
import { addDays } from '../../config/time.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { reapHolds } from '../../db/reservations/expire.ts'
import { moveInventory, registerReaper } from '../../db/units/inventory.ts'
import type { Move } from '../../db/units/inventory.ts'
import type { PoolNight } from '../../db/units/rules/availability.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'

describe('Inventory', () => {
  useDatabase()
  let house: House

  beforeEach(async () => {
    house = await makeHouse({ units: 3 })
    registerReaper(async () => false)
  })
  after(() => registerReaper(reapHolds))

  const counters = async (night: string) => {
    const [row] = await house.inHouse((trx) =>
      sql<PoolNight>(trx, `select * from pool_night where pool_id = ? and night = ?`, [house.poolId, night]),
    )
    if (!row) throw new Error(`no counters on ${night}`)
    return row
  }
  const move = (deltas: Partial<Move>, days = [10], options: { force?: boolean } = {}) =>
    house.inHouse((trx) =>
      moveInventory(
        trx,
        days.map((day) => ({ poolId: house.poolId, night: house.day(day), ...deltas })),
        options,
      ),
    )
  it('gives a new unit type the nights up to the horizon, with its units as capacity', async () => {
    const [range] = await house.inHouse((trx) =>
      sql<{ first: string; last: string; nights: number; capacity: number }>(
        trx,
        `select min(night) as first, max(night) as last, count(*)::int as nights, min(capacity) as capacity from pool_night where pool_id = ?`,
        [house.poolId],
      ),
    )
    expect(range).to.deep.equal({ first: house.today, last: house.day(730), nights: 731, capacity: 3 })
  })

  it('gives the last unit to one of 100 who want it at once', async () => {
    await move({ sold: 2 })
    const results = await Promise.allSettled(Array.from({ length: 100 }, () => move({ held: 1 })))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).to.have.length(99)
    for (const { reason } of refused) {
      expect(reason).to.be.instanceOf(ApiError)
      expect(reason).to.include({ status: 409, code: 'sold_out' })
      expect((reason as ApiError).errors).to.deep.equal([{ field: `nights.${house.day(10)}`, message: 'is sold out' }])
    }
    expect(await counters(house.day(10))).to.include({ sold: 2, held: 1, forced: 0 })
  })

  it('never mixes up stays that overlap in any order', async () => {
    const stays = Array.from({ length: 60 }, (_, index) =>
      Array.from({ length: 1 + (index % 4) }, (__, night) => 20 + ((index * 7) % 5) + night),
    )
    const results = await Promise.allSettled(stays.map((days) => move({ held: 1 }, days.toReversed())))
    const expected = new Map<number, number>()
    for (const [at, result] of results.entries())
      if (result.status === 'fulfilled')
        for (const day of stays[at] ?? []) expected.set(day, (expected.get(day) ?? 0) + 1)
      else expect(result.reason).to.include({ code: 'sold_out' })
    for (const [day, held] of expected) {
      expect(held).to.be.at.most(3)
      expect(await counters(house.day(day))).to.include({ held })
    }
  })

  it('names every short night and changes nothing', async () => {
    await move({ sold: 3 }, [11, 13])
    const error = await refusal(move({ held: 1 }, [10, 11, 12, 13]))
    expect(error.errors?.map((entry) => entry.field)).to.deep.equal([
      `nights.${house.day(11)}`,
      `nights.${house.day(13)}`,
    ])
    expect(await counters(house.day(10))).to.include({ held: 0 })
  })

  it('takes the net of all moves of a command at once', async () => {
    await move({ held: 3 })
    await move({ held: -1, sold: 1 })
    await house.inHouse((trx) =>
      moveInventory(trx, [
        { poolId: house.poolId, night: house.day(10), sold: 1 },
        { poolId: house.poolId, night: house.day(10), held: -1 },
      ]),
    )
    expect(await counters(house.day(10))).to.include({ held: 1, sold: 2 })
  })

  it('refuses nights past the horizon', async () => {
    const error = await refusal(move({ held: 1 }, [730, 731]))
    expect(error).to.include({ status: 422, code: 'beyond_horizon' })
    expect(error.errors).to.deep.equal([{ field: `nights.${addDays(house.today, 731)}`, message: 'has no counters' }])
  })

  it('forces what reality imposes, and forgets it with the releases', async () => {
    await move({ sold: 3 })
    await move({ sold: 2 }, [10], { force: true })
    expect(await counters(house.day(10))).to.include({ sold: 5, forced: 2 })
    await refusal(move({ held: 1 }))
    await move({ sold: -1 })
    expect(await counters(house.day(10))).to.include({ sold: 4, forced: 1 })
    await move({ sold: -3 })
    expect(await counters(house.day(10))).to.include({ sold: 1, forced: 0 })
    const events = await house.inHouse((trx) =>
      sql(
        trx,
        `select type, data from event where type in ('inventory.oversold', 'inventory.recovered') order by occurred_at, type`,
      ),
    )
    const told = (units: number) => ({ unitPoolId: house.poolId, nights: [{ date: house.day(10), units }] })
    expect(events).to.deep.equal([
      { type: 'inventory.oversold', data: told(2) },
      { type: 'inventory.recovered', data: told(1) },
    ])
  })

  it('sells planned overbooking, and no more', async () => {
    await move({ oversell: 1 })
    await move({ sold: 4 })
    await refusal(move({ held: 1 }))
    expect(await counters(house.day(10))).to.include({ sold: 4, oversell: 1, forced: 0 })
  })

  it('repeats the command once after overdue holds were ended', async () => {
    await move({ held: 3 })
    const asked: unknown[] = []
    registerReaper(async (tenantId, nights) => {
      asked.push({ tenantId, nights })
      await inTenant(tenantId, (trx: Trx) =>
        moveInventory(trx, [{ poolId: house.poolId, night: house.day(10), held: -1 }]),
      )
      return true
    })
    await move({ held: 1 })
    expect(asked).to.deep.equal([
      { tenantId: house.tenantId, nights: [{ poolId: house.poolId, night: house.day(10) }] },
    ])
    expect(await counters(house.day(10))).to.include({ held: 3 })
  })

  it('repeats it also where it was overtaken before, and no more than once for each', async () => {
    await move({ held: 3 })
    let reaped = 0
    registerReaper(async (tenantId) => {
      reaped += 1
      await inTenant(tenantId, (trx: Trx) =>
        moveInventory(trx, [{ poolId: house.poolId, night: house.day(10), held: -1 }]),
      )
      return true
    })
    let tries = 0
    const taken = (held: number) =>
      house.inHouse((trx) => {
        tries += 1
        if (tries === 1) throw overtaken()
        return moveInventory(trx, [{ poolId: house.poolId, night: house.day(10), held }])
      })
    await taken(1)
    expect([tries, reaped]).to.deep.equal([3, 1])
    tries = 0
    expect(await refusal(taken(3))).to.include({ code: 'sold_out' })
    expect([tries, reaped]).to.deep.equal([3, 2])
  })

  it('does not reach the pools of another tenant', async () => {
    const other = await makeHouse({ units: 1 })
    const error = await refusal(
      other.inHouse((trx) => moveInventory(trx, [{ poolId: house.poolId, night: house.day(10), held: 1 }])),
    )
    expect(error).to.include({ code: 'beyond_horizon' })
    expect(await counters(house.day(10))).to.include({ held: 0 })
  })

  it('says what changed, once per pool', async () => {
    await move({ held: 1 }, [10, 11, 12])
    const events = await house.inHouse((trx) =>
      sql<{ data: object }>(
        trx,
        `select data from event where type = 'availability.changed' and (entity->>'id') = ? order by occurred_at desc limit 1`,
        [house.poolId],
      ),
    )
    expect(events[0]?.data).to.deep.equal({
      unitTypeIds: [house.unitTypeId],
      from: house.day(10),
      to: house.day(12),
    })
  })

  it('is taken of two pools in one order, whatever the order of the moves: nobody locks another out', async () => {
    house = await makeHouse({ units: 50 })
    const other = await house.inHouse((trx) =>
      createUnitType(trx, {
        propertyId: house.propertyId,
        code: 'B',
        name: { en: 'B', 'pt-BR': 'B' },
        kind: 'private',
        baseOccupancy: 1,
        maxAdults: 1,
        maxChildren: 0,
        maxOccupancy: 1,
      }),
    )
    const pools = [house.poolId, other.pools[0]?.poolId ?? '']
    const take = (order: string[]) =>
      house.inHouse((trx) =>
        moveInventory(
          trx,
          order.flatMap((poolId) => [11, 10, 12].map((day) => ({ poolId, night: house.day(day), oversell: 1 }))),
        ),
      )
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => take(index % 2 ? pools : pools.toReversed())),
    )
    expect(results.filter((result) => result.status === 'rejected')).to.deep.equal([])
  })
})
