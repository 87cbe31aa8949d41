/**
 * Every subject of permissions: its module, the feature that it belongs to, and what can be done with it. It follows the catalogue
 * of endpoints.
 */
type SubjectFacts = {
  readonly module: string
  /** null = there for every tenant, whatever its features */
  readonly feature: string | null
  /** Those of the catalogue, */
  readonly actions: readonly string[]
  /** and those that no endpoint is named by: they open a rule inside another one. */
  readonly beyond?: readonly string[]
  /** Who reaches it: a tenant's users and keys, every user for himself, superusers. */
  readonly reach: 'tenant' | 'own' | 'platform'
}

export const subjects = {
  Session: { module: 'auth', feature: null, actions: ['update', 'delete', 'read'], reach: 'own' },
  Profile: { module: 'auth', feature: null, actions: ['read', 'update'], reach: 'own' },
  User: { module: 'auth', feature: null, actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  SuperuserAccount: { module: 'admin', feature: null, actions: ['reset', 'read', 'grant', 'lock'], reach: 'platform' },
  Role: { module: 'auth', feature: null, actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  ApiKey: { module: 'auth', feature: null, actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  Tenant: { module: 'admin', feature: null, actions: ['read', 'create', 'update', 'suspend', 'export', 'delete'], reach: 'tenant' },
  Subscription: { module: 'admin', feature: null, actions: ['update', 'read'], reach: 'tenant' },
  Entitlement: { module: 'admin', feature: null, actions: ['read', 'grant', 'revoke'], reach: 'platform' },
  Plan: { module: 'admin', feature: null, actions: ['read', 'create'], reach: 'platform' },
  Feature: { module: 'admin', feature: null, actions: ['read'], reach: 'platform' },
  AddOn: { module: 'admin', feature: null, actions: ['read', 'create', 'update', 'purchase'], reach: 'tenant' },
  BillingAdjustment: { module: 'admin', feature: null, actions: ['create'], reach: 'platform' },
  SubscriptionInvoice: { module: 'admin', feature: null, actions: ['read', 'void', 'record'], reach: 'tenant' },
  BillingRun: { module: 'admin', feature: null, actions: ['read', 'create'], reach: 'platform' },
  AuditEntry: { module: 'admin', feature: null, actions: ['read'], reach: 'tenant' },
  SupportSession: { module: 'admin', feature: null, actions: ['read', 'create'], reach: 'platform' },
  Queue: { module: 'admin', feature: null, actions: ['read', 'operate'], reach: 'platform' },
  Job: { module: 'admin', feature: null, actions: ['read', 'operate'], reach: 'platform' },
  SystemHealth: { module: 'admin', feature: null, actions: ['read'], reach: 'platform' },
  Announcement: { module: 'admin', feature: null, actions: ['update', 'read'], reach: 'own' },
  Property: { module: 'properties', feature: 'core', actions: ['read', 'create', 'update', 'publish', 'delete'], reach: 'tenant' },
  PropertySettings: { module: 'properties', feature: 'core', actions: ['update'], reach: 'tenant' },
  AgeCategory: { module: 'properties', feature: 'core', actions: ['read', 'update'], reach: 'tenant' },
  Season: { module: 'properties', feature: 'core', actions: ['read', 'update'], reach: 'tenant' },
  PropertyPaymentMethod: { module: 'properties', feature: 'core', actions: ['read', 'update'], reach: 'tenant' },
  GalleryImage: { module: 'properties', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  TaxRule: { module: 'properties', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  Policy: { module: 'properties', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  RatePlan: { module: 'properties', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  RateCalendar: { module: 'properties', feature: 'core', actions: ['read', 'update'], reach: 'tenant' },
  Availability: { module: 'properties', feature: 'core', actions: ['read'], reach: 'tenant', beyond: ['override'] },
  OverbookingLimit: { module: 'properties', feature: 'core', actions: ['read', 'override'], reach: 'tenant' },
  Extra: { module: 'properties', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  PromoCode: { module: 'properties', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  ChannelConnection: { module: 'properties', feature: 'channels', actions: ['read', 'create', 'update', 'publish', 'delete'], reach: 'tenant' },
  ChannelBooking: { module: 'properties', feature: 'channels', actions: ['read', 'create', 'update', 'override'], reach: 'tenant', beyond: ['reveal'] },
  NightAudit: { module: 'properties', feature: 'core', actions: ['read', 'close'], reach: 'tenant' },
  UnitType: { module: 'units', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  UnitPool: { module: 'units', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  Unit: { module: 'units', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  HousekeepingTask: { module: 'units', feature: 'core', actions: ['perform', 'read', 'create', 'update', 'inspect'], reach: 'tenant' },
  UnitAssignment: { module: 'units', feature: 'core', actions: ['read', 'update'], reach: 'tenant' },
  UnitBlock: { module: 'units', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant', beyond: ['override'] },
  UnitCondition: { module: 'units', feature: 'core', actions: ['update'], reach: 'tenant' },
  HousekeepingSheet: { module: 'units', feature: 'core', actions: ['read', 'create', 'publish'], reach: 'tenant' },
  Quote: { module: 'reservations', feature: 'core', actions: ['read', 'create'], reach: 'tenant' },
  Booking: { module: 'reservations', feature: 'core', actions: ['read', 'create', 'update', 'confirm'], reach: 'tenant' },
  Reservation: { module: 'reservations', feature: 'core', actions: ['cancel', 'read', 'update', 'check_in', 'revert', 'check_out', 'no_show', 'reinstate', 'amend', 'assign', 'move'], reach: 'tenant', beyond: ['override'] },
  Deposit: { module: 'reservations', feature: 'core', actions: ['update', 'waive'], reach: 'tenant' },
  Folio: { module: 'reservations', feature: 'core', actions: ['update', 'read', 'create', 'charge', 'adjust', 'transfer', 'close', 'reopen', 'invoice'], reach: 'tenant' },
  Group: { module: 'reservations', feature: 'core', actions: ['read', 'create', 'update', 'confirm', 'cancel', 'import'], reach: 'tenant' },
  Guest: { module: 'guests', feature: 'core', actions: ['read', 'create', 'update', 'delete', 'reveal', 'merge'], reach: 'tenant' },
  GuestDuplicate: { module: 'guests', feature: 'core', actions: ['read', 'update'], reach: 'tenant' },
  GuestConsent: { module: 'guests', feature: 'core', actions: ['create'], reach: 'tenant' },
  GuestNote: { module: 'guests', feature: 'core', actions: ['create', 'delete'], reach: 'tenant' },
  GuestDocument: { module: 'guests', feature: 'core', actions: ['create', 'delete', 'update', 'verify'], reach: 'tenant' },
  GuestBlock: { module: 'guests', feature: 'core', actions: ['create', 'update'], reach: 'tenant' },
  Company: { module: 'guests', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  PrivacyRequest: { module: 'guests', feature: 'core', actions: ['read', 'create', 'approve', 'export'], reach: 'tenant' },
  GuestRegistration: { module: 'guests', feature: 'core', actions: ['read', 'update'], reach: 'tenant' },
  GatewayAccount: { module: 'payment', feature: 'payments', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  PaymentMethod: { module: 'payment', feature: 'payments', actions: ['read', 'create', 'delete'], reach: 'tenant' },
  Payment: { module: 'payment', feature: 'payments', actions: ['read', 'create', 'record', 'capture', 'cancel', 'allocate', 'refund'], reach: 'tenant', beyond: ['override'] },
  Refund: { module: 'payment', feature: 'payments', actions: ['read'], reach: 'tenant' },
  Dispute: { module: 'payment', feature: 'payments', actions: ['read', 'respond'], reach: 'tenant' },
  Payout: { module: 'payment', feature: 'payments', actions: ['read'], reach: 'tenant' },
  BalanceTransaction: { module: 'payment', feature: 'payments', actions: ['read'], reach: 'tenant' },
  Reconciliation: { module: 'payment', feature: 'payments', actions: ['read'], reach: 'tenant' },
  PaymentException: { module: 'payment', feature: 'payments', actions: ['read', 'resolve'], reach: 'tenant' },
  Book: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update', 'lock'], reach: 'tenant' },
  Journal: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update'], reach: 'tenant' },
  Account: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  LedgerEntry: { module: 'financial', feature: 'financial', actions: ['read', 'post', 'reverse'], reach: 'tenant', beyond: ['override'] },
  EntryDraft: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update', 'delete', 'approve'], reach: 'tenant' },
  EntryTemplate: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  AccrualSchedule: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update'], reach: 'tenant' },
  PostingRule: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update'], reach: 'tenant' },
  PostingEvent: { module: 'financial', feature: 'financial', actions: ['read', 'update', 'override'], reach: 'tenant' },
  FiscalYear: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'close', 'reopen'], reach: 'tenant' },
  FiscalPeriod: { module: 'financial', feature: 'financial', actions: ['read', 'close', 'reopen'], reach: 'tenant' },
  BusinessDay: { module: 'financial', feature: 'financial', actions: ['read'], reach: 'tenant' },
  CostCenter: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  TaxCode: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'update'], reach: 'tenant' },
  TaxAssessment: { module: 'financial', feature: 'financial', actions: ['read', 'create'], reach: 'tenant' },
  Budget: { module: 'financial', feature: 'financial', actions: ['read', 'create', 'delete', 'update', 'approve'], reach: 'tenant' },
  ExchangeRate: { module: 'financial', feature: 'financial', actions: ['read', 'update', 'delete'], reach: 'tenant' },
  FinancialAttachment: { module: 'financial', feature: 'financial', actions: ['create', 'read', 'delete'], reach: 'tenant' },
  IntegrityCheck: { module: 'financial', feature: 'financial', actions: ['read', 'create'], reach: 'tenant' },
  CashAccount: { module: 'cash', feature: 'financial', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  PixConnection: { module: 'cash', feature: 'financial', actions: ['configure'], reach: 'tenant' },
  CashPosition: { module: 'cash', feature: 'financial', actions: ['read'], reach: 'tenant' },
  CashMovement: { module: 'cash', feature: 'financial', actions: ['read', 'create', 'reverse'], reach: 'tenant', beyond: ['reveal'] },
  CashTransfer: { module: 'cash', feature: 'financial', actions: ['read', 'create', 'approve', 'update'], reach: 'tenant' },
  CashSession: { module: 'cash', feature: 'financial', actions: ['read', 'create', 'close', 'approve'], reach: 'tenant' },
  BankStatement: { module: 'cash', feature: 'financial', actions: ['read', 'create', 'delete', 'reconcile', 'match'], reach: 'tenant' },
  PixCharge: { module: 'cash', feature: 'financial', actions: ['read', 'create', 'update'], reach: 'tenant' },
  Supplier: { module: 'accounts-payable', feature: 'suppliers', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant', beyond: ['reveal'] },
  SupplierBankDetails: { module: 'accounts-payable', feature: 'suppliers', actions: ['approve'], reach: 'tenant' },
  Payable: { module: 'accounts-payable', feature: 'financial', actions: ['read', 'create', 'update', 'approve', 'void'], reach: 'tenant' },
  PayablePayment: { module: 'accounts-payable', feature: 'financial', actions: ['read', 'create', 'approve', 'void'], reach: 'tenant' },
  SupplierCredit: { module: 'accounts-payable', feature: 'financial', actions: ['read', 'create', 'refund', 'void'], reach: 'tenant' },
  RecurringPayable: { module: 'accounts-payable', feature: 'financial', actions: ['read', 'create', 'update'], reach: 'tenant' },
  PurchaseOrder: { module: 'accounts-payable', feature: 'suppliers', actions: ['read', 'create', 'update', 'approve'], reach: 'tenant' },
  ApprovalPolicy: { module: 'accounts-payable', feature: 'financial', actions: ['read', 'update'], reach: 'tenant' },
  Customer: { module: 'accounts-receivable', feature: 'financial', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant', beyond: ['override', 'reveal'] },
  Receivable: { module: 'accounts-receivable', feature: 'financial', actions: ['read', 'create', 'bill', 'update', 'issue', 'void', 'send', 'write_off'], reach: 'tenant' },
  Receipt: { module: 'accounts-receivable', feature: 'financial', actions: ['read', 'create', 'allocate', 'refund', 'reverse'], reach: 'tenant' },
  CreditNote: { module: 'accounts-receivable', feature: 'financial', actions: ['read', 'create'], reach: 'tenant' },
  ReceivableSettings: { module: 'accounts-receivable', feature: 'financial', actions: ['read', 'update'], reach: 'tenant' },
  DunningRun: { module: 'accounts-receivable', feature: 'financial', actions: ['read', 'send'], reach: 'tenant' },
  FiscalDocument: { module: 'accounts-receivable', feature: 'financial', actions: ['read', 'create', 'update', 'void'], reach: 'tenant' },
  InventoryItem: { module: 'inventory', feature: 'pos', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  InventoryCategory: { module: 'inventory', feature: 'pos', actions: ['read', 'update'], reach: 'tenant' },
  InventoryLocation: { module: 'inventory', feature: 'pos', actions: ['read', 'update'], reach: 'tenant' },
  InventoryStock: { module: 'inventory', feature: 'pos', actions: ['read'], reach: 'tenant' },
  InventoryMovement: { module: 'inventory', feature: 'pos', actions: ['read', 'create', 'reverse'], reach: 'tenant' },
  InventoryCount: { module: 'inventory', feature: 'pos', actions: ['read', 'create', 'update', 'approve', 'delete'], reach: 'tenant' },
  Recipe: { module: 'inventory', feature: 'pos', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  InventoryConsumption: { module: 'inventory', feature: 'pos', actions: ['read', 'create'], reach: 'tenant' },
  Outlet: { module: 'inventory', feature: 'pos', actions: ['read', 'update'], reach: 'tenant' },
  PriceList: { module: 'inventory', feature: 'pos', actions: ['read', 'update'], reach: 'tenant' },
  PosOrder: { module: 'inventory', feature: 'pos', actions: ['read', 'create', 'update', 'close', 'void'], reach: 'tenant', beyond: ['override'] },
  Issue: { module: 'issues', feature: 'core', actions: ['read', 'create', 'update', 'comment', 'close'], reach: 'tenant' },
  IssueCategory: { module: 'issues', feature: 'core', actions: ['read', 'create', 'update'], reach: 'tenant' },
  Compensation: { module: 'issues', feature: 'core', actions: ['read', 'approve', 'propose'], reach: 'tenant' },
  LostItem: { module: 'issues', feature: 'core', actions: ['read', 'create', 'update'], reach: 'tenant' },
  MessageChannel: { module: 'ocp', feature: 'ocp', actions: ['read', 'update'], reach: 'tenant' },
  MessageTemplate: { module: 'ocp', feature: 'ocp', actions: ['read', 'create', 'update', 'publish', 'delete'], reach: 'tenant' },
  Automation: { module: 'ocp', feature: 'ocp', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  Message: { module: 'ocp', feature: 'ocp', actions: ['read', 'send'], reach: 'tenant' },
  Conversation: { module: 'ocp', feature: 'ocp', actions: ['read', 'update'], reach: 'tenant' },
  Suppression: { module: 'ocp', feature: 'ocp', actions: ['read', 'create', 'delete'], reach: 'tenant' },
  Campaign: { module: 'ocp', feature: 'ocp', actions: ['read', 'create', 'update', 'launch'], reach: 'tenant' },
  ReportRun: { module: 'reports', feature: 'core', actions: ['read', 'create', 'export'], reach: 'tenant' },
  FinancialReport: { module: 'reports', feature: 'financial', actions: ['read'], reach: 'tenant' },
  OperationalReport: { module: 'reports', feature: 'core', actions: ['read'], reach: 'tenant' },
  HousekeepingReport: { module: 'reports', feature: 'core', actions: ['read'], reach: 'tenant' },
  StockReport: { module: 'reports', feature: 'pos', actions: ['read'], reach: 'tenant' },
  OverviewReport: { module: 'reports', feature: 'financial_overview', actions: ['read'], reach: 'tenant' },
  ReportSchedule: { module: 'reports', feature: 'core', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  WebhookEndpoint: { module: 'webhooks', feature: 'webhooks', actions: ['read', 'create', 'update', 'delete'], reach: 'tenant' },
  WebhookDelivery: { module: 'webhooks', feature: 'webhooks', actions: ['read', 'redeliver'], reach: 'tenant' },
  Event: { module: 'webhooks', feature: 'webhooks', actions: ['read'], reach: 'tenant' },
} as const satisfies Record<string, SubjectFacts>

export type SubjectName = keyof typeof subjects

const known: Readonly<Record<string, SubjectFacts>> = subjects

export const isSubject = (name: string): name is SubjectName => Object.hasOwn(known, name)

/** A subject's facts; an unknown name is a mistake in the code. */
export const subjectFacts = (name: string): SubjectFacts => {
  const facts = isSubject(name) ? known[name] : undefined
  if (!facts) throw new Error(`${name} is no subject of the catalogue`)
  return facts
}

/** Everything that can be done with a subject. */
export const actionsOf = (name: string): readonly string[] => {
  const { actions, beyond = [] } = subjectFacts(name)
  return [...actions, ...beyond]
}
