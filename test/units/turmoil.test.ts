import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { sql } from '../../db/connection.ts'
import { createExtra } from '../../db/properties/charges.ts'
import { createRatePlan } from '../../db/properties/rates.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { createUnitType } from '../../db/units/types.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { recountNights } from '../../db/units/recount.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold, outlive } from '../support/stay.ts'

const workers = 16
const lastsMs = 6_000
const days = 6
const expected = new Set([
  'sold_out',
  'hold_limit',
  'inventory_contended',
  'restriction_violated',
  'invalid_transition',
  'hold_expired',
  'cancellation_not_allowed',
  'payment_required',
  'fee_changed',
])

/** A second type that takes two units of the first one's pool, as a suite of two rooms does. */
const pairOf = (house: House): Promise<{ unitTypeId: string; ratePlanId: string }> =>
  house.inHouse(async (trx) => {
    const type = await createUnitType(trx, {
      propertyId: house.propertyId,
      code: 'PAIR',
      name: { 'pt-BR': 'Par', en: 'Pair' },
      kind: 'private',
      baseOccupancy: 2,
      maxAdults: 4,
      maxChildren: 0,
      maxOccupancy: 4,
      pools: [{ poolId: house.poolId, quantity: 2 }],
    })
    const [plan] = await sql<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    )
    if (!plan) throw new Error('the house has a plan')
    const ratePlanId = await createRatePlan(trx, {
      propertyId: house.propertyId,
      code: 'PAIR',
      name: { 'pt-BR': 'Par', en: 'Pair' },
      ...plan,
      unitTypes: [{ unitTypeId: type.id, standardAmount: 30_000 }],
    })
    return { unitTypeId: type.id, ratePlanId }
  })

describe('Counters in turmoil', () => {
  useDatabase()

  it('equal a recount after holds, confirmations, cancellations and expiries of all kinds at once', async () => {
    const house = await makeHouse({ units: 8, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    await house.inHouse((trx) =>
      createExtra(trx, {
        propertyId: house.propertyId,
        code: 'BOAT',
        name: { en: 'Boat' },
        category: 'activity',
        revenueGroup: 'tours',
        amount: 1_000,
        basis: 'per_stay',
        mandatory: true,
        dailyLimit: 9,
      }),
    )
    const pair = await pairOf(house)
    const kinds = [{}, pair, { unitTypeId: house.suiteTypeId ?? '' }]
    const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
    const open: string[] = []
    const done: Record<string, number> = {}
    const acts: Record<string, () => Promise<unknown>> = {
      hold: async () => {
        const from = 30 + Math.floor(Math.random() * days)
        open.push(
          await makeHold(house, {
            ...pick(kinds),
            from,
            nights: 1 + Math.floor(Math.random() * 3),
            rooms: pick([1, 1, 2]),
          }),
        )
      },
      confirm: async () => open.length > 0 && house.inHouse((trx) => confirmBooking(trx, pick(open))),
      cancel: async () =>
        open.length > 0 &&
        house.inHouse((trx) => cancelReservations(trx, pick(open), { acceptedFee: 0, reason: 'guest_request' })),
      expire: async () => {
        if (open.length === 0) return
        const bookingId = pick(open)
        await outlive(house, bookingId).catch(() => {})
        await house.inHouse((trx) => expireHold(trx, bookingId))
      },
    }
    const until = Date.now() + lastsMs
    const work = async () => {
      while (Date.now() < until) {
        const name = pick(['hold', 'hold', 'hold', 'confirm', 'cancel', 'cancel', 'expire'])
        try {
          await acts[name]?.()
          done[name] = (done[name] ?? 0) + 1
        } catch (error) {
          if (!(error instanceof ApiError) || !expected.has(error.code)) throw error
          done[error.code] = (done[error.code] ?? 0) + 1
        }
        if (open.length > 40) open.splice(0, 10)
      }
    }
    await Promise.all(Array.from({ length: workers }, work))
    expect(done.hold, JSON.stringify(done)).to.be.above(20)
    expect(done.sold_out, JSON.stringify(done)).to.be.above(0)
    expect(
      await house.inHouse((trx) => recountNights(trx, house.propertyId, house.day(25), house.day(45))),
    ).to.deep.equal([])
    const [bad] = await house.inHouse((trx) =>
      sql<{ count: number }>(
        trx,
        `select count(*)::int as count from pool_night where sold + held > capacity or forced > 0`,
      ),
    )
    expect(bad?.count).to.equal(0)
  }).timeout(60_000)

  it('of two pools that two commands take in opposite order never lock each other out', async () => {
    const house = await makeHouse({ units: 50, suite: false })
    const other = await house.inHouse((trx) =>
      createUnitType(trx, {
        propertyId: house.propertyId,
        code: 'B',
        name: { en: 'B' },
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
