import { randomUUID } from 'node:crypto'
import { createTenant } from '../../db/admin/index.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { hashPassword } from '../../db/auth/hashing.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { createUser, grantSuperuser } from '../../db/auth/users.ts'
import { enterTenant, inPlatform, inTenant } from '../../db/lib/connection.ts'
import type { Plan } from '../../config/plans.ts'
import type { World } from '../support/world.ts'

export const password = 'a long enough password'

export const newEmail = (who: string) => `${who}-${randomUUID().slice(0, 8)}@house.example`

/** A tenant on a plan. */
export const makeTenant = (plan: Plan = 'Enterprise', name = 'House'): Promise<string> =>
  inPlatform(async (trx) => {
    const { tenantId } = await createTenant(trx, {
      name,
      country: 'BR',
      currency: 'BRL',
      timeZone: 'America/Sao_Paulo',
      locale: 'pt-BR',
      billingEmail: 'billing@house.example',
      plan,
    })
    return tenantId
  })

export type Person = { userId: string; email: string }

/** An active user with these memberships. */
export const makeUser = async (
  memberships: Record<string, string> = {},
  { email = newEmail('user'), name = 'Somebody' } = {},
): Promise<Person> => {
  const hash = await hashPassword(password)
  return inPlatform(async (trx) => {
    const userId = await createUser(trx, { email, name, hash })
    for (const [tenantId, role] of Object.entries(memberships))
      await addMembership(await enterTenant(trx, tenantId), { userId, role })
    return { userId, email }
  })
}

export const makeSuperuser = async (level: 'N1' | 'N2'): Promise<Person> => {
  const person = await makeUser({}, { email: newEmail(level.toLowerCase()) })
  await inPlatform((trx) => grantSuperuser(trx, person.userId, level, 'for the test'))
  return person
}

export const makeKey = (
  tenantId: string,
  scopes: string[],
  options: { cidrs?: string[]; expiresAt?: Date; propertyIds?: string[] } = {},
) => inTenant(tenantId, (trx) => createApiKey(trx, { name: `key ${randomUUID().slice(0, 8)}`, scopes, ...options }))

export type SignedIn = { token: string; user: { id: string; email: string; name: string; role: string } }

export const signIn = async (
  world: World,
  { email }: { email: string },
  headers: Record<string, string> = {},
): Promise<SignedIn> => {
  const { status, body } = await world.request<SignedIn & { message: string }>('POST', '/api/auth/sign-in/email', {
    body: { email, password },
    headers,
  })
  if (status !== 200) throw new Error(`sign-in of ${email}: ${status} ${body.message}`)
  return body
}

export { forgetLimits } from '../support/world.ts'

/** Limits count by the clock's minute, and a test must not straddle two: waits for the next one where this one has less left. */
export const roomInMinute = async (seconds: number) => {
  const left = 60 - ((Date.now() / 1000) % 60)
  if (left < seconds) await new Promise((resolve) => setTimeout(resolve, left * 1000 + 50))
}
