import type { Reply } from './client.ts'
import { makeHouse } from './factories.ts'
import type { House } from './factories.ts'
import { useWorld } from './world.ts'
import type { World } from './world.ts'

type Change = Record<string, unknown>

/** A world, for each test a house with six rooms and two suites on sale, and what a portal asks of it. */
export const usePortal = (): {
  readonly world: World
  readonly house: House
  /** Path of the house's public pages. */
  readonly base: () => string
  readonly get: (path: string) => Promise<Reply>
  /** Reads the rooms that are free for a stay that begins in `from` days. `more` is added to the query. */
  readonly stay: (from?: number, nights?: number, more?: string) => Promise<Reply>
  /** Asks for a quote of two nights in thirty days, with something changed in it or in its one room. */
  readonly quote: (change?: Change, room?: Change) => Promise<Reply>
} => {
  const world = useWorld()
  const held: { house: House | null } = { house: null }
  const here = () => {
    if (!held.house) throw new Error('the house is there in each test')
    return held.house
  }
  beforeEach(async () => {
    held.house = await makeHouse({ units: 6, suite: true, taxes: true })
    await world.redis.flushall()
  })
  const base = () => `/api/public/property/${here().propertyId}`
  const get = (path: string) => world.request('GET', `${base()}/${path}`)
  return {
    world,
    get house() {
      return here()
    },
    base,
    get,
    stay: (from = 30, nights = 2, more = '') =>
      get(`availability?arrival=${here().day(from)}&departure=${here().day(from + nights)}${more}`),
    quote: (change = {}, room = {}) => {
      const { propertyId, unitTypeId, ratePlanId, day } = here()
      return world.request('POST', '/api/public/quotes', {
        body: {
          propertyId,
          arrival: day(30),
          departure: day(32),
          rooms: [{ unitTypeId, ratePlanId, adults: 2, childrenAges: [], extras: [], ...room }],
          ...change,
        },
      })
    },
  }
}
