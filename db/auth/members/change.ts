import { unprocessable } from '../../../config/errors.ts'
import { sessionRevoked, userDeactivated, userReactivated, userRoleChanged } from '../../../config/events/auth.ts'
import { audit } from '../../lib/audit.ts'
import type { AuditInput } from '../../lib/audit.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, emitAll } from '../../lib/events.ts'
import { endTokens } from '../one-time-tokens.ts'
import { assertOver, assertRank, assertRoom, assertWithin, lockMember, roleColumns, setProperties } from './checks.ts'
import type { Giver, Locked } from './checks.ts'
import { memberLifecycle, readMember } from './read.ts'
import type { Member } from './read.ts'

const notOneself = () => unprocessable('not_oneself', 'Ask another admin: users cannot change their own access')

type Change = { action: string; event: typeof userRoleChanged; changes: NonNullable<AuditInput['changes']> }

/** Audits and announces a change of access; answers the member as it is now. */
const noted = async (trx: Trx, userId: string, { action, event, changes }: Change): Promise<Member> => {
  const member = await readMember(trx, userId)
  await audit(trx, { action, subjectType: 'User', subjectId: userId, changes })
  await emit(trx, event, {
    propertyId: null,
    id: userId,
    version: member.version,
    data: { userId, role: member.role, propertyIds: member.propertyIds },
    changed: changes.map(({ field, before, after }) => ({ field, before, after })),
  })
  return member
}

const same = (a: readonly string[] | null, b: readonly string[] | null) =>
  a === null || b === null ? a === b : a.toSorted().join() === b.toSorted().join()

/** Changes role or properties (null: all) of an active member; it holds from the commit on, also for sessions that are open. */
export const changeMember = async (
  trx: Trx,
  by: Giver,
  userId: string,
  { role, propertyIds }: { role?: string | undefined; propertyIds?: string[] | null | undefined },
): Promise<Member> => {
  if (userId === by.userId) throw notOneself()
  const member = await lockMember(trx, userId)
  assertOver(by, member)
  if (role !== undefined) assertRank(by, role)
  memberLifecycle.allow('changed', member.status)
  const changes = []
  if (role !== undefined && role !== member.role) {
    const columns = await roleColumns(trx, role)
    await sql(trx, `update membership set role = ?, role_id = ? where id = ?`, [
      columns.role,
      columns.roleId,
      member.id,
    ])
    changes.push({ field: 'role', before: member.role, after: role })
  }
  if (propertyIds !== undefined && !same(propertyIds, member.propertyIds)) {
    assertWithin(by, propertyIds)
    await setProperties(trx, member.id, propertyIds)
    await sql(trx, `update membership set all_properties = ? where id = ?`, [propertyIds === null, member.id])
    changes.push({ field: 'propertyIds', before: member.propertyIds, after: propertyIds })
  }
  if (changes.length === 0) return readMember(trx, userId)
  await sql(trx, `update membership set version = version + 1 where id = ?`, [member.id])
  return noted(trx, userId, { action: 'user.change_role', event: userRoleChanged, changes })
}

/** Ids of the sessions that were in the transaction's tenant and are in none now; their caches are told after the commit. */
const leaveTenant = async (trx: Trx, userId: string): Promise<string[]> => {
  const rows = await sql<{ id: string }>(
    trx,
    `update session set active_tenant_id = null where user_id = ? and active_tenant_id = ? returning id`,
    [userId, contextOf(trx).tenantId],
  )
  return rows.map((row) => row.id)
}

/** Takes a member's access away, at once; the constraint at the commit keeps the last owner. */
export const deactivateMember = async (
  trx: Trx,
  by: Giver,
  userId: string,
): Promise<{ member: Member; sessionIds: string[] }> => {
  if (userId === by.userId) throw notOneself()
  const locked = await lockMember(trx, userId)
  assertOver(by, locked)
  if (!memberLifecycle.isDue('deactivated', locked.status))
    return { member: await readMember(trx, userId), sessionIds: [] }
  await sql(
    trx,
    `update membership set status = 'deactivated', deactivated_at = now(), deactivated_by = ?, version = version + 1 where id = ?`,
    [by.userId, locked.id],
  )
  await endTokens(trx, ['invitation'], userId, contextOf(trx).tenantId)
  const sessionIds = await leaveTenant(trx, userId)
  const member = await noted(trx, userId, {
    action: 'user.deactivate',
    event: userDeactivated,
    changes: [{ field: 'status', before: locked.status, after: 'deactivated' }],
  })
  return { member, sessionIds }
}

/** Reactivates a member who had accepted. A member who never did stays invited and can get a new invitation. */
export const reactivateMember = async (trx: Trx, by: Giver, userId: string): Promise<Member> => {
  const locked: Locked = await lockMember(trx, userId)
  assertOver(by, locked)
  if (locked.status !== 'deactivated') return readMember(trx, userId)
  const status = locked.acceptedAt === null ? 'invited' : 'active'
  await sql(
    trx,
    `update membership set status = ?, deactivated_at = null, deactivated_by = null, version = version + 1 where id = ?`,
    [status, locked.id],
  )
  const member = await noted(trx, userId, {
    action: 'user.reactivate',
    event: userReactivated,
    changes: [{ field: 'status', before: 'deactivated', after: status }],
  })
  await assertRoom(trx)
  return member
}

/** Ends a member's sessions whose active tenant is this one (R23); answers their ids. */
export const revokeMemberSessions = async (trx: Trx, by: Giver, userId: string): Promise<string[]> => {
  const locked = await lockMember(trx, userId)
  if (userId !== by.userId) assertOver(by, locked)
  const rows = await sql<{ id: string }>(
    trx,
    `update session set revoked_at = now(), revoke_reason = 'admin'
     where user_id = ? and active_tenant_id = ? and revoked_at is null and absolute_expires_at > now() returning id`,
    [userId, contextOf(trx).tenantId],
  )
  const sessionIds = rows.map((row) => row.id)
  await audit(trx, {
    action: 'user.revoke_sessions',
    subjectType: 'User',
    subjectId: userId,
    changes: [{ field: 'sessions', before: sessionIds.length, after: 0 }],
  })
  await emitAll(
    trx,
    sessionRevoked,
    sessionIds.map((id) => ({
      propertyId: null,
      id,
      version: null,
      data: { userId, reason: 'admin' },
    })),
  )
  return sessionIds
}
