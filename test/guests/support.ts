import { randomInt } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { makeUser, signIn } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House, HouseOptions } from '../support/factories.ts'
import type { RequestOptions } from '../support/client.ts'
import type { World } from '../support/world.ts'

/** One white pixel. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A house, and calls of its guests as members of given roles. */
export const useGuests = (world: World, options: HouseOptions = {}) => {
  let house: House
  const tokens = new Map<string, string>()
  before(async () => {
    house = await makeHouse({ units: 4, deposit: null, ...options })
  })
  const tokenOf = async (role: string): Promise<string> => {
    const known = tokens.get(role)
    if (known) return known
    const user = await makeUser({ [house.tenantId]: role })
    const token = (await signIn(world, user)).token
    tokens.set(role, token)
    return token
  }
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    { role = 'manager', ...more }: RequestOptions & { role?: string } = {},
  ) =>
    world.request(method, `/api/tenants/${house.tenantId}/${path}`, {
      token: await tokenOf(role),
      ...(body === undefined ? {} : { body }),
      ...more,
    })
  const create = async (given: object = {}): Promise<string> => {
    const { status, body } = await call('POST', 'guests', { firstName: 'Ana', lastName: 'Lima', ...given })
    if (status !== 201) throw new Error(`a guest was not made: ${JSON.stringify(body)}`)
    return body.id as string
  }
  return {
    get house() {
      return house
    },
    tokenOf,
    call,
    create,
    /** Statements inside the tenant. */
    rows: <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
      house.inHouse((trx) => sql<Row>(trx, text, values)),
  }
}

/** A CPF that no guest has: random digits with their check digits. */
export const newCpf = (): string => {
  const base = Array.from({ length: 9 }, () => randomInt(10))
  for (const from of [10, 11]) {
    const rest = base.reduce((sum, digit, at) => sum + digit * (from - at), 0) % 11
    base.push(rest < 2 ? 0 : 11 - rest)
  }
  return base.join('')
}
