import fc from 'fast-check'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { createToken } from '../../db/auth/one-time-tokens.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { makeUser, newEmail, password } from '../auth/support.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Keys that can be changed, rotated and revoked, and links that were mailed. */
export const ofAccounts = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const keys = await house.inHouse(async (trx) => {
    const made = []
    for (const name of ['changed', 'rotated 1', 'rotated 2', 'rotated 3', 'revoked'])
      made.push((await createApiKey(trx, { name: `fuzz ${name}`, scopes: ['read', 'guests:write'] })).apiKeyId)
    return made
  })
  const [changed, first, second, third, revoked] = keys
  const [forgetful, moving] = [await makeUser(), await makeUser()]
  const [reset, moved] = await inPlatform(async (trx) => [
    (await createToken(trx, 'password_reset', { userId: forgetful.userId })).token,
    (await createToken(trx, 'email_change', { userId: moving.userId, data: { email: newEmail('moved') } })).token,
  ])
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const newPassword = 'mar azul e vento norte'
  return {
    known: {
      'apiKeys.update apiKeyId': one(changed),
      'apiKeys.rotate apiKeyId': one(first, second, third),
      'apiKeys.revoke apiKeyId': one(revoked),
    },
    examples: {
      'auth.changePassword': [{ currentPassword: password, newPassword }],
      'auth.resetPassword': [{ token: reset, newPassword }],
      'auth.confirmEmail': [{ token: moved }],
      'apiKeys.create': ['a', 'b', 'c', 'd'].map((letter) => ({ name: `fuzz ${letter}`, scopes: ['units:read'] })),
      'apiKeys.update': [{ scopes: ['read'] }, { cidrs: ['127.0.0.0/8'] }, { propertyIds: [house.propertyId] }],
      'apiKeys.rotate': [{}, { overlapHours: 0 }],
    },
  }
}
