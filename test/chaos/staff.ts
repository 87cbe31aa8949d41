import { setTimeout as wait } from 'node:timers/promises'
import { hashPassword } from '../../db/auth/hashing.ts'
import { createUser, grantSuperuser } from '../../db/auth/users.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { inPlatform, inTenant } from '../../db/lib/connection.ts'
import type { Reply } from '../support/client.ts'
import type { House } from '../support/factories.ts'
import type { Insistent } from './client.ts'
import { randomOf } from './random.ts'
import type { Random } from './random.ts'

const operator = { email: 'operator@pousada.example', password: 'a long phrase of operators' }

export type Staff = { keys: { tenantId: string; key: string }[] }

/** An operator, and a key of each tenant. openDatabase() comes first. */
export const hireStaff = async (houses: readonly House[]): Promise<Staff> => {
  const hash = await hashPassword(operator.password)
  await inPlatform(async (trx) => {
    const userId = await createUser(trx, { email: operator.email, name: 'Operator', hash })
    await grantSuperuser(trx, userId, 'N1', 'for the campaign')
  })
  const tenantIds = [...new Set(houses.map((house) => house.tenantId))]
  const keys = tenantIds.map((tenantId) =>
    inTenant(tenantId, async (trx) => {
      const { key } = await createApiKey(trx, { name: 'Staff', scopes: ['read', 'write'] })
      return { tenantId, key }
    }),
  )
  return { keys: await Promise.all(keys) }
}

const lists = ['reservations', 'guests', 'financial/ledger-entries', 'financial/chart-of-accounts']
const pages = [
  '/superuser/dashboard',
  '/superuser/dashboard/api/queues',
  '/superuser/ops',
  '/superuser/ops/queues',
  '/superuser/ops/dead',
  '/superuser/ops/workers',
]
const signInPath = '/superuser/dashboard/sign-in'

const cookiesOf = (reply: Reply | null) =>
  (reply?.headers['set-cookie'] ?? []).map((line) => line.split(';')[0] ?? '').filter(Boolean)

/** Signs the operator in as a browser would; no cookie where that did not work out. */
const cookieOf = async (client: Insistent, base: string): Promise<string> => {
  const form = await client.send(base, 'GET', signInPath, {})
  const formToken = /name="formToken" value="([^"]+)"/.exec(String(form?.body))?.[1]
  if (formToken === undefined) return ''
  const signedIn = await client.send(base, 'POST', signInPath, {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: base,
      cookie: cookiesOf(form).join('; '),
    },
    raw: new URLSearchParams({ formToken, ...operator }).toString(),
  })
  return cookiesOf(signedIn).join('; ')
}

/** People who read lists and operators' pages all the while; what they are told is only looked at for its status. */
export const startStaff = (client: Insistent, apis: readonly string[], { keys }: Staff, seed: number) => {
  let isOver = false
  let reads = 0
  const readList = async (random: Random) => {
    const { tenantId, key } = random.pick(keys)
    const path = `/api/tenants/${tenantId}/${random.pick(lists)}?limit=${random.between(1, 50)}`
    await client.send(random.pick(apis), 'GET', path, { key })
  }
  const run = async (random: Random) => {
    let cookie = ''
    while (!isOver) {
      reads += 1
      const base = random.pick(apis)
      if (random.chance(0.5)) await readList(random)
      else if (cookie === '') cookie = await cookieOf(client, base)
      else {
        const page = await client.send(base, 'GET', random.pick(pages), { headers: { cookie } })
        if (page?.status === 401) cookie = ''
      }
      await wait(random.between(200, 700))
    }
  }
  const running = run(randomOf(seed, 'staff'))
  return {
    reads: () => reads,
    stop: async () => {
      isOver = true
      await running
    },
  }
}
