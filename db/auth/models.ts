import { model } from '../models.ts'
import type { AppUserRow, MembershipPropertyRow, MembershipRow, SuperuserAccountRow } from '../rows.ts'

export const User = model<AppUserRow>('app_user', 'id')
export const Membership = model<MembershipRow>('membership')
export const MembershipProperty = model<MembershipPropertyRow>('membership_property', [
  'tenantId',
  'membershipId',
  'propertyId',
])
export const SuperuserAccount = model<SuperuserAccountRow>('superuser_account', 'id')
