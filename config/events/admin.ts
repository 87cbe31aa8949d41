import { addOnBillingTypes } from '../add-ons.ts'
import { Amount, Currency, Day, Instant, Matching, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const entitlementData = {
  key: Code,
  source: OneOf(['PLAN_DEFAULT', 'STORE_PURCHASE', 'N1_GRANT']),
  expiresAt: Nullable(Instant),
}
const entitlement = { entity: 'entitlement', subject: 'Tenant', data: Obj(entitlementData) } as const
export const entitlementGranted = event({ type: 'entitlement.granted', ...entitlement })
export const entitlementEnded = event({
  type: 'entitlement.ended',
  ...entitlement,
  data: Obj({ ...entitlementData, endCause: Code }),
})

const addOn = {
  entity: 'add_on',
  subject: 'AddOn',
  data: Obj({ addOnId: Uuid, key: Matching('^[a-z][a-z0-9-]*$', 40), billingType: OneOf([...addOnBillingTypes]) }),
} as const
export const addOnPurchased = event({ type: 'add_on.purchased', ...addOn })
export const addOnCancelled = event({ type: 'add_on.cancelled', ...addOn })

const invoice = {
  entity: 'subscription_invoice',
  subject: 'SubscriptionInvoice',
  data: Obj({ invoiceId: Uuid, number: Code, total: Amount, currency: Currency, dueOn: Day }),
} as const
export const subscriptionInvoiceIssued = event({ type: 'subscription_invoice.issued', ...invoice })
export const subscriptionInvoicePaid = event({ type: 'subscription_invoice.paid', ...invoice })
export const subscriptionInvoiceDueDatePassed = event({ type: 'subscription_invoice.due_date_passed', ...invoice })
export const subscriptionInvoiceVoided = event({ type: 'subscription_invoice.voided', ...invoice })

const ofTenant = {
  entity: 'tenant',
  subject: 'Tenant',
  data: Obj({ status: OneOf(['active', 'suspended', 'deleting', 'deleted']), deleteAfter: Nullable(Day) }),
} as const
export const tenantSuspended = event({ type: 'tenant.suspended', ...ofTenant })
export const tenantReactivated = event({ type: 'tenant.reactivated', ...ofTenant })
export const tenantDeletionPlanned = event({ type: 'tenant.deletion_planned', ...ofTenant })

export const subscriptionPlanChanged = event({
  type: 'subscription.plan_changed',
  entity: 'subscription',
  subject: 'Subscription',
  data: Obj({ before: Code, after: Code }),
})

const supportSession = {
  entity: 'support_session',
  subject: 'AuditEntry',
  data: Obj({ supportSessionId: Uuid, mode: OneOf(['read', 'write']), expiresAt: Instant }),
} as const
export const supportSessionStarted = event({ type: 'support_session.started', ...supportSession })
export const supportSessionEnded = event({ type: 'support_session.ended', ...supportSession })

export const adminEvents: Event[] = [
  entitlementGranted,
  entitlementEnded,
  addOnPurchased,
  addOnCancelled,
  subscriptionInvoiceIssued,
  subscriptionInvoicePaid,
  subscriptionInvoiceDueDatePassed,
  subscriptionInvoiceVoided,
  tenantSuspended,
  tenantReactivated,
  tenantDeletionPlanned,
  subscriptionPlanChanged,
  supportSessionStarted,
  supportSessionEnded,
]
