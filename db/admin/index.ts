/** The provider's side: tenants, their plans and features. */
export { syncCatalogue } from './catalogue.ts'
export { grantEntitlement, listEntitlements, revokeEntitlement } from './entitlements.ts'
export { changeTenant, readTenant, createTenant, supportAccessOf } from './tenants.ts'
export { TenantSettings, TenantSettingsChange } from './rules/tenant-settings.ts'
export { changeAddOn, createAddOn, holdersToTell, listAddOns, tellHolder } from './add-ons.ts'
export { listAnnouncements, replaceAnnouncements } from './announcements.ts'
export type { Announcement } from './announcements.ts'
export { changePlan } from './change-plan.ts'
export { explainFeature, listGrantHistory, subjectsOfFeature } from './explain.ts'
export { tellOwners } from './notices.ts'
export { applyPlanVersion, createPlanVersion, listPlans, tenantsOfPlan } from './plans.ts'
export { closePeriod, parkFailed } from './billing/close.ts'
export { applyInvoicePayment } from './billing/collect/apply.ts'
export { invoiceCall, invoiceUnheard } from './billing/collect/call.ts'
export type { InvoiceCall } from './billing/collect/call.ts'
export type { BillingAddress } from './tenants.ts'
export { resolvePlatformCallback } from './billing/collect/read.ts'
export { platformAccount } from './billing/collect/shared.ts'
export { startCollection } from './billing/collect/start.ts'
export { addAdjustment, setPaymentMethod } from './billing/invoices/adjust.ts'
export { recordInvoicePayment, voidInvoice } from './billing/invoices/change.ts'
export { listInvoices, listOwnInvoices, nextInvoice, readInvoice } from './billing/invoices/read.ts'
export { messagePrices, priceOfMonths } from './billing/message-prices.ts'
export { listRuns, runToday, startRun } from './billing/runs.ts'
export { cancelAddOn, listStore, purchaseAddOn } from './billing/store.ts'
export { readSubscription } from './billing/subscription.ts'
export {
  expireGrantsOf,
  flagOverdueOf,
  snapshotStorageOf,
  tenantsAfter,
  tenantsPastDue,
  tenantsWithExpired,
  wrongFeatures,
} from './billing/sweeps.ts'
export {
  beginExport,
  endExport,
  expireOldExports,
  exportParts,
  failExport,
  noteExport,
  putExportPart,
  readExport,
  readExportPart,
  requestExport,
} from './leaving/export.ts'
export { readManifest } from './moving/format.ts'
export { hasMoved } from './moving/moved.ts'
export { exportTenantTo, takeTenantBack } from './moving/source.ts'
export { importTenantFrom } from './moving/target.ts'
export { makeTicket, withdrawTicket } from './moving/ticket.ts'
export { beginPurge, closeStep, endPurge, purgeSome, unlinkRows } from './leaving/purge.ts'
export { changeOperatedTenant, listTenants, readOperatedTenant, readTenantDetail } from './tenant/operate.ts'
export { askForProvisions, provisionParts } from './provisions.ts'
export { askForPurges, planDeletion, reactivateTenant, suspendTenant } from './tenant/status.ts'
export { chainsAfter, linkChain, linkedAtOnce, signHeads, trailHealth, unchained, verifyChain } from './trail/chain.ts'
export { searchOwnTrail, searchTrail } from './trail/search.ts'
