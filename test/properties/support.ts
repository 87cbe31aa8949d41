import { addMembership } from '../../db/auth/members/create.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import type { Reply, RequestOptions } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House, HouseOptions } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import type { World } from '../support/world.ts'

/** The staff side of a house: requests below its tenant, by one signed-in member. */
export type Desk = {
  get: (path: string) => Promise<Reply>
  send: (method: string, path: string, body?: unknown, options?: RequestOptions) => Promise<Reply>
}

export const deskOf = (world: World, tenantId: string, token: string): Desk => {
  const address = (path: string) => `/api/tenants/${tenantId}/${path}`
  return {
    get: (path) => world.request('GET', address(path), { token }),
    send: (method, path, body = {}, options = {}) =>
      world.request(method, address(path), { token, ...(method === 'GET' ? {} : { body }), ...options }),
  }
}

/** A member with a role, signed in; of the house's property alone where `propertyIds` says so. */
export const openDesk = async (
  world: World,
  house: Pick<House, 'tenantId' | 'inHouse'>,
  role: string,
  propertyIds: string[] | null = null,
): Promise<Desk> => {
  const person = await makeUser()
  await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role, propertyIds }))
  return deskOf(world, house.tenantId, (await signIn(world, person)).token)
}

export type Owned = { world: World; house: () => House; owner: () => Desk }

/** A house and the desk of its owner, for all tests or anew before each; what `more` adds to them stands beside. */
export const useOwner = <More extends object>(
  options: HouseOptions,
  { anew, more }: { anew: boolean; more: (owned: Owned) => More },
) => {
  const world = useWorld()
  let house: House
  let owner: Desk
  const open = anew ? beforeEach : before
  open(async () => {
    house = await makeHouse(options)
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))
  return {
    ...more({ world, house: () => house, owner: () => owner }),
    world,
    get house() {
      return house
    },
    get owner() {
      return owner
    },
  }
}

export const fee = (type: string, value = 0) => ({ type, value, of: 'total' })
/** Rules of a cancellation policy: free until so many hours before arrival, then everything. */
export const freeUntil = (hours: number) => ({
  tiers: [{ hoursBeforeArrival: hours, fee: fee('none') }],
  after: fee('full'),
  graceHoursAfterBooking: 0,
  earlyDeparture: fee('none'),
})
