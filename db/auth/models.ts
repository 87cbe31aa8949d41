import { model } from '../lib/models.ts'

export const User = model('app_user', 'id')
export const Membership = model('membership')
export const MembershipProperty = model('membership_property', ['tenantId', 'membershipId', 'propertyId'])
export const SuperuserAccount = model('superuser_account', 'id')
