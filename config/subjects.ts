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
  readonly beyond: readonly string[]
  /** Audience: a tenant's users and keys, every user for their own account, or superusers. */
  readonly reach: 'tenant' | 'own' | 'platform'
}

const words = (text: string) => text.split(' ').filter((word) => word !== '')

const facts =
  (reach: SubjectFacts['reach']) =>
  (module: string, feature: string | null, actions: string, beyond = ''): SubjectFacts => ({
    module,
    feature,
    actions: words(actions),
    beyond: words(beyond),
    reach,
  })

const tenant = facts('tenant')
const own = facts('own')
const platform = facts('platform')

export const subjects = {
  Session: own('auth', null, 'update delete read'),
  Profile: own('auth', null, 'read update'),
  User: tenant('auth', null, 'read create update delete'),
  SuperuserAccount: platform('admin', null, 'reset read grant lock'),
  Role: tenant('auth', null, 'read create update delete'),
  ApiKey: tenant('auth', null, 'read create update delete'),
  Tenant: tenant('admin', null, 'read create update suspend export delete'),
  Subscription: tenant('admin', null, 'update read'),
  Entitlement: platform('admin', null, 'read grant revoke'),
  Plan: platform('admin', null, 'read create'),
  Feature: platform('admin', null, 'read'),
  AddOn: tenant('admin', null, 'read create update purchase'),
  BillingAdjustment: platform('admin', null, 'create'),
  SubscriptionInvoice: tenant('admin', null, 'read void record'),
  BillingRun: platform('admin', null, 'read create'),
  AuditEntry: tenant('admin', null, 'read'),
  SupportSession: platform('admin', null, 'read create'),
  Queue: platform('admin', null, 'read operate'),
  Job: platform('admin', null, 'read operate'),
  SystemHealth: platform('admin', null, 'read'),
  Announcement: own('admin', null, 'update read'),
  Property: tenant('properties', 'core', 'read create update publish delete'),
  PropertySettings: tenant('properties', 'core', 'update'),
  AgeCategory: tenant('properties', 'core', 'read update'),
  Season: tenant('properties', 'core', 'read update'),
  PropertyPaymentMethod: tenant('properties', 'core', 'read update'),
  GalleryImage: tenant('properties', 'core', 'read create update delete'),
  TaxRule: tenant('properties', 'core', 'read create update delete'),
  Policy: tenant('properties', 'core', 'read create update delete'),
  RatePlan: tenant('properties', 'core', 'read create update delete'),
  RateCalendar: tenant('properties', 'core', 'read update'),
  Availability: tenant('properties', 'core', 'read', 'override'),
  OverbookingLimit: tenant('properties', 'core', 'read override'),
  Extra: tenant('properties', 'core', 'read create update delete'),
  PromoCode: tenant('properties', 'core', 'read create update delete'),
  ChannelConnection: tenant('properties', 'channels', 'read create update publish delete'),
  ChannelBooking: tenant('properties', 'channels', 'read create update override', 'reveal'),
  NightAudit: tenant('properties', 'core', 'read close'),
  UnitType: tenant('units', 'core', 'read create update delete'),
  UnitPool: tenant('units', 'core', 'read create update delete'),
  Unit: tenant('units', 'core', 'read create update delete'),
  HousekeepingTask: tenant('units', 'core', 'perform read create update inspect'),
  UnitAssignment: tenant('units', 'core', 'read update'),
  UnitBlock: tenant('units', 'core', 'read create update delete', 'override'),
  UnitCondition: tenant('units', 'core', 'update'),
  HousekeepingSheet: tenant('units', 'core', 'read create publish'),
  Quote: tenant('reservations', 'core', 'read create'),
  Booking: tenant('reservations', 'core', 'read create update confirm'),
  Reservation: tenant(
    'reservations',
    'core',
    'cancel read update check_in revert check_out no_show reinstate amend assign move',
    'override',
  ),
  Deposit: tenant('reservations', 'core', 'update waive'),
  Folio: tenant('reservations', 'core', 'update read create charge adjust transfer close reopen invoice'),
  Group: tenant('reservations', 'core', 'read create update confirm cancel import'),
  Guest: tenant('guests', 'core', 'read create update delete reveal merge'),
  GuestDuplicate: tenant('guests', 'core', 'read update'),
  GuestConsent: tenant('guests', 'core', 'create'),
  GuestNote: tenant('guests', 'core', 'create delete'),
  GuestDocument: tenant('guests', 'core', 'create delete update verify'),
  GuestBlock: tenant('guests', 'core', 'create update'),
  Company: tenant('guests', 'core', 'read create update delete'),
  PrivacyRequest: tenant('guests', 'core', 'read create approve export'),
  GuestRegistration: tenant('guests', 'core', 'read update'),
  GatewayAccount: tenant('payment', 'payments', 'read create update delete'),
  PaymentMethod: tenant('payment', 'payments', 'read create delete'),
  Payment: tenant('payment', 'payments', 'read create record capture cancel allocate refund', 'override'),
  Refund: tenant('payment', 'payments', 'read'),
  Dispute: tenant('payment', 'payments', 'read respond'),
  Payout: tenant('payment', 'payments', 'read'),
  BalanceTransaction: tenant('payment', 'payments', 'read'),
  Reconciliation: tenant('payment', 'payments', 'read'),
  PaymentException: tenant('payment', 'payments', 'read resolve'),
  Book: tenant('financial', 'financial', 'read create update lock', 'override'),
  Journal: tenant('financial', 'financial', 'read create update'),
  Account: tenant('financial', 'financial', 'read create update delete'),
  LedgerEntry: tenant('financial', 'financial', 'read post reverse', 'override'),
  EntryDraft: tenant('financial', 'financial', 'read create update delete approve'),
  EntryTemplate: tenant('financial', 'financial', 'read create update delete'),
  AccrualSchedule: tenant('financial', 'financial', 'read create update'),
  PostingRule: tenant('financial', 'financial', 'read create update'),
  PostingEvent: tenant('financial', 'financial', 'read update override'),
  FiscalYear: tenant('financial', 'financial', 'read create close reopen'),
  FiscalPeriod: tenant('financial', 'financial', 'read close reopen'),
  BusinessDay: tenant('financial', 'financial', 'read'),
  CostCenter: tenant('financial', 'financial', 'read create update delete'),
  TaxCode: tenant('financial', 'financial', 'read create update'),
  TaxAssessment: tenant('financial', 'financial', 'read create'),
  Budget: tenant('financial', 'financial', 'read create delete update approve'),
  ExchangeRate: tenant('financial', 'financial', 'read update delete'),
  FinancialAttachment: tenant('financial', 'financial', 'create read delete'),
  IntegrityCheck: tenant('financial', 'financial', 'read create'),
  CashAccount: tenant('cash', 'financial', 'read create update delete'),
  PixConnection: tenant('cash', 'financial', 'configure'),
  CashPosition: tenant('cash', 'financial', 'read'),
  CashMovement: tenant('cash', 'financial', 'read create reverse', 'reveal'),
  CashTransfer: tenant('cash', 'financial', 'read create approve update'),
  CashSession: tenant('cash', 'financial', 'read create close approve'),
  BankStatement: tenant('cash', 'financial', 'read create delete reconcile match'),
  PixCharge: tenant('cash', 'financial', 'read create update'),
  Supplier: tenant('accounts-payable', 'suppliers', 'read create update delete', 'reveal'),
  SupplierBankDetails: tenant('accounts-payable', 'suppliers', 'approve'),
  Payable: tenant('accounts-payable', 'financial', 'read create update approve void'),
  PayablePayment: tenant('accounts-payable', 'financial', 'read create approve void'),
  SupplierCredit: tenant('accounts-payable', 'financial', 'read create refund void'),
  RecurringPayable: tenant('accounts-payable', 'financial', 'read create update'),
  PurchaseOrder: tenant('accounts-payable', 'suppliers', 'read create update approve'),
  ApprovalPolicy: tenant('accounts-payable', 'financial', 'read update'),
  Customer: tenant('accounts-receivable', 'financial', 'read create update delete', 'override reveal'),
  Receivable: tenant('accounts-receivable', 'financial', 'read create bill update issue void send write_off'),
  Receipt: tenant('accounts-receivable', 'financial', 'read create allocate refund reverse'),
  CreditNote: tenant('accounts-receivable', 'financial', 'read create'),
  ReceivableSettings: tenant('accounts-receivable', 'financial', 'read update'),
  DunningRun: tenant('accounts-receivable', 'financial', 'read send'),
  FiscalDocument: tenant('accounts-receivable', 'financial', 'read create update void'),
  InventoryItem: tenant('inventory', 'pos', 'read create update delete'),
  InventoryCategory: tenant('inventory', 'pos', 'read update'),
  InventoryLocation: tenant('inventory', 'pos', 'read update'),
  InventoryStock: tenant('inventory', 'pos', 'read'),
  InventoryMovement: tenant('inventory', 'pos', 'read create reverse'),
  InventoryCount: tenant('inventory', 'pos', 'read create update approve delete'),
  Recipe: tenant('inventory', 'pos', 'read create update delete'),
  InventoryConsumption: tenant('inventory', 'pos', 'read create'),
  Outlet: tenant('inventory', 'pos', 'read update'),
  PriceList: tenant('inventory', 'pos', 'read update'),
  PosOrder: tenant('inventory', 'pos', 'read create update close void', 'override'),
  Issue: tenant('issues', 'core', 'read create update comment close'),
  IssueCategory: tenant('issues', 'core', 'read create update'),
  Compensation: tenant('issues', 'core', 'read approve propose'),
  LostItem: tenant('issues', 'core', 'read create update'),
  MessageChannel: tenant('ocp', 'ocp', 'read update'),
  MessageTemplate: tenant('ocp', 'ocp', 'read create update publish delete'),
  Automation: tenant('ocp', 'ocp', 'read create update delete'),
  Message: tenant('ocp', 'ocp', 'read send'),
  Conversation: tenant('ocp', 'ocp', 'read update'),
  Suppression: tenant('ocp', 'ocp', 'read create delete'),
  Campaign: tenant('ocp', 'ocp', 'read create update launch'),
  ReportRun: tenant('reports', 'core', 'read create export'),
  FinancialReport: tenant('reports', 'financial', 'read'),
  OperationalReport: tenant('reports', 'core', 'read'),
  HousekeepingReport: tenant('reports', 'core', 'read'),
  StockReport: tenant('reports', 'pos', 'read'),
  OverviewReport: tenant('reports', 'financial_overview', 'read'),
  ReportSchedule: tenant('reports', 'core', 'read create update delete'),
  WebhookEndpoint: tenant('webhooks', 'webhooks', 'read create update delete'),
  WebhookDelivery: tenant('webhooks', 'webhooks', 'read redeliver'),
  Event: tenant('webhooks', 'webhooks', 'read'),
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
  const { actions, beyond } = subjectFacts(name)
  return [...actions, ...beyond]
}
