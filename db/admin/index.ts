/** The provider's side: tenants, their plans and features. */
export { syncCatalogue } from './catalogue.ts'
export { grantEntitlement, listEntitlements, revokeEntitlement } from './entitlements.ts'
export { changeTenant, readTenant } from './own-tenant.ts'
export { TenantSettings, TenantSettingsChange } from './settings.ts'
export { createTenant } from './tenants.ts'
