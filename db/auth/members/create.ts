import { isBuiltInRole } from '../../../config/roles.ts'
import { audit } from '../../lib/audit.ts'
import type { Trx } from '../../lib/connection.ts'
import { Membership, MembershipProperty } from '../models.ts'

type NewMembership = { userId: string; role: string; propertyIds?: string[] | null }

/** Makes a user a member of the transaction's tenant, at once active. */
export const addMembership = async (trx: Trx, { userId, role, propertyIds = null }: NewMembership): Promise<string> => {
  if (!isBuiltInRole(role)) throw new TypeError(`${role} is no built-in role`)
  const { id: membershipId } = await Membership.query(trx)
    .insert({ userId, role, allProperties: propertyIds === null, status: 'active', acceptedAt: new Date() })
    .returning('id')
  for (const propertyId of propertyIds ?? []) await MembershipProperty.query(trx).insert({ membershipId, propertyId })
  await audit(trx, {
    action: 'user.join',
    subjectType: 'User',
    subjectId: userId,
    changes: [{ field: 'role', after: role }],
  })
  return membershipId
}
