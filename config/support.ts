import type { SubjectName } from './subjects.ts'

/** Subjects that no support session touches, not even to read: people and their access, the contract, the accounts that money goes to. */
const closed: ReadonlySet<string> = new Set<SubjectName>([
  'User',
  'Role',
  'ApiKey',
  'Subscription',
  'AddOn',
  'SubscriptionInvoice',
  'GatewayAccount',
  'PixConnection',
])

/** Acts that no support session does, whatever the subject. */
const never: ReadonlySet<string> = new Set([
  'reveal',
  'export',
  'approve',
  'refund',
  'purchase',
  'configure',
  'transfer',
  'merge',
])

/**
 * Subjects that a support session reads, and does nothing else with: money that moves, the places that it goes to, limits of approvals, the tenant's own word
 * on support and bills, and the addresses to which data of the tenant leave.
 */
const readOnly: ReadonlySet<string> = new Set<SubjectName>([
  'Tenant',
  'ApprovalPolicy',
  'CashAccount',
  'PropertyPaymentMethod',
  'MessageChannel',
  'ChannelConnection',
  'WebhookEndpoint',
  'ReportSchedule',
  'Payment',
  'PaymentMethod',
  'Refund',
  'Dispute',
  'Payout',
  'CashTransfer',
  'CashMovement',
  'PayablePayment',
  'SupplierBankDetails',
  'PrivacyRequest',
  'PixCharge',
])

/** Tells whether a support session may do this at all; its mode decides besides. */
export const supportMay = (action: string, subject: string): boolean =>
  !closed.has(subject) && !never.has(action) && (action === 'read' || !readOnly.has(subject))
