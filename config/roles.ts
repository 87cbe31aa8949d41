import { meaningOf } from './conditions.ts'
import { actionsOf, isSubject, subjectFacts, subjects } from './subjects.ts'
import type { SubjectName } from './subjects.ts'

const staff = ['manager', 'receptionist', 'housekeeper', 'maintenance', 'finance', 'stock', 'relations'] as const

export const builtInRoles = ['owner', 'admin', ...staff, 'auditor'] as const
export type BuiltInRole = (typeof builtInRoles)[number]

type Cells = readonly [string, string, string, string, string, string, string]

/**
 * The one permission table of the built-in roles. R, C, U, D = read, create, update, delete; `*` = every action of the subject;
 * '' = none; brackets are a condition on the word before them, whose meaning stands in conditions.ts. Columns in the order of `staff`.
 */
const table: Partial<Record<SubjectName, Cells>> = {
  Tenant: [
    'R',
    'R (name, features)',
    'R (name, features)',
    'R (name, features)',
    'R',
    'R (name, features)',
    'R (name, features)',
  ],
  User: ['R', 'R (name)', 'R (name)', 'R (name)', 'R (name)', 'R (name)', 'R (name)'],
  Role: ['R', '', '', '', '', '', ''],
  WebhookEndpoint: ['R', '', '', '', '', '', ''],
  WebhookDelivery: ['R', '', '', '', '', '', ''],
  Event: ['R', '', '', '', '', '', ''],
  Subscription: ['R', '', '', '', 'R', '', ''],
  AddOn: ['R', '', '', '', 'R', '', ''],
  SubscriptionInvoice: ['', '', '', '', 'R', '', ''],
  AuditEntry: ['R (own properties)', '', '', '', 'R (financial)', '', ''],
  Property: ['R C U publish', 'R', 'R', 'R', 'R', 'R', 'R'],
  PropertySettings: ['U', '', '', '', '', '', ''],
  AgeCategory: ['*', 'R', '', '', 'R', '', 'R'],
  Season: ['*', 'R', '', '', 'R', '', 'R'],
  Extra: ['*', 'R', '', '', 'R', '', 'R'],
  Policy: ['*', 'R', '', '', 'R', '', 'R'],
  RatePlan: ['*', 'R', '', '', 'R', '', 'R'],
  RateCalendar: ['*', 'R', '', '', 'R', '', 'R'],
  GalleryImage: ['*', 'R', '', '', 'R', '', 'R C U'],
  PromoCode: ['*', 'R', '', '', 'R', '', 'R C U'],
  TaxRule: ['R C U', 'R', '', '', '*', '', ''],
  PropertyPaymentMethod: ['*', 'R', '', '', '*', '', ''],
  Dispute: ['*', 'R', '', '', '*', '', ''],
  Availability: ['R override', 'R', '', '', 'R', '', 'R'],
  OverbookingLimit: ['*', 'R', '', '', 'R', '', ''],
  ChannelConnection: ['*', 'R', '', '', 'R', '', ''],
  ChannelBooking: ['R U override reveal', 'R U', '', '', 'R', '', ''],
  NightAudit: ['*', '*', '', '', '*', '', ''],
  UnitType: ['*', 'R', 'R', 'R', 'R', '', 'R'],
  UnitPool: ['*', 'R', 'R', 'R', 'R', '', 'R'],
  Unit: ['*', 'R', 'R', 'R', 'R', '', 'R'],
  UnitCondition: ['U', 'U', 'U', '', '', '', ''],
  UnitBlock: ['* override', 'R C (out of service)', 'R', 'R C U', 'R', '', ''],
  UnitAssignment: ['*', 'R U', '', '', '', '', ''],
  HousekeepingTask: [
    '*',
    'R C U inspect',
    'R (own) perform (own)',
    'R C (maintenance) perform (maintenance)',
    '',
    '',
    '',
  ],
  HousekeepingSheet: ['*', 'R', 'R (own)', '', '', '', ''],
  Guest: ['*', 'R C U reveal', '', '', 'R', '', 'R C U reveal'],
  GuestDocument: ['*', '*', '', '', '', '', ''],
  GuestNote: ['*', 'C D (own)', '', '', '', '', 'C D (own)'],
  GuestBlock: ['*', '', '', '', '', '', 'C (warn)'],
  Company: ['*', 'R', '', '', 'R C U', '', 'R C U'],
  PrivacyRequest: ['R C', 'C', '', '', '', '', 'R C'],
  GuestRegistration: ['*', '*', '', '', '', '', 'R'],
  Quote: ['*', '*', '', '', 'R', '', 'R'],
  Booking: ['*', '*', '', '', 'R', '', 'R'],
  Reservation: [
    '* override',
    'R U cancel check_in check_out revert no_show amend assign move override (3 rules)',
    '',
    '',
    'R override (4 rules)',
    '',
    'R',
  ],
  Group: ['*', 'R import', '', '', 'R', '', 'R C U import'],
  Deposit: ['*', 'U', '', '', '*', '', ''],
  Folio: ['*', 'R C U charge transfer adjust (limit) close invoice', '', '', '*', '', ''],
  GatewayAccount: ['R', 'R (label, status)', '', '', 'R U', '', ''],
  PaymentMethod: ['*', 'R C', '', '', 'R', '', ''],
  Payment: ['* override', 'R C record capture cancel', '', '', '* override', 'record (pos_order)', ''],
  Refund: ['R', 'R', '', '', 'R', '', ''],
  Payout: ['R', '', '', '', 'R', '', ''],
  BalanceTransaction: ['R', '', '', '', 'R', '', ''],
  Reconciliation: ['R', '', '', '', 'R', '', ''],
  CashPosition: ['R', '', '', '', 'R', '', ''],
  ApprovalPolicy: ['R', '', '', '', 'R', '', ''],
  FinancialReport: ['R', '', '', '', 'R', '', ''],
  OverviewReport: ['R', '', '', '', 'R', '', ''],
  PaymentException: ['*', 'R', '', '', '*', '', ''],
  RecurringPayable: ['*', '', '', '', '*', '', ''],
  CreditNote: ['*', '', '', '', '*', '', ''],
  Supplier: ['R C U', '', '', '', '* reveal', 'R C U', ''],
  SupplierBankDetails: ['', '', '', '', '*', '', ''],
  Payable: ['R C U approve (band)', 'R (own) C', '', '', '* (band)', 'R C U (from orders)', ''],
  PayablePayment: ['R', '', '', '', '*', '', ''],
  ReceivableSettings: ['R', '', '', '', '*', '', ''],
  BankStatement: ['R', '', '', '', '*', '', ''],
  PurchaseOrder: ['*', '', '', '', 'R approve', 'R C U', ''],
  Customer: ['R C U override', 'R', '', '', '* override reveal', '', 'R C U (contacts)'],
  Receivable: ['R C U bill issue send', 'R bill', '', '', '*', '', 'R send'],
  Receipt: ['R C allocate', 'R C (own session)', '', '', '*', '', ''],
  DunningRun: ['*', '', '', '', '*', '', 'R'],
  FiscalDocument: ['*', 'R C', '', '', '*', '', ''],
  PixCharge: ['*', 'R C', '', '', '*', '', ''],
  CashAccount: ['R', 'R (registers)', '', '', '*', '', ''],
  CashMovement: ['*', 'R C (own session)', '', '', '* reveal', '', ''],
  CashTransfer: ['R C approve (own accounts)', 'C (register, safe)', '', '', '*', '', ''],
  CashSession: ['*', 'R C close (own)', '', '', 'R approve', '', ''],
  Book: ['R', '', '', '', 'R U lock', 'R', ''],
  Journal: ['R', '', '', '', 'R C U', 'R', ''],
  Account: ['R', '', '', '', '*', 'R', ''],
  CostCenter: ['R', '', '', '', '*', 'R', ''],
  SupplierCredit: ['R', '', '', '', '*', 'R', ''],
  LedgerEntry: ['R', '', '', '', '* override', '', ''],
  EntryTemplate: ['R', '', '', '', '*', '', ''],
  AccrualSchedule: ['R', '', '', '', '*', '', ''],
  PostingRule: ['R', '', '', '', '*', '', ''],
  PostingEvent: ['R', '', '', '', '*', '', ''],
  TaxCode: ['R', '', '', '', '*', '', ''],
  TaxAssessment: ['R', '', '', '', '*', '', ''],
  FiscalYear: ['R', '', '', '', '*', '', ''],
  FiscalPeriod: ['R', '', '', '', '*', '', ''],
  IntegrityCheck: ['R', '', '', '', '*', '', ''],
  EntryDraft: ['R C U (own drafts)', '', '', '', '*', '', ''],
  Budget: ['R C U (own drafts)', '', '', '', '*', '', ''],
  ExchangeRate: ['R U', '', '', '', '*', '', ''],
  FinancialAttachment: ['R C', '', '', '', '*', '', ''],
  OperationalReport: ['R', '', '', '', 'R', '', 'R'],
  HousekeepingReport: ['R', 'R', 'R (own)', '', '', '', ''],
  BusinessDay: ['R', '', '', '', 'R', 'R', ''],
  StockReport: ['R', '', '', '', 'R', 'R', ''],
  ReportRun: ['* (own)', '', '', '', '* (own)', '* (own)', '* (own)'],
  ReportSchedule: ['* (own)', '', '', '', '* (own)', '', ''],
  InventoryItem: ['*', 'R', 'R', 'R', 'R', '*', ''],
  InventoryCategory: ['*', 'R', 'R', 'R', 'R', '*', ''],
  InventoryLocation: ['*', 'R', 'R', 'R', 'R', '*', ''],
  InventoryStock: ['R (value)', 'R', 'R', 'R', 'R (value)', 'R (value)', ''],
  InventoryMovement: ['*', '', '', '', 'R reverse', '*', ''],
  InventoryCount: ['*', '', 'U (open lines)', '', 'R approve', '*', ''],
  Recipe: ['*', 'R', '', '', 'R', '*', ''],
  InventoryConsumption: ['*', '*', '* (kit, waste)', '* (department)', 'R', '*', ''],
  Outlet: ['*', 'R', 'R', '', 'R', '*', ''],
  PriceList: ['*', 'R', 'R', '', 'R', '*', ''],
  PosOrder: ['* override', 'R C U close', 'C close (minibar)', '', 'R void', 'R C U close', ''],
  Issue: [
    '*',
    'R C U comment',
    'R C U comment (team)',
    'R C U comment (team)',
    'R C U comment (team)',
    'C comment',
    '*',
  ],
  IssueCategory: ['R U', 'R', 'R', 'R', 'R', 'R', 'R'],
  Compensation: ['R propose approve (limit)', 'R propose', '', '', 'R', '', 'R propose'],
  LostItem: ['*', '*', 'R C', 'R C', '', '', '*'],
  MessageChannel: ['R', 'R', '', '', '', '', 'R'],
  GuestDuplicate: ['*', 'R', '', '', '', '', '*'],
  MessageTemplate: ['*', 'R', '', '', '', '', '*'],
  Automation: ['*', 'R', '', '', '', '', '*'],
  Message: ['*', '*', '', '', '*', '', '*'],
  GuestConsent: ['*', '*', '', '', '', '', '*'],
  Conversation: ['*', '*', '', '', '', '', '*'],
  Suppression: ['*', 'R C', '', '', '', '', '*'],
  Campaign: ['*', '', '', '', '', '', '*'],
}

/** One permission; a condition is a word of conditions.ts, such as `own` or `limit`. */
export type Permission = { subject: string; action: string; condition: string | null }

const letters: Record<string, string> = { R: 'read', C: 'create', U: 'update', D: 'delete' }

/** Reads a cell such as `R C adjust (limit)`. */
const readCell = (subject: SubjectName, cell: string): Permission[] =>
  [...cell.matchAll(/([A-Za-z_]+|\*)(?:\s+\(([^)]*)\))?/g)].flatMap(([, word = '', condition = null]) => {
    const actions = word === '*' ? subjectFacts(subject).actions : [letters[word] ?? word]
    if (condition !== null) meaningOf(subject, condition)
    for (const action of actions)
      if (!actionsOf(subject).includes(action)) throw new Error(`${subject} has no action ${action}`)
    return actions.map((action) => ({ subject, action, condition }))
  })

const tenantSubjects = (Object.keys(subjects) as SubjectName[]).filter((name) => subjectFacts(name).reach === 'tenant')
const everything = tenantSubjects.flatMap((subject) =>
  actionsOf(subject).map((action) => ({ subject, action, condition: null })),
)

/** Actions of every user on their own account. */
export const ownPermissions: readonly Permission[] = (['Session', 'Profile', 'Announcement'] as const).flatMap(
  (subject) => subjectFacts(subject).actions.map((action) => ({ subject, action, condition: 'own' })),
)

// Keys are the owner's and admins' alone.
const auditorUnseen = new Set(['Conversation', 'GuestNote', 'ApiKey'])
const auditor: Permission[] = [
  ...tenantSubjects
    .filter((subject) => subjectFacts(subject).actions.includes('read') && !auditorUnseen.has(subject))
    .map((subject) => ({ subject, action: 'read', condition: 'masked' })),
  { subject: 'Customer', action: 'reveal', condition: null },
  { subject: 'CashMovement', action: 'reveal', condition: null },
  { subject: 'IntegrityCheck', action: 'create', condition: null },
  { subject: 'ReportRun', action: 'create', condition: null },
  { subject: 'ReportRun', action: 'export', condition: null },
]

const permissionsOfStaff = (column: number) =>
  Object.entries(table).flatMap(([subject, cells]) =>
    isSubject(subject) ? readCell(subject, cells[column] ?? '') : [],
  )

/** Permissions of each built-in role. */
export const rolePermissions: Readonly<Record<BuiltInRole, readonly Permission[]>> = {
  owner: everything,
  admin: everything,
  manager: permissionsOfStaff(0),
  receptionist: permissionsOfStaff(1),
  housekeeper: permissionsOfStaff(2),
  maintenance: permissionsOfStaff(3),
  finance: permissionsOfStaff(4),
  stock: permissionsOfStaff(5),
  relations: permissionsOfStaff(6),
  auditor,
}

/** Tells whether a role keeps within the limits in amounts of an action: a built-in one where its cell says so, custom roles and keys always. */
export const isLimited = (role: string | null, subject: SubjectName, action: string): boolean =>
  role === null ||
  !isBuiltInRole(role) ||
  rolePermissions[role].some(
    (one) => one.subject === subject && one.action === action && one.condition !== null && one.condition !== 'masked',
  )

/** Members give, change or take no role above their own rank. Custom roles have the lowest rank. */
export const rankOf = (role: string): 1 | 2 | 3 => (role === 'owner' ? 3 : role === 'admin' ? 2 : 1)

/** Subjects of which a custom role may hold `read` alone: changing them would let members raise their own permissions. */
export const reservedSubjects: ReadonlySet<string> = new Set<SubjectName>([
  'User',
  'Role',
  'ApiKey',
  'Tenant',
  'Subscription',
  'AddOn',
  'GatewayAccount',
  'PixConnection',
  'WebhookEndpoint',
])

/** Tells whether a custom role may hold an action on a subject. */
export const isGrantable = (subject: string, action: string): boolean =>
  isSubject(subject) &&
  subjectFacts(subject).reach === 'tenant' &&
  actionsOf(subject).includes(action) &&
  (action === 'read' || !reservedSubjects.has(subject))

export const isBuiltInRole = (role: string): role is BuiltInRole => Object.hasOwn(rolePermissions, role)
