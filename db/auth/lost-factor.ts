import { notFound, unprocessable } from '../../config/errors.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../lib/connection.ts'
import { tellEnded } from './ended.ts'
import { assertOver, lockMember } from './members/checks.ts'
import { memberLifecycle, readMember } from './members/read.ts'
import type { Giver } from './members/checks.ts'
import type { Member } from './members/read.ts'
import { removeSecondFactor } from './second-factor.ts'
import { revokeAll } from './sessions.ts'

const notOneself = () => unprocessable('not_oneself', 'Remove your own second factor in your account')

const remove = async (trx: AnyTrx, userId: string, reason: string | null): Promise<string[]> => {
  const removed = await removeSecondFactor(trx, userId)
  await audit(trx, {
    action: 'user.reset_mfa',
    subjectType: 'User',
    subjectId: userId,
    reason,
    changes: [{ field: 'mfaEnabled', before: removed, after: false }],
  })
  return removed ? revokeAll(trx, userId, 'mfa') : []
}

/**
 * Removes a member's lost second factor and ends all his sessions; ids of those are answered. It is this tenant's to do only where the user
 * works nowhere else (R23): 422 `user_has_other_tenants`.
 */
export const resetMemberMfa = async (
  trx: Trx,
  by: Giver,
  userId: string,
): Promise<{ member: Member; sessionIds: string[] }> => {
  if (userId === by.userId) throw notOneself()
  const locked = await lockMember(trx, userId)
  assertOver(by, locked)
  memberLifecycle.allow('freed of a second factor', locked.status)
  const elsewhere = await sqlOne(
    trx,
    `select 1 as one from memberships_of(?) where tenant_id <> ? and status = 'active'
     union all select 1 from superuser_account where user_id = ? and ended_at is null limit 1`,
    [userId, contextOf(trx).tenantId, userId],
  )
  if (elsewhere)
    throw unprocessable(
      'user_has_other_tenants',
      'This user works for others too; the provider of the service can remove the second factor',
    )
  const sessionIds = await remove(trx, userId, null)
  const member = await readMember(trx, userId)
  await tellEnded(trx, sessionIds, 'mfa')
  return { member, sessionIds }
}

/** Removes any user's lost second factor, for the provider, with a reason that is audited. */
export const resetUserMfa = async (
  trx: PlatformTrx,
  byUserId: string,
  userId: string,
  reason: string,
): Promise<string[]> => {
  if (userId === byUserId) throw notOneself()
  if (!(await sqlOne(trx, `select 1 as one from app_user where id = ?`, [userId]))) throw notFound()
  const sessionIds = await remove(trx, userId, reason)
  await tellEnded(trx, sessionIds, 'mfa')
  return sessionIds
}
