/** The provider's side: tenants, their plans and features. */
export { syncCatalogue } from './catalogue.ts'
export { grantEntitlement, listEntitlements, revokeEntitlement } from './entitlements.ts'
export { changeTenant, readTenant, createTenant } from './tenants.ts'
export { TenantSettings, TenantSettingsChange } from './rules/tenant-settings.ts'
export { closePeriod } from './billing/close.ts'
export {
  addAdjustment,
  listInvoices,
  listOwnInvoices,
  nextInvoice,
  readInvoice,
  recordInvoicePayment,
  setPaymentMethod,
  voidInvoice,
} from './billing/invoices.ts'
export { messagePrices, priceOfMonths } from './billing/message-prices.ts'
export { listRuns, runToday, startRun } from './billing/runs.ts'
export { cancelAddOn, listStore, purchaseAddOn } from './billing/store.ts'
export { readSubscription } from './billing/subscription.ts'
