/** The provider's side: tenants, their plans and features. */
export { syncCatalogue } from './catalogue.ts'
export { grantEntitlement, listEntitlements, revokeEntitlement } from './entitlements.ts'
export type { Entitlement } from './entitlements.ts'
export { createTenant } from './tenants.ts'
export type { NewTenant } from './tenants.ts'
