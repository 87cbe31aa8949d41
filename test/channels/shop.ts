import { disconnect } from '../../db/channels/lifecycle.ts'
import { writePrices } from '../../db/properties/rates/rate-cells.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { sql } from '../../db/lib/connection.ts'
import { useSimulator } from '../support/channel-simulator/peer.ts'
import type { Simulator } from '../support/channel-simulator/peer.ts'
import { useDatabase } from '../support/database.ts'
import type { Database } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { settle } from './support.ts'

export type Shop = {
  readonly house: House
  readonly database: Database
  readonly simulator: Simulator
  /** Rooms of the first type, sold at the desk. */
  sell: (from: number, nights?: number, rooms?: number) => Promise<void>
  price: (day: number, amount: number) => Promise<void>
  /** The seconds are over that pushes wait for. */
  pushNow: () => Promise<void>
}

/** A house of three rooms and a suite, and a channel manager, for the tests of the surrounding `describe`: each with days and a connection of its own. */
export const useShop = (): Shop => {
  const held = useDatabase()
  const simulator = useSimulator()
  const made: { house: House | null } = { house: null }
  const shop: Shop = {
    get house() {
      if (!made.house) throw new Error('the house is there from the first before hook on')
      return made.house
    },
    get database() {
      return held.database
    },
    simulator,
    sell: async (from, nights = 1, rooms = 1) => {
      const bookingId = await makeHold(shop.house, { from, nights, rooms })
      await shop.house.inHouse((trx) => confirmBooking(trx, bookingId))
    },
    price: (day, amount) => {
      const { propertyId, ratePlanId, unitTypeId, inHouse } = shop.house
      return inHouse((trx) =>
        writePrices(trx, propertyId, [{ ratePlanId, unitTypeId, date: shop.house.day(day), amount }]),
      )
    },
    pushNow: async () => {
      await held.database.admin.raw(`update jobs set run_at = now() where kind = 'channels.push'`)
      await drain({ kinds: ['channels.push'] })
    },
  }
  before(async () => {
    made.house = await makeHouse({ units: 3, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
  })
  afterEach(async () => {
    const { inHouse } = shop.house
    const rows = await inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from channel_connection where status <> 'disconnected'`),
    )
    for (const { id } of rows) await inHouse((trx) => disconnect(trx, id, false))
    await settle(600_000)
  })
  return shop
}
