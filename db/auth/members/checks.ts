import { forbidden, notFound, unprocessable } from '../../../config/errors.ts'
import { isBuiltInRole, rankOf } from '../../../config/roles.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { readMember } from './read.ts'
import type { Member } from './read.ts'

/** A member who changes others; their rank and properties bound what may be given. */
export type Giver = { userId: string; role: string; propertyIds: readonly string[] | null }

/** Most members that are not deactivated. */
export const mostMembers = 500

/** Facts of a member that is locked until the end of the command. */
export type Locked = Pick<Member, 'userId' | 'status' | 'role' | 'propertyIds' | 'acceptedAt' | 'version'> & {
  id: string
}

export const lockMember = async (trx: Trx, userId: string): Promise<Locked> => {
  const row = await sqlOne<{ id: string }>(trx, `select id from membership where user_id = ? for no key update`, [
    userId,
  ])
  if (!row) throw notFound()
  return { ...(await readMember(trx, userId)), id: row.id }
}

/** Refuses to give, change, deactivate or reset a role above the caller's own rank. */
export const assertRank = (by: Giver, ...roles: string[]): void => {
  if (roles.some((role) => rankOf(role) > rankOf(by.role)))
    throw forbidden('forbidden', 'Insufficient permissions: the role is above your own')
}

/** Refuses to act on a member above the caller's own rank, or at work in houses that are not the caller's. */
export const assertOver = (by: Giver, member: Pick<Member, 'userId' | 'role' | 'propertyIds'>): void => {
  assertRank(by, member.role)
  assertWithin(by, member.propertyIds)
}

/** Refuses properties that the caller lacks; callers with chosen ones may not give all. */
export const assertWithin = (by: Giver, propertyIds: readonly string[] | null): void => {
  if (by.propertyIds === null) return
  if (propertyIds === null || propertyIds.some((id) => !by.propertyIds?.includes(id)))
    throw forbidden('forbidden', 'Insufficient permissions: this concerns properties that are not yours')
}

/** The columns that stand for a role by its key; 422 where there is no such role. */
export const roleColumns = async (trx: Trx, key: string): Promise<{ role: string | null; roleId: string | null }> => {
  if (isBuiltInRole(key)) return { role: key, roleId: null }
  const custom = await sqlOne<{ id: string }>(trx, `select id from role where key = ? for key share`, [key])
  if (!custom)
    throw unprocessable('reference_not_found', 'There is no such role', [{ field: 'role', message: 'is not known' }])
  return { role: null, roleId: custom.id }
}

export const setProperties = async (trx: Trx, membershipId: string, propertyIds: readonly string[] | null) => {
  await sql(trx, `delete from membership_property where membership_id = ?`, [membershipId])
  if (propertyIds !== null)
    await sql(trx, `insert into membership_property (membership_id, property_id) select ?, unnest(?::uuid[])`, [
      membershipId,
      [...new Set(propertyIds)],
    ])
}

/** No tenant has more members than that; counted one after another, as the last step but the owners' own check. */
export const assertRoom = async (trx: Trx): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select 1 from tenant where id = ? for no key update`, [tenantId])
  const row = await sqlOne<{ n: number }>(trx, `select count(*) as n from membership where status <> 'deactivated'`)
  if ((row?.n ?? 0) > mostMembers) throw unprocessable('too_many', `A tenant has at most ${mostMembers} members`)
}
