/** The provider's side: tenants, their plans and features. */
export { syncCatalogue } from './catalogue.ts'
export { grantEntitlement, listEntitlements, revokeEntitlement } from './entitlements.ts'
export { changeTenant, readTenant, createTenant } from './tenants.ts'
export { TenantSettings, TenantSettingsChange } from './rules/tenant-settings.ts'
