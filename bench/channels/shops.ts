import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { addDays, daysIn } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { activateConnection } from '../../db/channels/lifecycle.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { writePrices } from '../../db/properties/rates/rate-cells.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { makeConnection } from '../../test/channels/support.ts'
import type { Account, Simulator } from '../../test/support/channel-simulator/peer.ts'
import type { Asked } from '../../test/support/channel-simulator/store.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'

/** A house and the channels that it is sold through. */
export type Shop = { house: House; accounts: Account[] }

const connect = async (house: House, account: Account, options: Parameters<typeof makeConnection>[2]) => {
  const id = await makeConnection(house, account, { name: account.name, ...options })
  await house.inHouse((trx) => activateConnection(trx, id))
}

/** Rooms of the first type in a small house; nothing is kept back for other ways to sell. */
export const roomsOfShop = 6

export const openShop = async (
  simulator: Simulator,
  tenantId: string,
  name: string,
  channels: number,
): Promise<Shop> => {
  const settings = { portal: { holdShare: 10_000 } }
  const house = await makeHouse({ tenantId, units: roomsOfShop, suite: true, deposit: null, settings })
  const accounts: Account[] = []
  for (let index = 0; index < channels; index += 1) {
    const account = await simulator.account(`${name}-${index}`)
    await connect(house, account, { horizonDays: 365 })
    accounts.push(account)
  }
  return { house, accounts }
}

const typesOfBig = 10
const plansOfBig = 14
/** So many nights of ten types and fourteen plans are a hundred thousand prices, less forty. */
const nightsOfBig = 714

export type BigShop = Shop & { unitTypeIds: string[]; ratePlanIds: string[]; from: string; to: string; cells: number }

/** A house with as many prices as one bulk change may touch, no two nights in a row alike, and one channel that sells them all. */
export const openBigShop = async (simulator: Simulator, nights = nightsOfBig): Promise<BigShop> => {
  const house = await makeHouse({ units: 2, deposit: null })
  const unitTypeIds = [house.unitTypeId]
  const ratePlanIds: string[] = []
  await house.inHouse(async (trx) => {
    const [policies] = await sql<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    )
    if (!policies) throw new Error('the house has no plan')
    const { propertyId } = house
    for (let index = 1; index < typesOfBig; index += 1)
      unitTypeIds.push(
        (
          await createUnitType(trx, {
            propertyId,
            code: `T${index}`,
            name: { 'pt-BR': `Tipo ${index}`, en: `Type ${index}` },
            kind: 'private',
            baseOccupancy: 2,
            maxAdults: 2,
            maxChildren: 1,
            maxOccupancy: 3,
          })
        ).id,
      )
    for (let index = 0; index < plansOfBig; index += 1)
      ratePlanIds.push(
        await createRatePlan(trx, {
          propertyId,
          ...policies,
          code: `P${index}`,
          name: { 'pt-BR': `Plano ${index}`, en: `Plan ${index}` },
          unitTypes: unitTypeIds.map((unitTypeId) => ({ unitTypeId })),
        }),
      )
    const days = daysIn(house.today, addDays(house.today, nights))
    const priceOf = (day: number, index: number) => 20_000 + index * 100 + (day % 7) * 500
    await writePrices(
      trx,
      propertyId,
      ratePlanIds.flatMap((ratePlanId) =>
        unitTypeIds.flatMap((unitTypeId, index) =>
          days.map((date, day) => ({ ratePlanId, unitTypeId, date, amount: priceOf(day, index) })),
        ),
      ),
    )
  })
  const account = await simulator.account('big')
  await connect(house, account, {
    horizonDays: 730,
    mappings: unitTypeIds.flatMap((unitTypeId, type) =>
      ratePlanIds.map((ratePlanId, plan) => ({
        unitTypeId,
        ratePlanId,
        externalUnitTypeId: `T${type}`,
        externalRatePlanId: `P${plan}`,
      })),
    ),
  })
  return {
    house,
    accounts: [account],
    unitTypeIds,
    ratePlanIds,
    from: house.today,
    to: house.day(nights - 1),
    cells: unitTypeIds.length * ratePlanIds.length * nights,
  }
}

const kinds = ['channels.test', 'channels.mark-dirty', 'channels.push', 'inventory.apply-rate-change']

/** Until every channel has been told everything, and nothing is left to do for one. */
export const untilTold = async (admin: Knex, withinMs: number): Promise<void> => {
  for (const end = Date.now() + withinMs; ; await wait(100)) {
    const left = await sql<{ what: string; status: string; count: number }>(
      admin,
      `select 'a mark' as what, kind as status, count(*)::int as count from channel_dirty group by kind
       union all select kind, status, count(*)::int from jobs where kind = any(?) group by kind, status`,
      [kinds],
    )
    if (left.length === 0) return
    if (Date.now() > end)
      throw new Error(`left: ${left.map(({ what, status, count }) => `${count} of ${what}, ${status}`).join('; ')}`)
  }
}

/** Updates that the channels were told from an instant on, by the account that was told. */
export const toldSince = async (shops: readonly Shop[], at: number): Promise<Map<string, Asked[]>> => {
  const told = new Map<string, Asked[]>()
  for (const { name, look } of shops.flatMap((shop) => shop.accounts))
    told.set(
      name,
      (await look()).log.filter((one) => one.path === '/ari' && one.at >= at),
    )
  return told
}
