import { Bool, Day, Nullable, Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Looks for subscriptions whose period is over. */
export const runBilling = job({ name: 'billing.run', queue: 'billing', payload: Obj({}), retry: 'tick' })

/** Writes the invoice of one period of one tenant, and opens the next. */
export const closeBillingPeriod = job({
  name: 'billing.close-period',
  queue: 'billing',
  payload: Obj({ tenantId: Uuid, periodStart: Day, billingRunId: Uuid, force: Bool }),
  retry: 'internal',
})

/** Moves the tenants of a plan to a version of it, some at a time. `after`: the last that was moved. */
export const movePlan = job({
  name: 'billing.apply-plan-version',
  queue: 'billing',
  payload: Obj({ planVersionId: Uuid, after: Nullable(Uuid) }),
  retry: 'internal',
})

/** Tells the holders of an add-on that its price will change for them, too. */
export const tellHoldersOfPrice = job({
  name: 'billing.tell-holders',
  queue: 'billing',
  payload: Obj({ priceId: Uuid, after: Nullable(Uuid) }),
  retry: 'internal',
})

/** Writes the ends of grants whose time is over; the gate knows of them to the instant without it. */
export const expireGrants = job({ name: 'billing.expire-grants', queue: 'billing', payload: Obj({}), retry: 'tick' })

/** Notes what is past due, and tells of it. */
export const flagOverdue = job({ name: 'billing.flag-overdue', queue: 'billing', payload: Obj({}), retry: 'tick' })

/** Takes down how much each tenant stores. */
export const snapshotStorage = job({
  name: 'billing.snapshot-storage',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Asks for the money of an invoice. */
export const collectInvoice = job({
  name: 'billing.collect',
  queue: 'billing',
  payload: Obj({ tenantId: Uuid, invoicePaymentId: Uuid }),
  retry: 'provider',
})

/** Reads what became of a payment of an invoice. */
export const readInvoicePayment = job({
  name: 'billing.read-payment',
  queue: 'billing',
  payload: Obj({ tenantId: Uuid, invoicePaymentId: Uuid }),
  retry: 'provider',
})

/** Tries again to collect an invoice whose payment failed. */
export const retryInvoice = job({
  name: 'billing.retry-invoice',
  queue: 'billing',
  payload: Obj({ tenantId: Uuid, invoiceId: Uuid }),
  retry: 'internal',
})

/** Ends support sessions whose time is over. */
export const endSupportSessions = job({
  name: 'maintenance.end-support-sessions',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Links new entries of the audit trail to their chains. */
export const chainAudit = job({
  name: 'maintenance.chain-audit',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Computes the chains anew, and compares. */
export const verifyAudit = job({
  name: 'maintenance.verify-audit',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Compares the features of all tenants with their grants. */
export const verifyEntitlements = job({
  name: 'maintenance.verify-entitlements',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Writes all data of a tenant into parts. */
export const exportTenant = job({
  name: 'privacy.export-tenant',
  queue: 'privacy',
  payload: Obj({ tenantId: Uuid, tenantExportId: Uuid }),
  retry: 'internal',
})

/** Deletes the parts of exports whose time is over. */
export const expireExports = job({
  name: 'maintenance.expire-exports',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Asks for the purge of tenants whose grace time is over. */
export const sweepPurges = job({ name: 'privacy.sweep-purges', queue: 'privacy', payload: Obj({}), retry: 'tick' })

/** Looks for tenants that were made before this release, and lack what it gives. */
export const sweepProvisions = job({
  name: 'maintenance.sweep-provisions',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Gives a tenant what it lacks of what tenants start with. */
export const provisionTenant = job({
  name: 'maintenance.provision-tenant',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid }),
  retry: 'internal',
})

/** Deletes all data of a tenant, table by table. */
export const purgeTenant = job({
  name: 'privacy.purge-tenant',
  queue: 'privacy',
  payload: Obj({ tenantId: Uuid }),
  retry: 'internal',
})

export const adminJobs: Job[] = [
  runBilling,
  closeBillingPeriod,
  movePlan,
  tellHoldersOfPrice,
  expireGrants,
  flagOverdue,
  snapshotStorage,
  collectInvoice,
  readInvoicePayment,
  retryInvoice,
  endSupportSessions,
  chainAudit,
  verifyAudit,
  verifyEntitlements,
  exportTenant,
  expireExports,
  sweepPurges,
  purgeTenant,
  sweepProvisions,
  provisionTenant,
]

export const adminSchedules: Schedule[] = [
  every(3_600, runBilling),
  every(60, expireGrants),
  daily('03:10', flagOverdue),
  daily('02:20', snapshotStorage),
  every(30, endSupportSessions),
  every(1, chainAudit),
  daily('04:30', verifyAudit),
  daily('04:10', verifyEntitlements),
  daily('05:10', expireExports),
  every(3_600, sweepPurges),
  every(300, sweepProvisions),
]
