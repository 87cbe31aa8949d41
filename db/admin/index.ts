/** The provider's side: tenants, their plans and features. */
export { grantEntitlement, listEntitlements, revokeEntitlement } from './entitlements.ts'
export { createTenant } from './tenants.ts'
