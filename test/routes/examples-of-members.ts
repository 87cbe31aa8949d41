import fc from 'fast-check'
import { mailedToken } from '../../config/derived-secrets.ts'
import { invite } from '../../db/auth/invitations.ts'
import { createRole } from '../../db/auth/roles.ts'
import { sql } from '../../db/lib/connection.ts'
import { makeUser, newEmail, password } from '../auth/support.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Members, invitations and roles that can be changed, sent again and taken away. */
export const ofMembers = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const { tenantId } = house
  const [owner, ...members] = await Promise.all(
    ['owner', 'stock', 'stock', 'stock', 'stock', 'stock'].map((role) => makeUser({ [tenantId]: role })),
  )
  const [read, changed, gone, ended, lost] = members.map(({ userId }) => userId)
  const somebody = await makeUser()
  const invited = await house.inHouse(async (trx) => {
    const by = { userId: owner?.userId ?? '', role: 'owner', propertyIds: null }
    const asked = []
    for (const email of [newEmail('pending'), newEmail('fresh'), newEmail('fresh'), newEmail('shown'), somebody.email])
      asked.push((await invite(trx, by, { email, role: 'stock' })).userId)
    const tokens = await sql<{ id: string; userId: string }>(
      trx,
      `select id, user_id from one_time_token where user_id = any(?::uuid[])`,
      [asked],
    )
    return asked.map((userId) => ({
      userId,
      token: mailedToken('invitation', tokens.find((token) => token.userId === userId)?.id ?? ''),
    }))
  })
  const [pending, fresh, another, shown, account] = invited
  const permissions = [{ subject: 'Guest', actions: ['read'] }]
  const roles = await house.inHouse(async (trx) => {
    const made = []
    for (const key of ['fuzz-kept', 'fuzz-gone', 'fuzz-spare'])
      made.push((await createRole(trx, { key, name: key, permissions })).id)
    return made
  })
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    known: {
      'users.read userId': one(read),
      'users.change userId': one(changed),
      'users.deactivate userId': one(gone),
      'users.reactivate userId': one(gone),
      'users.revokeSessions userId': one(ended),
      'users.resetMfa userId': one(lost),
      'superuser.users.resetMfa userId': one(lost),
      'users.resendInvitation userId': one(pending?.userId),
      'roles.change roleId': one(roles[0]),
      'roles.delete roleId': one(roles[1], roles[2]),
    },
    examples: {
      'users.list': [{}, { role: 'stock', status: 'active' }, { q: 'some' }],
      'users.invite': Array.from({ length: 8 }, () => ({ email: newEmail('fuzz'), role: 'stock' })),
      'users.change': [
        { role: 'relations' },
        { role: 'stock', propertyIds: [house.propertyId] },
        { propertyIds: null },
      ],
      'superuser.users.resetMfa': [{ reason: 'the phone was lost' }],
      'invitations.preview': [{ token: shown?.token }],
      'invitations.accept': [
        { token: fresh?.token, name: 'Nova', password },
        { token: another?.token, name: 'Nova', password },
        { token: account?.token },
      ],
      'roles.create': ['a', 'b', 'c', 'd'].map((letter) => ({ key: `fuzz-${letter}`, name: 'Night', permissions })),
      'roles.change': [{ name: 'Day' }, { permissions }, { description: 'Changed', permissions }],
    },
  }
}
