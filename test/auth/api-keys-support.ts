import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'
import type { Person } from './support.ts'

export type Made = {
  id: string
  key: string
  keyId: string
  name: string
  expiresAt: string
  version: number
} & Record<string, unknown>
export const days = (count: number) => count * 86_400_000

/** A tenant whose owner, freshly proven, makes keys and uses them. */
export const useKeys = () => {
  const world = useWorld()
  let tenantId: string
  let owner: Person
  let token: string
  let house: House
  before(async () => {
    tenantId = await makeTenant('Enterprise')
    house = await makeHouse({ tenantId })
    owner = await makeUser({ [tenantId]: 'owner' })
    token = (await signIn(world, owner)).token
  })
  beforeEach(async () => {
    await forgetLimits(world)
    await proven(true)
  })

  const proven = async (is: boolean) => {
    await sql(
      world.database.admin,
      `update session set reauthenticated_at = case when ? then now() else now() - interval '1 hour' end where user_id = ?`,
      [is, owner.userId],
    )
    await world.redis.flushall()
  }
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    world.request(method, `/api/tenants/${tenantId}/api-keys${path}`, {
      token,
      headers,
      ...(body === undefined ? {} : { body }),
    })
  const make = async (given: Record<string, unknown> = {}): Promise<Made> => {
    const { status, body } = await call('POST', '', {
      name: `key ${randomUUID().slice(0, 8)}`,
      scopes: ['read', 'write'],
      ...given,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as Made
  }
  const use = async (key: string, path = 'guests') => {
    const { status, body } = await world.request('GET', `/api/tenants/${tenantId}/${path}`, { key })
    return [status, body.code]
  }
  const events = async (id: string) =>
    (
      await sql<{ type: string }>(
        world.database.admin,
        `select type from event where entity->>'id' = ? order by occurred_at, id`,
        [id],
      )
    ).map(({ type }) => type)

  return {
    world,
    proven,
    call,
    make,
    use,
    events,
    get tenantId() {
      return tenantId
    },
    get owner() {
      return owner
    },
    get house() {
      return house
    },
  }
}
