/** Generated from the migrated database by `npm run rows`. Not edited by hand. */

export interface AccountRow {
  tenantId: string
  id: string
  bookId: string
  code: string
  name: string
  class: 'asset' | 'equity' | 'expense' | 'liability' | 'revenue'
  side: 'credit' | 'debit'
  parentId: string | null
  postable: boolean
  control: 'advance' | 'cash' | 'deposit' | 'dispute' | 'gateway' | 'guest' | 'pos' | 'receivable' | 'received' | 'refund' | 'stock' | 'supplier' | 'transit' | 'unallocated' | null
  role: string | null
  section: string | null
  cashFlow: 'cash' | 'financing' | 'investing' | 'operating' | null
  usaliCode: string
  referentialCode: string
  currency: string
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface AccountBalanceRow {
  tenantId: string
  id: string
  bookId: string
  accountId: string
  propertyId: string | null
  periodId: string
  debit: number
  credit: number
  lineCount: number
  costCenterId: string | null
}

export interface AccrualScheduleRow {
  tenantId: string
  id: string
  bookId: string
  kind: 'deferred' | 'depreciation' | 'prepaid'
  sourceAccountId: string
  targetAccountId: string
  amount: number
  firstMonth: string
  months: number
  assetNumber: string | null
  assetAccountId: string | null
  assetCost: number | null
  assetResidual: number | null
  propertyId: string | null
  costCenterId: string | null
  description: string
  posted: number
  postedMonths: number
  nextOn: string | null
  status: 'cancelled' | 'completed' | 'running'
  createdBy: string
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface AddOnRow {
  id: string
  key: string
  name: unknown
  description: unknown
  feature: string
  billingType: 'FLAT_MONTHLY' | 'FREE' | 'METERED' | 'TIERED'
  meter: string | null
  plans: string[]
  onSale: boolean
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface AddOnPriceRow {
  id: string
  addOnId: string
  number: number
  effectiveFrom: Date
  prices: unknown
  createdBy: string | null
  createdAt: Date
  applyToHolders: boolean
}

export interface AgeCategoryRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: unknown
  minAge: number
  maxAge: number | null
  kind: 'adult' | 'child' | 'infant'
  countsInOccupancy: boolean
}

export interface AmendmentRow {
  tenantId: string
  id: string
  reservationId: string
  baseVersion: number
  changes: unknown
  reply: unknown
  difference: number
  hash: Buffer
  expiresAt: Date
  status: 'accepted' | 'proposed'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface AnnouncementRow {
  id: string
  kind: 'deprecation' | 'incident' | 'info' | 'maintenance'
  title: unknown
  body: unknown
  plans: string[]
  tenantIds: string[]
  startsAt: Date
  endsAt: Date | null
  createdBy: string | null
  createdAt: Date
  updatedAt: Date
}

export interface ApiKeyRow {
  tenantId: string
  id: string
  name: string
  keyId: string
  hint: string
  hash: Buffer
  pepperId: string
  scopes: string[]
  allProperties: boolean
  cidrs: string[]
  expiresAt: Date
  createdBy: string | null
  revokedAt: Date | null
  revokedBy: string | null
  replacesId: string | null
  lastUsedAt: Date | null
  lastUsedIp: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  changedAt: Date
  nameReleasedAt: Date | null
}

export interface ApiKeyPropertyRow {
  tenantId: string
  id: string
  apiKeyId: string
  propertyId: string
}

export interface ApiKeyWarningRow {
  id: string
  tenantId: string
  apiKeyId: string
  days: number
  keyName: string
  expiresAt: Date
  createdAt: Date
}

export interface AppUserRow {
  id: string
  email: string
  emailKey: string
  name: string
  locale: string
  status: 'active' | 'invited' | 'locked'
  passwordHash: string | null
  pepperId: string | null
  emailVerifiedAt: Date | null
  passwordChangedAt: Date | null
  sessionEpoch: number
  totpSecret: Buffer | null
  totpConfirmedAt: Date | null
  totpLastStep: number | null
  lastTenantId: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  totpPendingAt: Date | null
  lockedAt: Date | null
  lockReason: string | null
}

export interface ApprovalPolicyRow {
  tenantId: string
  id: string
  bookId: string
  number: number
  bands: unknown
  coolOffHours: number
  priceTolerance: number
  createdBy: string | null
  createdAt: Date
}

export interface AttachmentRow {
  tenantId: string
  id: string
  module: string
  entityType: string
  entityId: string
  position: number | null
  fileName: string
  mediaType: 'application/pdf' | 'application/xml' | 'image/jpeg' | 'image/png' | 'image/webp' | 'text/csv'
  bytes: number
  sha256: Buffer
  blobId: string
  createdBy: string | null
  createdAt: Date
  hiddenBy: string | null
  hiddenAt: Date | null
  hideReason: string | null
}

export interface AuditChainRow {
  chain: string
  seq: number
  hash: Buffer
  chainedAt: Date
  verifiedAt: Date | null
  verifiedThrough: number
  problem: string | null
}

export interface AuditDayRow {
  chain: string
  day: string
  tenantId: string | null
  n: number
}

export interface AuditEntryRow {
  id: string
  chain: string
  tenantId: string | null
  at: Date
  actorType: 'api_key' | 'guest' | 'superuser' | 'support' | 'system' | 'user'
  actorId: string | null
  supportSessionId: string | null
  action: string
  subjectType: string
  subjectId: string | null
  reason: string | null
  changes: unknown
  requestId: string
  jobId: string | null
  address: string | null
  seq: number | null
  previousHash: Buffer | null
  hash: Buffer | null
}

export interface AutomationRow {
  tenantId: string
  id: string
  propertyId: string | null
  name: string
  enabled: boolean
  trigger: unknown
  conditions: unknown
  templateId: string
  plan: unknown | null
  validMinutes: number
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface BalanceTransactionRow {
  tenantId: string
  id: string
  gatewayAccountId: string
  externalId: string
  seq: number
  kind: 'adjustment' | 'charge' | 'dispute' | 'dispute_reversal' | 'gateway_fee' | 'payout' | 'payout_failure' | 'platform_fee_refund' | 'refund' | 'refund_failure'
  gross: number
  fee: number
  platformFee: number
  net: number
  currency: string
  occurredAt: Date
  availableAt: Date
  payoutId: string | null
  sourceRef: string | null
  sourcePaymentRef: string | null
  subjectType: 'dispute' | 'payment' | 'payout' | 'refund' | null
  subjectId: string | null
  createdAt: Date
}

export interface BankStatementRow {
  tenantId: string
  id: string
  cashAccountId: string
  propertyId: string | null
  seq: number
  currency: string
  format: string
  fileName: string
  fileHash: Buffer
  blobId: string | null
  mapping: unknown | null
  status: 'imported' | 'received' | 'reconciled' | 'rejected'
  firstOn: string | null
  lastOn: string | null
  openingBalance: number | null
  closingBalance: number | null
  givenBalance: number | null
  linesRead: number
  linesAdded: number
  linesKnown: number
  linesSameId: number
  linesLeftOut: number
  error: unknown | null
  importedAt: Date | null
  reconciledBy: string | null
  reconciledAt: Date | null
  reopenReason: string | null
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface BankStatementLineRow {
  tenantId: string
  id: string
  bankStatementId: string
  cashAccountId: string
  propertyId: string | null
  fingerprintHash: Buffer
  occurrence: number
  position: number
  bookedOn: string
  amount: number
  externalId: string | null
  documentNumber: string | null
  text: string
  counterparty: Buffer | null
  endToEndId: string | null
  status: 'ignored' | 'matched' | 'unmatched'
  ignoreReason: string | null
  sameExternalId: boolean
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface BillingAdjustmentRow {
  id: string
  tenantId: string
  kind: 'adjustment' | 'carried'
  amount: number
  description: string
  reason: string
  createdBy: string | null
  invoiceId: string | null
  createdAt: Date
}

export interface BillingRunRow {
  id: string
  date: string
  tenants: number
  issued: number
  parked: unknown
  createdAt: Date
  updatedAt: Date
}

export interface BillingSeriesRow {
  year: number
  lastNumber: number
}

export interface BlobRow {
  tenantId: string
  id: string
  bytes: Buffer
  createdAt: Date
}

export interface BookRow {
  tenantId: string
  id: string
  name: string
  legalName: string
  countryCode: string
  document: string | null
  taxRegime: 'actual_profit' | 'other' | 'presumed_profit' | 'simples'
  currency: string
  timeZone: string
  fiscalYearStartMonth: number
  lockedUntil: string | null
  approvalThreshold: number | null
  singleOperator: boolean
  isDefault: boolean
  active: boolean
  version: number
  createdAt: Date
  updatedAt: Date
  sealed: Buffer | null
  documentIndex: Buffer | null
}

export interface BookTickRow {
  tenantId: string
  id: string
  bookId: string
  tickedOn: string
}

export interface BookingRow {
  tenantId: string
  id: string
  propertyId: string
  number: string
  source: 'api' | 'channel' | 'desk' | 'email' | 'group' | 'phone' | 'portal' | 'walk_in'
  currency: string
  quoteId: string | null
  promoCodeId: string | null
  bookerGuestId: string | null
  sealed: Buffer | null
  emailIndex: Buffer | null
  addressHash: Buffer | null
  acceptedTerms: unknown | null
  guestTokensValidFrom: Date | null
  externalReference: string | null
  credit: number
  language: string
  holdKind: 'checkout' | 'option' | 'payment' | null
  holdExpiresAt: Date | null
  holdCapAt: Date | null
  holdVersion: number | null
  endedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  channelConnectionId: string | null
  externalId: string | null
  collectedBy: 'channel' | 'property' | null
  commission: number | null
  groupId: string | null
  groupRowKey: string | null
  companyId: string | null
  agencyId: string | null
  commissionRate: number | null
  promoReturned: boolean
}

export interface BookingGroupRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  number: string
  name: string
  sealed: Buffer | null
  status: 'cancelled' | 'closed' | 'confirmed' | 'inquiry' | 'optional'
  arrival: string
  departure: string
  ratePlanId: string
  optionUntil: Date | null
  releaseType: string
  releaseOn: string | null
  releaseDays: number | null
  masterFolioId: string | null
  routing: string[]
  notes: string
  cancelReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  companyId: string | null
}

export interface BookingGroupNightRow {
  tenantId: string
  id: string
  groupId: string
  unitTypeId: string
  night: string
  allotted: number
  pickedUp: number
  amount: number | null
  released: boolean
}

export interface BudgetRow {
  tenantId: string
  id: string
  bookId: string
  fiscalYearId: string
  propertyId: string | null
  name: string
  status: 'approved' | 'draft' | 'superseded'
  createdBy: string
  approvedBy: string | null
  approvedAt: Date | null
  selfApproved: boolean
  version: number
  createdAt: Date
  updatedAt: Date
  editors: string[]
}

export interface BudgetLineRow {
  tenantId: string
  id: string
  budgetId: string
  bookId: string
  accountId: string
  costCenterId: string | null
  periodId: string
  amount: number
}

export interface BusinessDayRow {
  tenantId: string
  id: string
  propertyId: string
  date: string
  status: 'closed' | 'open'
  openedAt: Date
  closedAt: Date | null
  closedBy: string | null
  totals: unknown | null
}

export interface CampaignRow {
  tenantId: string
  id: string
  propertyId: string
  name: string
  templateId: string
  templateNumber: number | null
  plan: unknown | null
  segment: unknown
  scheduledFor: Date | null
  status: 'cancelled' | 'completed' | 'draft' | 'running' | 'scheduled'
  cursor: string | null
  audience: number
  excluded: unknown
  expandedAt: Date | null
  launchedBy: string | null
  launchedAt: Date | null
  endedAt: Date | null
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface CashAccountRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  kind: 'acquirer' | 'bank' | 'petty_cash' | 'register' | 'safe'
  code: string
  name: string
  currency: string
  ledgerAccountId: string
  ispb: string | null
  bankCode: string | null
  branch: string | null
  number: string | null
  holder: Buffer | null
  status: 'active' | 'archived'
  balance: number
  cleared: number
  movementCount: number
  blind: boolean
  differenceLimit: number
  safeAccountId: string | null
  matchRules: unknown
  csvMapping: unknown | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface CashCountRow {
  tenantId: string
  id: string
  sessionId: string
  moment: 'closing' | 'opening'
  denominations: unknown
  total: number
  countedBy: string
  createdAt: Date
}

export interface CashCounterpartRow {
  tenantId: string
  id: string
  bookId: string
  periodId: string
  onDay: string | null
  accountId: string
  propertyId: string | null
  sameProperty: boolean
  debit: number
  credit: number
}

export interface CashMovementRow {
  tenantId: string
  id: string
  cashAccountId: string
  sessionId: string | null
  seq: number
  amount: number
  currency: string
  bookedOn: string
  occurredAt: Date
  kind: 'bank_line' | 'difference' | 'guest_payment' | 'guest_refund' | 'manual' | 'opening' | 'payable_payment' | 'payout' | 'pix_in' | 'pix_return' | 'receipt' | 'receipt_refund' | 'reversal' | 'supplier_refund' | 'transfer'
  sourceType: string
  sourceId: string
  sourceSeq: number
  bookId: string
  accountId: string | null
  costCenterId: string | null
  propertyId: string | null
  counterBookId: string | null
  description: string
  voucher: string
  counterparty: Buffer | null
  endToEndId: string | null
  txid: string | null
  reversesId: string | null
  transferId: string | null
  matched: number
  createdBy: unknown
  createdAt: Date
}

export interface CashSessionRow {
  tenantId: string
  id: string
  registerId: string
  propertyId: string
  currency: string
  cashierId: string
  status: 'closed' | 'in_review' | 'open'
  openedAt: Date
  closedAt: Date | null
  businessDate: string
  blind: boolean
  opening: number
  openingDifference: number
  expected: number
  counted: number | null
  difference: number | null
  declared: unknown
  closedBy: string | null
  approvedBy: string | null
  approvedAt: Date | null
  selfApproved: boolean
  note: string | null
  zNumber: number | null
  openedXid: string
  closedXid: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface CashTransferRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  fromAccountId: string
  toAccountId: string | null
  payee: Buffer | null
  method: 'manual' | 'pix'
  amount: number
  fee: number
  currency: string
  purpose: string
  accountId: string | null
  costCenterId: string | null
  scheduledOn: string | null
  sentOn: string | null
  receivedOn: string | null
  status: 'approved' | 'cancelled' | 'completed' | 'failed' | 'in_transit' | 'pending_approval' | 'sending' | 'unknown'
  sourceType: string | null
  sourceId: string | null
  requestedBy: string | null
  approvedBy: string | null
  approvedAt: Date | null
  selfApproved: boolean
  endToEndId: string | null
  failure: unknown | null
  cancelReason: string | null
  nextReadAt: Date | null
  readCount: number
  version: number
  createdAt: Date
  updatedAt: Date
  closingSessionId: string | null
  datedOn: string | null
}

export interface ChannelBookingRow {
  tenantId: string
  id: string
  channelConnectionId: string
  propertyId: string
  externalId: string
  revision: number
  kind: 'cancelled' | 'modified' | 'new'
  payload: Buffer | null
  departure: string | null
  status: 'applied' | 'dismissed' | 'failed' | 'needs_mapping' | 'received' | 'superseded'
  bookingId: string | null
  reservationIds: string[]
  pulledAs: string | null
  acknowledgedAt: Date | null
  appliedAt: Date | null
  error: string | null
  dismissReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ChannelConnectionRow {
  tenantId: string
  id: string
  propertyId: string
  name: string
  driver: 'open' | 'simulator'
  status: 'active' | 'connecting' | 'disconnected' | 'draft' | 'failed' | 'paused'
  endpointUrl: string
  credentials: Buffer | null
  externalPropertyId: string
  buffer: number
  horizonDays: number
  lastPushAt: Date | null
  pushLeaseUntil: Date | null
  pushLeaseBy: string | null
  pushFailures: number
  pushNotBefore: Date | null
  pushFailingSince: Date | null
  lastPullAt: Date | null
  nextPullAt: Date | null
  pullCursor: string | null
  pullFailingSince: Date | null
  lastError: string | null
  attentionAt: Date | null
  resyncedOn: string | null
  closeOutUntil: Date | null
  disconnectedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ChannelDirtyRow {
  tenantId: string
  id: string
  channelConnectionId: string
  unitTypeId: string
  kind: 'availability' | 'rates'
  during: string
  changedAt: Date
}

export interface ChannelMappingRow {
  tenantId: string
  id: string
  channelConnectionId: string
  unitTypeId: string
  ratePlanId: string | null
  externalUnitTypeId: string
  externalRatePlanId: string | null
  modifierRate: number
  enabled: boolean
  leftAt: Date | null
}

export interface ChannelPushRow {
  tenantId: string
  id: string
  channelConnectionId: string
  propertyId: string
  kind: 'availability' | 'rates'
  ranges: unknown
  rangeCount: number
  messageCount: number
  status: 'accepted' | 'failed' | 'partial' | 'sending'
  attempts: number
  error: string | null
  startedAt: Date
  finishedAt: Date | null
}

export interface CompanyRow {
  tenantId: string
  id: string
  kind: 'agency' | 'company' | 'organiser'
  legalName: string
  tradeName: string
  countryCode: string | null
  taxId: string | null
  email: string | null
  phone: string | null
  website: string | null
  address: unknown | null
  sealed: Buffer | null
  commissionRate: number | null
  ratePlanIds: string[]
  notes: string
  nameSearch: string
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
  customerId: string | null
}

export interface CompensationRow {
  tenantId: string
  id: string
  issueId: string
  propertyId: string
  reservationId: string
  kind: 'adjustment' | 'gesture'
  amount: number
  currency: string
  folioId: string | null
  lineId: string | null
  description: string
  sealed: Buffer | null
  refundExcess: boolean
  status: 'approved' | 'proposed' | 'rejected'
  automatic: boolean
  proposedBy: string | null
  proposedByActor: unknown
  decidedBy: string | null
  decidedAt: Date | null
  decisionSealed: Buffer | null
  folioLineIds: string[]
  refundIds: string[]
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ConversationRow {
  tenantId: string
  id: string
  propertyId: string
  kind: 'email' | 'sms' | 'whatsapp'
  addressIndex: Buffer
  address: Buffer | null
  guestId: string | null
  reservationId: string | null
  assigneeId: string | null
  status: 'closed' | 'open'
  lastInboundAt: Date | null
  lastMessageAt: Date
  answeredAt: Date | null
  closedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface CostCenterRow {
  tenantId: string
  id: string
  bookId: string
  code: string
  name: string
  kind: 'department' | 'other' | 'project'
  parentId: string | null
  active: boolean
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface CreditNoteRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  receivableId: string
  customerId: string
  issuedOn: string
  reason: string
  currency: string
  amount: number
  applied: number
  excess: number
  series: string | null
  number: number | null
  numberPrefix: string
  status: 'issued' | 'issuing'
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface CreditNoteLineRow {
  tenantId: string
  id: string
  creditNoteId: string
  lineNo: number
  description: string
  accountId: string
  amount: number
  taxCodeId: string | null
  taxAmount: number
  propertyId: string | null
  costCenterId: string | null
  receivableLineNo: number | null
}

export interface CustomerRow {
  tenantId: string
  id: string
  kind: 'agency' | 'company' | 'ota' | 'person' | 'public_body'
  legalName: string
  tradeName: string
  countryCode: string
  document: string | null
  search: string
  sealed: Buffer | null
  language: string
  guestId: string | null
  termDays: number
  billing: 'monthly' | 'per_stay'
  billingDay: number
  currency: string
  creditLimit: number | null
  exposure: number
  onHold: boolean
  holdReason: string | null
  withholdingTaxCodeIds: string[]
  dunningExempt: boolean
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
  identity: Buffer | null
}

export interface DepositRow {
  tenantId: string
  id: string
  reservationId: string
  position: number
  dueAt: Date
  amount: number
  origin: 'manual' | 'policy'
  waivedAmount: number
  requestedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  announcedAt: Date | null
}

export interface DispatchEpochRow {
  one: boolean
  epoch: string
  changedAt: Date
}

export interface DisputeRow {
  tenantId: string
  id: string
  provider: 'bank' | 'sandbox' | 'stripe'
  gatewayAccountId: string | null
  paymentId: string
  propertyId: string
  externalId: string
  amount: number
  currency: string
  reason: string
  phase: 'appeal' | 'dispute' | 'inquiry'
  status: 'lost' | 'needs_response' | 'submitted' | 'under_review' | 'won'
  taken: boolean
  response: 'accept' | 'contest' | null
  responseDueAt: Date | null
  evidence: Buffer | null
  evidenceErasedAt: Date | null
  acceptedBy: unknown | null
  warnings: number
  openedAt: Date
  closedAt: Date | null
  nextReadAt: Date | null
  readCount: number
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface DunningNoticeRow {
  tenantId: string
  id: string
  dunningRunId: string
  customerId: string
  receivableId: string
  installmentId: string
  level: number
  channels: string[]
  stopCredit: boolean
  amount: number
  dueOn: string
  status: 'failed' | 'queued' | 'sent' | 'skipped'
  skipReason: string | null
  messageIds: string[]
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface DunningRunRow {
  tenantId: string
  id: string
  bookId: string
  runOn: string
  status: 'done' | 'queued' | 'running'
  steps: unknown
  minimum: number
  counts: unknown
  startedBy: string | null
  finishedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface EntitlementGrantRow {
  id: string
  tenantId: string
  key: string
  source: 'N1_GRANT' | 'PLAN_DEFAULT' | 'STORE_PURCHASE'
  reason: string | null
  grantedBy: string | null
  startsAt: Date
  expiresAt: Date | null
  planVersionId: string | null
  subscriptionItemId: string | null
  endedAt: Date | null
  endedBy: string | null
  endCause: 'cancelled' | 'expired' | 'plan_change' | 'plan_version' | 'replaced' | 'revoked' | null
  endReason: string | null
}

export interface EntryDraftRow {
  tenantId: string
  id: string
  bookId: string
  journalId: string | null
  kind: 'opening' | 'standard'
  postingDate: string
  description: string
  reverseOn: string | null
  lines: unknown
  total: number
  difference: number
  late: boolean
  status: 'draft' | 'posted' | 'submitted'
  createdBy: string
  submittedAt: Date | null
  decidedBy: string | null
  selfApproved: boolean
  rejection: string | null
  note: string | null
  entryId: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  templateId: string | null
  templateRun: number | null
  editors: string[]
}

export interface EntryTemplateRow {
  tenantId: string
  id: string
  bookId: string
  name: string
  journalId: string | null
  description: string
  variables: unknown
  lines: unknown
  schedule: unknown | null
  nextOn: string | null
  runs: number
  status: 'active' | 'paused' | 'removed'
  createdBy: string
  version: number
  createdAt: Date
  updatedAt: Date
  editors: string[]
}

export interface EventRow {
  tenantId: string
  id: string
  type: string
  typeVersion: number
  sequence: number | null
  propertyId: string | null
  entity: unknown
  occurredAt: Date
  actor: unknown
  requestId: string
  causeId: string | null
  changed: unknown
  data: unknown
}

export interface EventHeadRow {
  tenantId: string
  lastSequence: number
  oldestSequence: number
}

export interface ExchangeRateRow {
  tenantId: string
  id: string
  fromCurrency: string
  toCurrency: string
  date: string
  rate: string
  usedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ExternalCallRow {
  id: string
  tenantId: string | null
  jobId: string
  provider: string
  operation: string
  idempotencyKey: string
  state: 'failed' | 'not_sent' | 'started' | 'succeeded' | 'unknown'
  tries: number
  requestHash: Buffer | null
  code: string | null
  httpStatus: number | null
  answerReference: string | null
  firstStartedAt: Date
  startedAt: Date
  finishedAt: Date | null
}

export interface ExtraRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: unknown
  description: unknown
  category: 'activity' | 'bed' | 'cleaning' | 'early_check_in' | 'late_check_out' | 'meal' | 'other' | 'parking' | 'pet' | 'transport'
  revenueGroup: 'beverage' | 'food' | 'laundry' | 'other' | 'parking' | 'rooms' | 'spa' | 'tours'
  amount: number
  basis: 'per_night' | 'per_person' | 'per_person_per_night' | 'per_stay' | 'per_unit'
  mandatory: boolean
  bookableOnline: boolean
  unitTypeIds: string[]
  maxQuantity: number
  cutoffHours: number
  dailyLimit: number | null
  poolId: string | null
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ExtraSumRow {
  tenantId: string
  id: string
  propertyId: string
  dimension: 'agency' | 'all' | 'channel' | 'company' | 'country' | 'ratePlan' | 'segment' | 'source' | 'unitType'
  date: string
  key: string
  category: string
  amount: number
}

export interface FeatureRow {
  key: string
  name: string
  description: string
  position: number
}

export interface FinanceNoticeRow {
  id: string
  tenantId: string
  kind: 'finance_account' | 'finance_dispute' | 'finance_payout'
  subjectId: string
  label: string
  day: string | null
  createdAt: Date
}

export interface FiscalDocumentRow {
  tenantId: string
  id: string
  kind: string
  bookId: string
  propertyId: string | null
  receivableId: string | null
  folioId: string | null
  adapter: string
  status: 'authorised' | 'cancel_requested' | 'cancelled' | 'queued' | 'rejected' | 'sending' | 'unknown'
  series: string
  rpsNumber: number | null
  total: number
  currency: string
  serviceText: string
  snapshot: Buffer
  authorityNumber: string | null
  verificationCode: string | null
  accessKey: string | null
  authorisedAt: Date | null
  documentUrl: string | null
  xmlBlobId: string | null
  rejection: unknown | null
  cancelReason: string | null
  nextReadAt: Date | null
  attempts: number
  reads: number
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  erasedAt: Date | null
}

export interface FiscalExchangeRow {
  tenantId: string
  id: string
  fiscalDocumentId: string
  at: Date
  operation: 'cancel' | 'read' | 'send'
  outcome: 'authorised' | 'cancelled' | 'not_found' | 'not_sent' | 'processing' | 'refused' | 'rejected' | 'unknown'
  code: string | null
  position: number
}

export interface FiscalPeriodRow {
  tenantId: string
  id: string
  bookId: string
  fiscalYearId: string
  number: number
  kind: string
  startsOn: string
  endsOn: string
  status: 'closed' | 'open' | 'soft_closed'
  closedBy: string | null
  reopenedBy: string | null
  sealedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  selfApproved: boolean
  taxesDue: boolean
  diaryUntil: number | null
  diaryDone: number | null
  frozenDebit: number | null
  frozenCredit: number | null
  frozenLines: number | null
}

export interface FiscalYearRow {
  tenantId: string
  id: string
  bookId: string
  year: number
  startsOn: string
  endsOn: string
  status: 'closed' | 'closing' | 'open'
  closeRun: number
  version: number
  createdAt: Date
  updatedAt: Date
  closedBy: string | null
  reopenedBy: string | null
  selfApproved: boolean
}

export interface FolioRow {
  tenantId: string
  id: string
  propertyId: string
  number: string
  kind: 'company' | 'group' | 'guest' | 'house'
  reservationId: string | null
  isPrimary: boolean
  payerGuestId: string | null
  label: string
  stage: 'deposit' | 'guest'
  status: 'closed' | 'open'
  currency: string
  charges: number
  credits: number
  balance: number
  creditLimit: number | null
  locked: boolean
  version: number
  createdAt: Date
  updatedAt: Date
  groupId: string | null
  payerCompanyId: string | null
  receivableId: string | null
}

export interface FolioLineRow {
  tenantId: string
  id: string
  folioId: string
  seq: number
  kind: 'adjustment' | 'charge' | 'fee' | 'payment' | 'receivable' | 'refund' | 'transfer_in' | 'transfer_out'
  category: 'beverage' | 'cancellation' | 'damage' | 'early_departure' | 'food' | 'laundry' | 'minibar' | 'no_show' | 'other' | 'parking' | 'room' | 'rooms' | 'service_charge' | 'spa' | 'tax' | 'tours' | null
  description: string
  quantity: string
  unitAmount: number
  amount: number
  taxes: unknown
  businessDate: string
  sourceType: string
  sourceId: string
  sourceKey: string
  originalLineId: string | null
  transferId: string | null
  paymentId: string | null
  postedBy: unknown
  createdAt: Date
  taxRuleId: string | null
  receiptId: string | null
  propertyId: string | null
}

export interface FolioRouteRow {
  tenantId: string
  id: string
  reservationId: string
  position: number
  folioId: string
  categories: string[] | null
  from: string | null
  until: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface GalleryImageRow {
  tenantId: string
  id: string
  propertyId: string
  url: string
  unitTypeId: string | null
  category: 'bathroom' | 'common' | 'exterior' | 'food' | 'plan' | 'surroundings' | 'unit'
  caption: unknown
  position: number
  status: 'broken' | 'pending' | 'ready'
  width: number | null
  height: number | null
  mimeType: string | null
  bytes: number | null
  checkedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  problem: string | null
}

export interface GatewayAccountRow {
  tenantId: string
  id: string
  provider: 'sandbox' | 'stripe'
  label: string
  bookId: string
  country: string
  currency: string
  propertyIds: string[]
  isDefault: boolean
  status: 'active' | 'disconnected' | 'failed' | 'onboarding' | 'opening' | 'restricted'
  externalId: string | null
  capabilities: unknown
  chargesEnabled: boolean
  payoutsEnabled: boolean
  requirements: unknown
  platformFeeRate: number
  version: number
  createdAt: Date
  updatedAt: Date
  onboardingStatus: 'failed' | 'none' | 'ready' | 'requested'
  onboardingUrl: Buffer | null
  onboardingExpiresAt: Date | null
  onboardingReturnUrl: string | null
  onboardingRequests: number
  testToken: string | null
  balance: unknown | null
  failure: unknown | null
  nextReadAt: Date | null
  readCount: number
  nextImportAt: Date | null
  importedAt: Date | null
  importCursor: string | null
  importSince: Date | null
  importStartedAt: Date | null
  endedAt: Date | null
}

export interface GatewayBalanceDayRow {
  tenantId: string
  id: string
  gatewayAccountId: string
  day: string
  net: number
}

export interface GatewayCallbackRow {
  id: string
  provider: string
  accountRef: string
  eventId: string
  rawBody: Buffer | null
  headers: unknown
  bodyHash: Buffer
  eventType: string
  objectType: string
  objectRef: string
  ourId: string | null
  tenantId: string | null
  status: 'failed' | 'ignored' | 'processed' | 'received'
  receivedAt: Date
  processedAt: Date | null
  error: string | null
}

export interface GuestRow {
  tenantId: string
  id: string
  status: 'active' | 'erased' | 'merged'
  firstName: string
  lastName: string
  preferredName: string
  language: string | null
  nationality: string | null
  residenceCountry: string | null
  sealed: Buffer | null
  tags: string[]
  emailIndex: Buffer | null
  phoneIndex: Buffer | null
  phoneTailIndex: Buffer | null
  birthIndex: Buffer | null
  nameIndex: Buffer | null
  nameSearch: string
  mergedIntoId: string | null
  source: 'api' | 'channel' | 'import' | 'portal' | 'staff'
  erasedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface GuestAccessCodeRow {
  tenantId: string
  id: string
  bookingId: string
  expiresAt: Date
  attempts: number
  usedAt: Date | null
  endedAt: Date | null
  createdAt: Date
  addressHash: Buffer | null
}

export interface GuestBlockRow {
  tenantId: string
  id: string
  guestId: string
  level: 'refuse' | 'warn'
  propertyId: string | null
  startsOn: string
  endsOn: string | null
  sealed: Buffer
  documentIndexes: Buffer[]
  createdBy: string
  liftedAt: Date | null
  liftedBy: string | null
  liftReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface GuestConsentRow {
  tenantId: string
  id: string
  guestId: string
  purpose: 'marketing_email' | 'marketing_sms' | 'marketing_whatsapp' | 'profiling' | 'third_party'
  decision: 'granted' | 'withdrawn'
  source: 'desk' | 'import' | 'link' | 'message' | 'portal'
  textVersion: string
  sealed: Buffer | null
  at: Date
  by: unknown
}

export interface GuestDocumentRow {
  tenantId: string
  id: string
  guestId: string
  kind: 'birth_certificate' | 'cpf' | 'driving_licence' | 'other' | 'passport' | 'rg' | 'rnm'
  countryCode: string
  sealed: Buffer | null
  numberIndex: Buffer
  expiresOn: string | null
  status: 'pending' | 'rejected' | 'verified'
  verifiedBy: string | null
  verifiedAt: Date | null
  method: 'in_person' | 'provider' | 'video' | null
  rejectReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface GuestDocumentFileRow {
  tenantId: string
  id: string
  guestId: string
  documentId: string
  side: 'back' | 'front' | 'portrait'
  mediaType: 'application/pdf' | 'image/jpeg' | 'image/png' | 'image/webp'
  bytes: number
  sha256: Buffer
  blobId: string
  deleteAfter: string | null
  createdBy: string | null
  createdAt: Date
}

export interface GuestDuplicateRow {
  tenantId: string
  id: string
  guestA: string
  guestB: string
  score: number
  matches: string[]
  status: 'dismissed' | 'merged' | 'open'
  decidedBy: string | null
  decidedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface GuestKeyRow {
  tenantId: string
  guestId: string
  purpose: 'profile' | 'retention'
  wrappedKey: Buffer | null
  masterKeyId: string
  destroyAfter: string | null
  destroyedAt: Date | null
  createdAt: Date
}

export interface GuestMergeRow {
  tenantId: string
  id: string
  survivorId: string
  mergedId: string
  repointedIds: string[]
  fields: string[]
  sealed: Buffer | null
  reason: string
  mergedBy: unknown
  mergedAt: Date
  undoneAt: Date | null
  undoneBy: unknown | null
  undoReason: string | null
}

export interface GuestNoteRow {
  tenantId: string
  id: string
  guestId: string
  audience: 'all' | 'billing' | 'front_desk' | 'housekeeping' | 'relations'
  alertMoment: 'booking' | 'check_in' | 'check_out' | 'none'
  sealed: Buffer
  createdBy: string | null
  createdAt: Date
}

export interface GuestRegistrationRow {
  tenantId: string
  id: string
  reservationGuestId: string
  reservationId: string
  guestId: string
  propertyId: string
  status: 'accepted' | 'cancelled' | 'pending' | 'ready' | 'rejected' | 'submitted'
  sealed: Buffer | null
  formVersion: number
  missing: string[]
  signedAt: Date | null
  signedVia: 'link' | 'paper' | 'tablet' | null
  linkValidFrom: Date | null
  linkSentAt: Date | null
  externalId: string | null
  rejectReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  arrival: string
}

export interface GuestWordRow {
  tenantId: string
  id: string
  guestId: string
  word: string
}

export interface HoldStrikeRow {
  tenantId: string
  id: string
  propertyId: string
  emailIndex: Buffer
  bookingId: string
  expiredAt: Date
}

export interface HousekeepingSheetRow {
  tenantId: string
  id: string
  propertyId: string
  date: string
  attendantId: string
  status: 'closed' | 'draft' | 'published'
  maxCredits: number
  publishedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface HousekeepingTaskRow {
  tenantId: string
  id: string
  propertyId: string
  unitId: string
  date: string
  kind: 'deep' | 'departure' | 'inspection' | 'maintenance' | 'other' | 'pickup' | 'stayover' | 'turndown'
  status: 'done' | 'failed' | 'open' | 'passed' | 'skipped' | 'started'
  assigneeId: string | null
  sheetId: string | null
  priority: number
  ranked: boolean
  credits: number
  dueAt: Date | null
  checklist: unknown
  reservationId: string | null
  issueId: string | null
  note: string
  startedAt: Date | null
  completedAt: Date | null
  completedBy: string | null
  inspectedAt: Date | null
  inspectedBy: string | null
  minutes: number | null
  skipReason: 'do_not_disturb' | 'mistake' | 'no_time' | 'not_done' | 'not_needed' | 'refused' | null
  generated: boolean
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface IntegrityRunRow {
  tenantId: string
  id: string
  bookId: string
  status: 'failed' | 'passed' | 'queued' | 'running'
  results: unknown
  requestedAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  snapshot: string | null
}

export interface InventoryCategoryRow {
  tenantId: string
  id: string
  code: string
  name: string
  parentCode: string | null
  expenseGroup: 'beverage' | 'cleaning_supplies' | 'food' | 'guest_supplies' | 'operating_supplies' | 'other'
  stockAccountId: string | null
  expenseAccountId: string | null
  position: number
  status: 'active' | 'archived'
  createdAt: Date
  updatedAt: Date
}

export interface InventoryConsumptionRow {
  tenantId: string
  id: string
  propertyId: string
  kind: 'complimentary' | 'department' | 'kit' | 'meal' | 'minibar' | 'sale' | 'staff' | 'waste'
  locationId: string | null
  outletId: string | null
  orderId: string | null
  reservationId: string | null
  unitId: string | null
  taskId: string | null
  costCenterId: string | null
  reason: 'broken' | 'expired' | 'other' | 'returned' | 'spilled' | 'spoiled' | null
  businessDate: string
  movementId: string | null
  status: 'posted' | 'reversed'
  sourceType: string
  sourceId: string
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface InventoryConsumptionLineRow {
  tenantId: string
  id: string
  consumptionId: string
  position: number
  itemId: string
  locationId: string
  recipeVersionId: string | null
  quantity: number
  value: number
  shortQuantity: number
}

export interface InventoryCountRow {
  tenantId: string
  id: string
  propertyId: string
  locationId: string
  categoryId: string | null
  blind: boolean
  status: 'approved' | 'cancelled' | 'open'
  startedBy: string
  approvedBy: string | null
  selfApproved: boolean
  movementId: string | null
  note: string
  approvalNote: string
  closedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface InventoryCountCounterRow {
  tenantId: string
  id: string
  countId: string
  userId: string
}

export interface InventoryCountLineRow {
  tenantId: string
  id: string
  countId: string
  locationId: string
  itemId: string
  open: boolean
  expected: number
  counted: number | null
  enteredQuantity: number | null
  enteredMeasure: string | null
  countedBy: string | null
  countedAt: Date | null
  value: number | null
  lastShortage: number | null
}

export interface InventoryItemRow {
  tenantId: string
  id: string
  sku: string
  name: string
  barcode: string | null
  categoryId: string
  base: 'g' | 'ml' | 'un'
  packages: unknown
  supplierId: string | null
  leadDays: number
  referenceAmount: number | null
  referenceQuantity: number | null
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface InventoryLevelRow {
  tenantId: string
  id: string
  locationId: string
  itemId: string
  minimum: number
  maximum: number
}

export interface InventoryLocationRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: string
  kind: 'bar' | 'housekeeping' | 'kitchen' | 'minibar' | 'shop' | 'store'
  position: number
  status: 'active' | 'archived'
  createdAt: Date
  updatedAt: Date
}

export interface InventoryMovementRow {
  tenantId: string
  id: string
  propertyId: string
  kind: 'consumption' | 'count' | 'opening' | 'production' | 'receipt' | 'reversal' | 'shortage' | 'transfer'
  occurredOn: string
  reference: string | null
  note: string | null
  supplierId: string | null
  purchaseOrderId: string | null
  recipeVersionId: string | null
  reversesId: string | null
  status: 'posted' | 'reversed'
  sourceType: string
  sourceId: string
  reversalReason: string | null
  createdBy: string | null
  version: number
  createdAt: Date
}

export interface InventoryMovementLineRow {
  tenantId: string
  id: string
  movementId: string
  position: number
  itemId: string
  locationId: string
  quantity: number
  value: number
  enteredQuantity: number
  enteredMeasure: string
  seq: number
  occurredOn: string
  purchaseOrderLineId: string | null
}

export interface InventorySetRow {
  tenantId: string
  kind: 'all' | 'categories' | 'locations' | 'outlets' | 'prices'
  ownerId: string
  version: number
}

export interface InventoryShortageRow {
  tenantId: string
  id: string
  consumptionId: string
  consumptionLineId: string
  itemId: string
  locationId: string
  quantity: number
  settledQuantity: number
  settledValue: number
  status: string
  position: number
  createdAt: Date
}

export interface InventoryStockRow {
  tenantId: string
  id: string
  locationId: string
  itemId: string
  quantity: number
  value: number
  lastSeq: number
  lowSince: Date | null
  lastCountedAt: Date | null
  lastCountedOn: string | null
  lastCostValue: number | null
  lastCostQuantity: number | null
  lastCostAt: Date | null
}

export interface InventoryStockMonthRow {
  tenantId: string
  id: string
  locationId: string
  itemId: string
  month: string
  value: number
}

export interface InventoryUseRow {
  tenantId: string
  id: string
  locationId: string
  itemId: string
  date: string
  quantity: number
}

export interface InvoicePaymentRow {
  id: string
  tenantId: string
  invoiceId: string
  try: number
  provider: string
  method: 'boleto' | 'card' | 'pix'
  amount: number
  capturedAmount: number
  currency: string
  status: 'cancelled' | 'captured' | 'created' | 'failed' | 'processing' | 'requires_action' | 'unknown'
  action: unknown | null
  externalId: string | null
  customerRef: string | null
  methodRef: string | null
  submission: Buffer | null
  failureCode: string | null
  failureMessage: string | null
  sentAt: Date | null
  readCount: number
  endedAt: Date | null
  createdAt: Date
  updatedAt: Date
  methodNo: number
  returnUrl: string | null
}

export interface IssueRow {
  tenantId: string
  id: string
  number: number
  propertyId: string
  status: 'closed' | 'in_progress' | 'open' | 'resolved' | 'waiting'
  kind: 'complaint' | 'incident' | 'maintenance' | 'request' | 'support'
  categoryId: string
  priority: 'high' | 'low' | 'normal' | 'urgent'
  sealed: Buffer | null
  source: 'channel' | 'guest' | 'staff' | 'system'
  sourceEvent: string | null
  sourceKey: string | null
  occurrences: number
  guestId: string | null
  reservationId: string | null
  unitId: string | null
  housekeepingTaskId: string | null
  paymentId: string | null
  conversationId: string | null
  assigneeId: string | null
  team: 'finance' | 'housekeeper' | 'maintenance' | 'manager' | 'receptionist' | 'relations' | 'stock'
  escalation: number
  waitingFor: 'guest' | 'third_party' | null
  firstResponseMinutes: number
  firstResponseDueAt: Date
  firstRespondedAt: Date | null
  firstResponseBreachedAt: Date | null
  resolutionMinutes: number
  resolutionFrom: Date
  resolutionDueAt: Date
  resolutionBreachedAt: Date | null
  overdueSteps: number
  waitingSince: Date | null
  waitedSeconds: number
  nextDueAt: Date | null
  checkAt: Date | null
  resolutionSealed: Buffer | null
  cause: 'guest' | 'none' | 'property' | 'staff' | 'supplier' | 'system' | 'third_party' | 'weather' | null
  outcome: 'duplicate' | 'not_actionable' | 'resolved' | 'withdrawn' | null
  duplicateOfId: string | null
  reopenCount: number
  resolvedAt: Date | null
  closedAt: Date | null
  score: number | null
  scoreSealed: Buffer | null
  scoredAt: Date | null
  textsErasedAt: Date | null
  createdBy: unknown
  version: number
  createdAt: Date
  updatedAt: Date
  hours: 'always' | 'business'
  escalated: boolean
  recurring: boolean
}

export interface IssueCategoryRow {
  tenantId: string
  id: string
  code: string
  name: unknown
  kind: 'complaint' | 'incident' | 'maintenance' | 'request' | 'support'
  team: 'finance' | 'housekeeper' | 'maintenance' | 'manager' | 'receptionist' | 'relations' | 'stock'
  targets: unknown
  guestFacing: boolean
  autoApproveLimit: number
  managerLimit: number
  active: boolean
  version: number
  createdAt: Date
  updatedAt: Date
  hours: 'always' | 'business'
}

export interface IssueCommentRow {
  tenantId: string
  id: string
  issueId: string
  visibility: 'guest' | 'internal'
  sealed: Buffer | null
  authorId: string | null
  messageId: string | null
  eventId: string | null
  createdAt: Date
}

export interface IssueEventRow {
  tenantId: string
  id: string
  issueId: string
  command: string
  fromStatus: 'closed' | 'in_progress' | 'open' | 'resolved' | 'waiting' | null
  toStatus: 'closed' | 'in_progress' | 'open' | 'resolved' | 'waiting'
  changes: unknown
  actor: unknown
  sealed: Buffer | null
  requestId: string | null
  position: number
  createdAt: Date
}

export interface IssueNoticeRow {
  id: string
  tenantId: string
  number: number
  propertyName: string
  categoryName: string
  priority: string
  level: number
  dueAt: Date | null
  createdAt: Date
}

export interface IssueNumberRow {
  tenantId: string
  kind: 'issue' | 'lost_item'
  lastNumber: number
}

export interface JobArchiveRow {
  id: string
  money: boolean
  tenantId: string | null
  queue: string
  kind: string
  version: number
  payload: unknown
  outcome: 'cancelled' | 'discarded' | 'done' | 'expired' | 'failed' | 'missed' | 'skipped'
  reason: string | null
  class: string
  runAt: Date
  uniqueKey: string | null
  attempts: number
  starts: number
  dispatchNo: number
  worker: string | null
  progress: unknown | null
  lastError: unknown | null
  requestId: string
  traceparent: string | null
  actor: unknown
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date
  history: unknown
}

export interface JobsRow {
  id: string
  seq: number
  tenantId: string | null
  queue: string
  kind: string
  version: number
  payload: unknown
  status: 'dead' | 'dispatched' | 'pending' | 'running'
  class: 'bulk' | 'normal' | 'urgent'
  runAt: Date
  uniqueKey: string | null
  attempts: number
  starts: number
  dispatchNo: number
  delivery: number
  leasedUntil: Date | null
  worker: string | null
  progress: unknown | null
  lastError: unknown | null
  requestId: string
  traceparent: string | null
  actor: unknown
  createdAt: Date
  gate: string
  ready: boolean
  history: unknown
}

export interface JournalRow {
  tenantId: string
  id: string
  bookId: string
  code: string
  name: string
  kind: 'cash' | 'closing' | 'general' | 'opening' | 'purchases' | 'sales' | 'stock'
  lockedUntil: string | null
  active: boolean
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface JournalEntryRow {
  tenantId: string
  id: string
  sequence: number
  bookId: string
  journalId: string
  periodId: string
  postingDate: string
  currency: string
  kind: 'closing' | 'opening' | 'reversal' | 'standard'
  reversesEntryId: string | null
  sourceType: string
  sourceId: string
  sourceSeq: number
  total: number
  description: string
  late: boolean
  createdBy: string | null
  approvedBy: string | null
  selfApproved: boolean
  createdXid: string
  createdAt: Date
  reverseOn: string | null
}

export interface JournalLineRow {
  tenantId: string
  id: string
  entryId: string
  lineNo: number
  bookId: string
  periodId: string
  postingDate: string
  accountId: string
  debit: number
  credit: number
  propertyId: string | null
  costCenterId: string | null
  partyType: string | null
  partyId: string | null
  documentType: string | null
  documentId: string | null
  taxCodeId: string | null
  taxBase: number | null
  memo: string
}

export interface JournalSealRow {
  tenantId: string
  id: string
  bookId: string
  year: number
  number: number
  entryId: string
  previousHash: Buffer
  hash: Buffer
  createdAt: Date
  position: number
}

export interface JournalTextRow {
  tenantId: string
  id: string
  bookId: string
  text: string
  plain: string
}

export interface KeptReplyRow {
  caller: string
  key: string
  tenantId: string | null
  requestHash: Buffer
  status: number
  headers: unknown
  body: Buffer
  createdAt: Date
}

export interface KnownNetworkRow {
  userId: string
  network: string
  lastAt: Date
}

export interface ListCountRow {
  tenantId: string
  list: string
  seq: number
  propertyId: string | null
  bookId: string | null
  status: string | null
  kind: string | null
  n: number
  folded: boolean
  journalId: string | null
  periodId: string | null
  channelConnectionId: string | null
  webhookEndpointId: string | null
  automationId: string | null
  day: string | null
  escalated: boolean | null
  recurring: boolean | null
  lifted: boolean | null
  matched: boolean | null
  late: boolean | null
  month: string | null
  role: string | null
  roleId: string | null
}

export interface LostItemRow {
  tenantId: string
  id: string
  number: number
  propertyId: string
  direction: 'found' | 'missed'
  category: 'bag' | 'clothing' | 'document' | 'electronics' | 'jewellery' | 'money' | 'other'
  sealed: Buffer | null
  at: Date
  unitId: string | null
  foundBy: string | null
  storagePlace: string
  guestId: string | null
  reservationId: string | null
  matchId: string | null
  keepUntil: string
  disposalToldAt: Date | null
  status: 'closed' | 'open'
  outcome: 'discarded' | 'donated' | 'found_by_owner' | 'handed_to_authority' | 'not_found' | 'returned' | 'shipped' | null
  closeSealed: Buffer | null
  closedAt: Date | null
  textsErasedAt: Date | null
  createdBy: unknown
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface MembershipRow {
  tenantId: string
  id: string
  userId: string
  role: 'admin' | 'auditor' | 'finance' | 'housekeeper' | 'maintenance' | 'manager' | 'owner' | 'receptionist' | 'relations' | 'stock' | null
  roleId: string | null
  allProperties: boolean
  status: 'active' | 'deactivated' | 'invited'
  invitedBy: string | null
  invitedAt: Date
  acceptedAt: Date | null
  deactivatedAt: Date | null
  deactivatedBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  invitedName: string | null
  invitedEmail: string | null
}

export interface MembershipPropertyRow {
  tenantId: string
  id: string
  membershipId: string
  propertyId: string
}

export interface MessageRow {
  tenantId: string
  id: string
  direction: 'inbound' | 'outbound'
  origin: 'automation' | 'campaign' | 'guest' | 'module' | 'staff'
  propertyId: string
  guestId: string | null
  reservationId: string | null
  paymentId: string | null
  issueId: string | null
  automationId: string | null
  campaignId: string | null
  conversationId: string | null
  eventId: string | null
  templateId: string | null
  templateNumber: number | null
  text: Buffer | null
  data: unknown
  purpose: 'marketing' | 'service'
  urgency: 'immediate' | 'normal'
  locale: string | null
  recipient: Buffer | null
  reservationStatuses: string[] | null
  plan: unknown
  step: number
  turn: number
  status: 'cancelled' | 'delivered' | 'expired' | 'failed' | 'queued' | 'read' | 'received' | 'scheduled' | 'sending' | 'sent' | 'suppressed'
  dedupeKey: string
  scheduledFor: Date
  expiresAt: Date
  fallbackAt: Date | null
  sentAt: Date | null
  reason: string | null
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  round: number
  kind: string | null
}

export interface MessageAttemptRow {
  tenantId: string
  id: string
  messageId: string
  propertyId: string
  step: number
  number: number
  kind: 'email' | 'sms' | 'whatsapp'
  transport: 'own' | 'platform' | 'sandbox'
  recipientIndex: Buffer
  recipient: Buffer | null
  subject: Buffer | null
  body: Buffer | null
  purpose: 'marketing' | 'service'
  status: 'bounced' | 'delivered' | 'failed' | 'read' | 'sending' | 'sent' | 'unknown'
  rank: number
  providerId: string | null
  segments: number | null
  errorCode: string | null
  errorText: string | null
  resends: number
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  proof: unknown
  createdAt: Date
  updatedAt: Date
  round: number
}

export interface MessageCallbackRow {
  tenantId: string
  id: string
  messageChannelId: string
  key: string
  body: Buffer | null
  status: 'ignored' | 'processed' | 'received'
  error: string | null
  createdAt: Date
  processedAt: Date | null
}

export interface MessageChannelRow {
  tenantId: string
  id: string
  propertyId: string
  kind: 'email' | 'sms' | 'whatsapp'
  enabled: boolean
  transport: 'own' | 'platform' | 'sandbox'
  senderName: string | null
  senderAddress: string | null
  replyTo: string | null
  credentials: Buffer | null
  callbackHash: Buffer
  dailyCap: number
  countries: string[]
  verification: unknown
  version: number
  createdAt: Date
  updatedAt: Date
  testRecipient: Buffer | null
  testNumber: number
  capReachedOn: string | null
}

export interface MessageTemplateRow {
  tenantId: string
  id: string
  key: string
  name: string
  purpose: 'marketing' | 'service'
  urgency: string
  context: 'group' | 'guest' | 'issue' | 'payment' | 'purchase_order' | 'receivable' | 'reservation'
  status: 'active' | 'archived'
  publishedNumber: number | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface MessageTemplateVersionRow {
  tenantId: string
  id: string
  templateId: string
  number: number
  status: string
  contents: unknown
  variables: string[]
  publishedAt: Date | null
  publishedBy: string | null
  createdAt: Date
}

export interface NightAuditRow {
  tenantId: string
  id: string
  propertyId: string
  businessDate: string
  status: 'failed' | 'queued' | 'running' | 'succeeded'
  step: 'exceptions' | 'extra_charges' | 'housekeeping' | 'no_shows' | 'roll' | 'room_charges' | 'snapshot' | null
  done: number
  total: number
  exceptions: unknown
  exceptionCount: number
  turn: number
  leaseOwner: string | null
  leaseUntil: Date | null
  startedBy: string | null
  startedAt: Date | null
  finishedAt: Date | null
  error: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface NightAuditCheckpointRow {
  tenantId: string
  nightAuditId: string
  step: 'exceptions' | 'extra_charges' | 'housekeeping' | 'no_shows' | 'roll' | 'room_charges' | 'snapshot'
  lastId: string | null
  done: number
  finishedAt: Date | null
}

export interface NightFactRow {
  tenantId: string
  id: string
  propertyId: string
  businessDate: string
  stayDate: string
  reservationId: string | null
  kind: string
  sourceType: string
  sourceId: string
  unitTypeId: string | null
  ratePlanId: string | null
  marketSegment: string | null
  source: string | null
  channelConnectionId: string | null
  companyId: string | null
  agencyId: string | null
  groupId: string | null
  countryCode: string | null
  unitNights: number
  adults: number
  children: number
  free: 'complimentary' | 'house_use' | 'none'
  roomRevenue: number
  includedTax: number
  commission: number
}

export interface NightSumRow {
  tenantId: string
  id: string
  propertyId: string
  dimension: 'agency' | 'all' | 'channel' | 'company' | 'country' | 'ratePlan' | 'segment' | 'source' | 'unitType'
  businessDate: string
  key: string
  gap: number
  sold: number
  complimentary: number
  houseUse: number
  adults: number
  children: number
  roomRevenue: number
  includedTax: number
  commission: number
  bookings: number
}

export interface NoticeRow {
  id: string
  tenantId: string
  kind: string
  reference: string
  house: string
  key: string | null
  day: string | null
  money: string | null
  createdAt: Date
}

export interface NumberJumpRow {
  tenantId: string
  id: string
  seriesId: string
  fromNumber: number
  toNumber: number
  reason: string
  createdBy: string
  createdAt: Date
}

export interface NumberSeriesRow {
  tenantId: string
  id: string
  bookId: string
  kind: 'credit_note' | 'invoice' | 'purchase_order' | 'receipt' | 'register_z' | 'rps'
  scopeId: string | null
  year: number | null
  prefix: string
  next: number
  skipped: number
  version: number
  createdAt: Date
}

export interface OnTheBooksChangeRow {
  tenantId: string
  id: string
  propertyId: string
  stayDate: string
  changedOn: string
  reservationId: string
  unitTypeId: string
  ratePlanId: string
  marketSegment: string
  source: string
  channelConnectionId: string | null
  companyId: string | null
  agencyId: string | null
  groupId: string | null
  unitNights: number
  roomRevenue: number
  createdAt: Date
}

export interface OnTheBooksSumRow {
  tenantId: string
  propertyId: string
  dimension: 'all' | 'channel' | 'segment' | 'unitType'
  span: string
  stayDate: string
  changedOn: string
  key: string
  unitNights: number
  roomRevenue: number
}

export interface OnTheBooksWaitingRow {
  tenantId: string
  id: string
  propertyId: string
  stayDate: string
  changedOn: string
  unitTypeId: string
  marketSegment: string
  channelConnectionId: string | null
  unitNights: number
  roomRevenue: number
}

export interface OneTimeTokenRow {
  id: string
  purpose: 'email_change' | 'invitation' | 'mfa' | 'password_reset'
  userId: string
  tenantId: string | null
  data: unknown
  expiresAt: Date
  usedAt: Date | null
  createdAt: Date
}

export interface OutletRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: string
  kind: 'bar' | 'events' | 'minibar' | 'restaurant' | 'room_service' | 'shop'
  locationId: string
  roomCharge: boolean
  serviceChargeRate: number
  position: number
  status: 'active' | 'archived'
  createdAt: Date
  updatedAt: Date
}

export interface OutletPriceRow {
  tenantId: string
  id: string
  outletId: string
  code: string
  name: string
  itemId: string | null
  recipeId: string | null
  quantity: number
  amount: number
  revenueGroup: 'beverage' | 'food' | 'laundry' | 'other' | 'parking' | 'spa' | 'tours'
  locationId: string | null
  validFrom: string | null
  validTo: string | null
  weekDays: number[] | null
  timeFrom: string | null
  timeTo: string | null
  position: number
  status: 'active' | 'archived'
  createdAt: Date
  updatedAt: Date
}

export interface PasswordRequestRow {
  id: string
  email: string
  createdAt: Date
}

export interface PayableRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  supplierId: string | null
  payeeName: string | null
  payeeDocument: string | null
  payeeKey: string
  kind: 'bill' | 'commission' | 'opening' | 'other' | 'reimbursement' | 'tax'
  number: string | null
  series: string
  fiscalKey: string | null
  issuedOn: string
  postingOn: string
  currency: string
  gross: number
  withheld: number
  total: number
  settled: number
  open: number
  status: 'approved' | 'awaiting_approval' | 'draft' | 'paid' | 'partly_paid' | 'void'
  onHold: boolean
  holdReason: string | null
  source: string
  sourceKey: string | null
  policyNumber: number | null
  approvalsNeeded: number
  approvalsGiven: number
  approvalRoles: string[]
  round: number
  matchExceptions: unknown
  costCenterId: string | null
  notes: string
  createdBy: string | null
  editedBy: string | null
  submittedBy: string | null
  postedAt: Date | null
  endedAt: Date | null
  voidedOn: string | null
  voidReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  editors: string[]
  codeAuthors: string[]
}

export interface PayableApprovalRow {
  tenantId: string
  id: string
  payableId: string
  round: number
  userId: string
  decision: 'approved' | 'rejected'
  note: string | null
  selfApproved: boolean
  createdAt: Date
}

export interface PayableFactRow {
  tenantId: string
  id: string
  payableId: string
  installmentId: string
  datedOn: string
  type: string
  sourceId: string
  amount: number
  position: number
  createdAt: Date
}

export interface PayableHistoryRow {
  tenantId: string
  id: string
  payableId: string
  command: string
  fromStatus: string | null
  toStatus: string
  changes: unknown
  reason: string | null
  actor: unknown
  requestId: string | null
  position: number
  createdAt: Date
}

export interface PayableInstallmentRow {
  tenantId: string
  id: string
  payableId: string
  seq: number
  dueOn: string
  amount: number
  settled: number
  open: number
  versions: unknown
  boletoLine: string | null
  pixCode: string | null
  replannedSince: string | null
}

export interface PayableLineRow {
  tenantId: string
  id: string
  payableId: string
  lineNo: number
  description: string
  accountId: string | null
  purchaseOrderLineId: string | null
  inventoryMovementLineId: string | null
  quantity: string | null
  baseQuantity: string | null
  amount: number
  costCenterId: string | null
  propertyId: string | null
  receivedValue: number | null
  variance: number | null
  taken: unknown
}

export interface PayablePaymentRow {
  tenantId: string
  id: string
  bookId: string
  method: string
  cashAccountId: string | null
  creditId: string | null
  payOn: string
  currency: string
  total: number
  status: 'approved' | 'awaiting_approval' | 'failed' | 'paid' | 'partly_paid' | 'sending' | 'void'
  reference: string
  note: string
  createdBy: string
  approvedBy: string | null
  selfApproved: boolean
  approvedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PayablePaymentItemRow {
  tenantId: string
  id: string
  payablePaymentId: string
  position: number
  payableId: string | null
  installmentId: string | null
  supplierId: string | null
  payeeName: string | null
  payeeDocument: string | null
  payeeKey: string
  purchaseOrderId: string | null
  propertyId: string | null
  principal: number
  interest: number
  fine: number
  discount: number
  cash: number
  status: 'failed' | 'paid' | 'queued' | 'sending' | 'void'
  destination: string | null
  creditId: string | null
  cashTransferId: string | null
  cashMovementId: string | null
  refundMovementId: string | null
  failure: unknown | null
  paidOn: string | null
  reversedOn: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PayableWithholdingRow {
  tenantId: string
  id: string
  payableId: string
  taxCodeId: string
  code: string
  base: number
  rate: number
  amount: number
  collectedById: string | null
  rateGiven: boolean
}

export interface PaymentRow {
  tenantId: string
  id: string
  origin: 'gateway' | 'recorded'
  channel: 'automatic' | 'desk' | 'link' | 'portal'
  mode: 'authorise' | 'charge'
  method: 'bank_transfer' | 'boleto' | 'card' | 'cash' | 'cheque' | 'other' | 'pix' | 'terminal'
  gatewayAccountId: string | null
  propertyId: string
  targetType: 'booking' | 'folio' | 'pos_order' | 'receivable' | 'reservation' | null
  targetId: string | null
  amount: number
  currency: string
  status: 'authorised' | 'cancelled' | 'captured' | 'created' | 'expired' | 'failed' | 'processing' | 'requires_action' | 'reversed' | 'unknown'
  authorisedAmount: number
  capturedAmount: number
  refundReserved: number
  refundedAmount: number
  disputedAmount: number
  allocatedAmount: number
  feeAmount: number | null
  platformFeeAmount: number | null
  netAmount: number | null
  platformFeeRate: number
  installments: number
  externalId: string | null
  submission: Buffer | null
  action: Buffer | null
  failure: unknown | null
  payer: Buffer | null
  payerIndex: Buffer | null
  description: string | null
  reference: string | null
  note: string | null
  expiresAt: Date | null
  authorisationExpiresAt: Date | null
  capturedAt: Date | null
  endedAt: Date | null
  businessDate: string | null
  captureRequested: number | null
  sentAt: Date | null
  cancelRequestedAt: Date | null
  supersededById: string | null
  late: boolean
  nextReadAt: Date | null
  readCount: number
  version: number
  createdAt: Date
  updatedAt: Date
  paymentMethodId: string | null
  linkId: string | null
  declines: number
  endNearedAt: Date | null
  linkSentAt: Date | null
  unallocatedTold: boolean
  cashAccountId: string | null
  cashSessionId: string | null
  overReturned: number
  overWrittenOff: number
  captureRefusals: number
  declineRef: string | null
}

export interface PaymentAllocationRow {
  tenantId: string
  id: string
  paymentId: string
  targetType: 'booking' | 'folio' | 'pos_order' | 'receivable' | 'reservation'
  targetId: string
  amount: number
  reversesId: string | null
  seq: number
  createdAt: Date
}

export interface PaymentExceptionRow {
  tenantId: string
  id: string
  kind: 'account_gone' | 'amount_differs' | 'capture_refused' | 'currency_differs' | 'duplicate_payment' | 'fee_differs' | 'late_payment' | 'missing_here' | 'missing_there' | 'outcome_unknown' | 'over_returned' | 'payout_differs' | 'refund_failed' | 'unallocated'
  propertyId: string | null
  subjectType: 'balance_transaction' | 'dispute' | 'gateway_account' | 'payment' | 'payout' | 'receipt' | 'refund'
  subjectId: string
  amount: number
  expectedAmount: number | null
  currency: string
  status: string
  resolution: 'accepted' | 'recorded' | 'written_off' | null
  reason: string | null
  resolvedBy: unknown | null
  resolvedAt: Date | null
  automatic: boolean
  version: number
  createdAt: Date
  updatedAt: Date
  gatewayAccountId: string | null
  reconciliationId: string | null
}

export interface PaymentHistoryRow {
  tenantId: string
  id: string
  paymentId: string
  seq: number
  status: string
  at: Date
  actor: unknown
  cause: 'call' | 'callback' | 'clock' | 'command' | 'read'
}

export interface PaymentMethodRow {
  tenantId: string
  id: string
  gatewayAccountId: string
  guestId: string | null
  customerId: string | null
  bookingId: string | null
  status: 'active' | 'detached' | 'expired' | 'failed' | 'pending'
  brand: string | null
  last4: string | null
  expMonth: number | null
  expYear: number | null
  fingerprint: string | null
  externalId: string | null
  externalCustomerId: string | null
  setupId: string | null
  consentAt: Date
  consentTextVersion: string
  consentAddressHash: Buffer | null
  submission: Buffer | null
  action: Buffer | null
  failure: unknown | null
  sentAt: Date | null
  nextReadAt: Date | null
  readCount: number
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PayoutRow {
  tenantId: string
  id: string
  gatewayAccountId: string
  externalId: string
  amount: number
  currency: string
  status: 'cancelled' | 'failed' | 'in_transit' | 'paid' | 'pending'
  arrivesOn: string | null
  complete: boolean
  difference: number | null
  failure: unknown | null
  createdOn: string
  paidAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PixChargeRow {
  tenantId: string
  id: string
  cashAccountId: string
  bookId: string
  propertyId: string | null
  pixKeyId: string | null
  kind: 'due_date' | 'immediate' | 'static'
  amount: number | null
  currency: string
  txid: string
  targetType: string | null
  targetId: string | null
  installmentId: string | null
  payer: Buffer | null
  dueOn: string | null
  graceDays: number | null
  fineRate: number
  monthlyInterestRate: number
  discounts: unknown
  expiresAt: Date | null
  text: string
  merchantName: string
  merchantCity: string
  brCode: string | null
  location: string | null
  paid: number
  receivedCount: number
  status: 'active' | 'cancelled' | 'cancelling' | 'creating' | 'expired' | 'failed' | 'paid'
  failure: unknown | null
  endsAt: Date | null
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PixConnectionRow {
  tenantId: string
  id: string
  cashAccountId: string
  provider: string
  credentials: Buffer
  hook: Buffer
  hookHash: Buffer
  status: 'active' | 'connecting' | 'failing'
  lastSyncedAt: Date | null
  nextSyncAt: Date
  lastError: string | null
  failingSince: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  baseUrl: string | null
  tokenUrl: string | null
}

export interface PixKeyRow {
  tenantId: string
  id: string
  cashAccountId: string
  type: 'cnpj' | 'cpf' | 'email' | 'phone' | 'random'
  value: string
  createdAt: Date
}

export interface PixReceiptRow {
  tenantId: string
  id: string
  cashAccountId: string
  cashMovementId: string
  pixChargeId: string | null
  endToEndId: string
  txid: string | null
  amount: number
  currency: string
  payer: Buffer | null
  providerTime: Date
  claimedByType: 'payment' | 'receipt'
  claimedById: string
  returned: number
  returnReserved: number
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PixReturnRow {
  tenantId: string
  id: string
  pixReceiptId: string
  returnCode: string
  requestedByType: string | null
  requestedById: string | null
  amount: number
  origin: string
  status: string
  reason: string
  failure: unknown | null
  movementId: string | null
  documentId: string | null
  nextReadAt: Date | null
  readCount: number
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PlanVersionRow {
  id: string
  plan: 'Enterprise' | 'Professional' | 'Starter'
  number: number
  features: unknown
  prices: unknown
  platformFeeRate: number
  effectiveFrom: Date
  note: string
  createdBy: string | null
  createdAt: Date
}

export interface PlatformCountRow {
  list: string
  seq: number
  status: string | null
  plan: string | null
  day: string | null
  n: number
  folded: boolean
  feature: string | null
}

export interface PolicyRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: string
  kind: 'cancellation' | 'deposit' | 'no_show'
  status: 'active' | 'archived'
  currentVersion: number
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PolicyVersionRow {
  tenantId: string
  id: string
  policyId: string
  number: number
  rules: unknown
  hash: string
  createdBy: string | null
  createdAt: Date
}

export interface PoolNightRow {
  tenantId: string
  id: string
  poolId: string
  night: string
  capacity: number
  sold: number
  held: number
  allotted: number
  blocked: number
  oversell: number
  forced: number
}

export interface PosOrderRow {
  tenantId: string
  id: string
  propertyId: string
  outletId: string
  number: string
  externalId: string | null
  businessDate: string
  status: 'cancelled' | 'closed' | 'open' | 'voided'
  table: string | null
  covers: number
  reservationId: string | null
  unitId: string | null
  currency: string
  serviceCharge: boolean
  serviceChargeRate: number
  discount: number
  discountReason: string | null
  note: string | null
  subtotal: number
  serviceChargeAmount: number
  total: number
  paidAmount: number
  openedBy: string | null
  closedBy: string | null
  closedAt: Date | null
  cancelReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PosOrderLineRow {
  tenantId: string
  id: string
  orderId: string
  position: number
  priceCode: string
  name: string
  quantity: number
  unitAmount: number
  amount: number
  discountShare: number
  revenueGroup: 'beverage' | 'food' | 'laundry' | 'other' | 'parking' | 'spa' | 'tours'
  itemId: string | null
  recipeId: string | null
  perUnit: number
  locationId: string
  note: string | null
  status: 'live' | 'voided'
  voidReason: string | null
  wasted: boolean
}

export interface PosOrderNumberRow {
  tenantId: string
  id: string
  outletId: string
  date: string
  last: number
}

export interface PosSettlementRow {
  tenantId: string
  id: string
  orderId: string
  position: number
  type: 'folio' | 'house' | 'payment'
  folioLineIds: string[]
  paymentId: string | null
  reason: string | null
  amount: number
  createdAt: Date
}

export interface PostingEventRow {
  tenantId: string
  id: string
  seq: number
  bookId: string
  propertyId: string | null
  event: string
  sourceId: string
  sourceSeq: number
  dated: 'day' | 'document'
  postingDate: string
  periodId: string
  reversesEventId: string | null
  payload: unknown
  status: 'dismissed' | 'failed' | 'parked' | 'pending' | 'posted'
  attempts: number
  nextAt: Date | null
  errorCode: string | null
  errorMessage: string | null
  ruleIds: string[]
  entryId: string | null
  dismissReason: string | null
  replacingEntryId: string | null
  createdAt: Date
  journalKind: string | null
}

export interface PostingRuleRow {
  tenantId: string
  id: string
  bookId: string
  event: string
  line: string
  match: unknown
  matchKey: string
  accountId: string
  costCenterId: string | null
  validFrom: string
  validTo: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PriceTaxSumRow {
  tenantId: string
  id: string
  propertyId: string
  date: string
  code: string
  rule: string
  base: number
  tax: number
}

export interface PrivacyCheckpointRow {
  tenantId: string
  id: string
  requestId: string
  tableName: string
  done: boolean
  rowCount: number
}

export interface PrivacyRequestRow {
  tenantId: string
  id: string
  guestId: string
  kind: 'access' | 'correction' | 'erasure'
  status: 'completed' | 'received' | 'refused' | 'running'
  channel: 'email' | 'in_person' | 'letter' | 'phone' | 'portal' | 'retention'
  receivedAt: Date
  dueOn: string
  sealed: Buffer | null
  identityMethod: 'document' | 'email_code' | 'known_guest' | 'phone_code' | null
  planHash: string | null
  createdBy: unknown
  decidedBy: string | null
  decidedAt: Date | null
  legalBasis: string | null
  reason: string | null
  certificate: unknown | null
  certificateToken: string | null
  exportBlobId: string | null
  exportUntil: Date | null
  nearedAt: Date | null
  passedAt: Date | null
  completedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  guestIds: string[]
}

export interface PromoCodeRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  type: string
  value: number
  ratePlanIds: string[]
  unitTypeIds: string[]
  bookableFrom: string | null
  bookableUntil: string | null
  stayFrom: string | null
  stayUntil: string | null
  minNights: number | null
  maxRedemptions: number | null
  maxPerBooker: number | null
  redeemed: number
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PropertyRow {
  tenantId: string
  id: string
  code: string
  slug: string
  name: string
  description: unknown
  kind: 'apart_hotel' | 'campsite' | 'hostel' | 'hotel' | 'inn' | 'resort' | 'vacation_rental'
  status: 'archived' | 'draft' | 'live' | 'suspended'
  timezone: string
  currency: string
  locales: string[]
  address: unknown
  latitude: string | null
  longitude: string | null
  phone: string | null
  email: string | null
  website: string | null
  legalName: string | null
  legalDocument: string | null
  registryNumber: string | null
  bookId: string
  checkInFrom: string | null
  checkInUntil: string | null
  checkOutUntil: string | null
  cleaningMinutes: number
  amenities: string[]
  houseRules: unknown
  businessDate: string | null
  publicVersion: number
  settings: unknown
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface PropertyDayRow {
  tenantId: string
  propertyId: string
  date: string
  unitTypeId: string
  units: number
  outOfOrder: number
  outOfService: number
}

export interface PropertyDayCountRow {
  tenantId: string
  propertyId: string
  date: string
  arrivals: number
  departures: number
  stayOvers: number
  walkIns: number
  noShows: number
  cancellations: number
  bookings: number
  guestsInHouse: number
  overbooked: number
  conditions: unknown
  tasks: unknown
}

export interface PropertyDirectoryRow {
  propertyId: string
  tenantId: string
  slug: string
  status: string
  publicVersion: number
}

export interface PropertyPaymentMethodRow {
  tenantId: string
  id: string
  propertyId: string
  method: 'bank_transfer' | 'boleto' | 'card' | 'cash' | 'pay_at_property' | 'pix'
  offeredTo: string
  position: number
  gatewayAccountId: string | null
  minDaysBeforeArrival: number
  maxAmount: number | null
  maxInstallments: number
  instructions: unknown
}

export interface ProviderGateRow {
  gate: string
  provider: string
  tenantId: string | null
  state: 'closed' | 'open'
  closedAt: Date | null
  closedUntil: Date | null
  reason: string | null
  failures: number
  closures: number
  probeJobId: string | null
  probeUntil: Date | null
  ratePerSecond: number | null
  milliTokens: number
  tokensAt: Date
  lastSuccessAt: Date | null
  lastFailureAt: Date | null
  updatedAt: Date
}

export interface PurchaseOrderRow {
  tenantId: string
  id: string
  number: number | null
  supplierId: string
  propertyId: string
  bookId: string
  locationId: string | null
  expectedOn: string | null
  currency: string
  total: number
  notes: string
  status: 'approved' | 'cancelled' | 'closed' | 'draft' | 'partly_received' | 'received'
  createdBy: string
  editedBy: string
  approvedBy: string | null
  selfApproved: boolean
  approvedAt: Date | null
  sentAt: Date | null
  closeReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  editors: string[]
}

export interface PurchaseOrderLineRow {
  tenantId: string
  id: string
  purchaseOrderId: string
  lineNo: number
  inventoryItemId: string | null
  measure: string | null
  numerator: string
  denominator: string
  description: string
  accountId: string | null
  entered: string
  quantity: string
  unitPrice: number
  amount: number
  received: string
  billed: string
}

export interface PurchaseReceiptRow {
  tenantId: string
  id: string
  purchaseOrderLineId: string
  movementLineId: string
  quantity: string
  value: number
  billed: string
  billedValue: number
  position: number
  createdAt: Date
}

export interface QueueControlRow {
  id: string
  scope: string
  queue: string | null
  kind: string | null
  tenantId: string | null
  provider: string | null
  paused: boolean
  until: Date | null
  reason: string
  actor: unknown
  createdAt: Date
}

export interface QueueMinuteRow {
  minute: Date
  queue: string
  done: number
  failed: number
  pending: number
  running: number
  dead: number
  oldestSeconds: number
}

export interface QueueTotalRow {
  queue: string
  class: string
  pending: number
  waiting: number
  dispatched: number
  running: number
  dead: number
  oldestAt: Date | null
  measuredAt: Date
}

export interface QuoteRow {
  tenantId: string
  id: string
  propertyId: string
  number: string
  guestId: string | null
  companyId: string | null
  rooms: unknown
  currency: string
  total: number
  dueNow: number
  promoCode: string | null
  promoCodeId: string | null
  locale: string
  hash: string
  arrival: string
  departure: string
  override: unknown | null
  expiresAt: Date
  createdAt: Date
}

export interface RateCellRow {
  tenantId: string
  ratePlanId: string
  unitTypeId: string
  date: string
  amount: number
}

export interface RateChangeRow {
  tenantId: string
  id: string
  propertyId: string
  status: 'applied' | 'failed' | 'queued' | 'reverted'
  note: string
  items: unknown
  cellCount: number
  skippedCount: number
  revertsId: string | null
  createdBy: string | null
  appliedAt: Date | null
  error: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  seq: number | null
}

export interface RateChangeLevelRow {
  tenantId: string
  id: string
  rateChangeId: string
  position: number
  kind: 'price' | 'restriction'
  ratePlanId: string | null
  unitTypeId: string | null
  dates: string[]
  before: unknown
  after: unknown
  skipped: boolean
}

export interface RatePlanRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: unknown
  description: unknown
  status: 'active' | 'archived'
  parentId: string | null
  derivation: unknown | null
  inheritRestrictions: boolean
  marketSegment: 'complimentary' | 'corporate' | 'government' | 'group' | 'house_use' | 'long_stay' | 'package' | 'transient' | 'wholesale'
  mealPlan: 'all_inclusive' | 'breakfast' | 'full_board' | 'half_board' | 'none'
  includedExtras: unknown
  cancellationPolicyId: string
  noShowPolicyId: string
  depositPolicyId: string | null
  cancellationKind: string
  noShowKind: string
  depositKind: string
  visibility: 'code' | 'private' | 'public'
  bookableFrom: string | null
  bookableUntil: string | null
  stayFrom: string | null
  stayUntil: string | null
  minAdvanceDays: number | null
  maxAdvanceDays: number | null
  minNights: number | null
  maxNights: number | null
  losDiscounts: unknown
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface RatePlanUnitTypeRow {
  tenantId: string
  id: string
  ratePlanId: string
  unitTypeId: string
  standardAmount: number | null
  adults: unknown
  extraAdultAmount: number
  children: unknown
}

export interface ReceiptRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  customerId: string | null
  sourceType: 'bank_line' | 'credit_note' | 'manual' | 'payment' | 'pix'
  sourceId: string
  method: 'bank' | 'card' | 'cash' | 'cheque' | 'credit' | 'other' | 'pix'
  cashAccountId: string | null
  cashSessionId: string | null
  cashMovementId: string | null
  currency: string
  amount: number
  receivedOn: string
  allocated: number
  refundReserved: number
  refunded: number
  available: number
  series: string | null
  number: number | null
  numberPrefix: string
  payer: Buffer | null
  reference: string
  search: string
  status: 'recorded' | 'reversed'
  reversedOn: string | null
  reverseReason: string | null
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  overReturned: number
  overWrittenOff: number
}

export interface ReceiptAllocationRow {
  tenantId: string
  id: string
  receiptId: string
  datedOn: string
  receivableId: string | null
  installmentId: string | null
  targetType: string | null
  targetId: string | null
  principal: number
  interest: number
  fine: number
  discount: number
  fee: number
  withheld: unknown
  withheldTotal: number
  cash: number
  reversesId: string | null
  createdBy: string | null
  position: number
  createdAt: Date
}

export interface ReceiptRefundRow {
  tenantId: string
  id: string
  receiptId: string
  amount: number
  via: 'manual' | 'pix_return' | 'transfer'
  status: 'failed' | 'requested' | 'succeeded'
  requestedOn: string
  endedOn: string | null
  cashAccountId: string | null
  cashTransferId: string | null
  cashMovementId: string | null
  pixReturnId: string | null
  failure: unknown | null
  reason: string
  requestedBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ReceivableRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  customerId: string
  kind: 'invoice' | 'opening' | 'stay'
  billed: boolean
  series: string | null
  number: number | null
  numberPrefix: string
  issuedOn: string
  postingOn: string
  departedOn: string | null
  currency: string
  total: number
  settled: number
  credited: number
  writtenOff: number
  open: number
  status: 'consolidated' | 'credited' | 'draft' | 'issued' | 'issuing' | 'paid' | 'partly_paid' | 'unbilled' | 'void' | 'written_off'
  consolidatedIntoId: string | null
  customerReference: string
  notes: string
  dunningPausedUntil: string | null
  promisedOn: string | null
  creditOverrideBy: string | null
  creditOverrideReason: string | null
  sentAt: Date | null
  sentTo: Buffer | null
  costCenterId: string | null
  createdBy: string | null
  issuedBy: string | null
  postedAt: Date | null
  voidedOn: string | null
  voidReason: string | null
  version: number
  createdAt: Date
  updatedAt: Date
  editors: string[]
}

export interface ReceivableFactRow {
  tenantId: string
  id: string
  receivableId: string
  installmentId: string
  datedOn: string
  type: string
  sourceId: string
  amount: number
  position: number
  createdAt: Date
}

export interface ReceivableHistoryRow {
  tenantId: string
  id: string
  receivableId: string
  command: string
  fromStatus: string | null
  toStatus: string
  changes: unknown
  reason: string | null
  actor: unknown
  requestId: string | null
  position: number
  createdAt: Date
}

export interface ReceivableInstallmentRow {
  tenantId: string
  id: string
  receivableId: string
  seq: number
  dueOn: string
  amount: number
  settled: number
  credited: number
  writtenOff: number
  open: number
  versions: unknown
  replannedSince: string | null
}

export interface ReceivableLineRow {
  tenantId: string
  id: string
  receivableId: string
  lineNo: number
  description: string
  quantity: string
  unitAmount: number
  amount: number
  accountId: string | null
  folioId: string | null
  fromReceivableId: string | null
  live: boolean
  taxCodeId: string | null
  taxAmount: number
  propertyId: string | null
  costCenterId: string | null
}

export interface ReceivableSendingRow {
  tenantId: string
  id: string
  receivableId: string
  channels: string[]
  sealed: Buffer | null
  withPix: boolean
  pixUntil: Date | null
  status: 'failed' | 'handed_over' | 'queued' | 'sent'
  messageIds: string[]
  sentAt: Date | null
  createdBy: string | null
  position: number
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ReceivableSettingsRow {
  tenantId: string
  id: string
  bookId: string
  dunningEnabled: boolean
  dunningSteps: unknown
  dunningMinimum: number
  dunningHour: number
  fineRate: number
  monthlyInterestRate: number
  fiscalAdapter: 'none' | 'sandbox'
  fiscalAutomatic: boolean
  fiscalCodes: unknown
  issRate: number
  fiscalCredentials: Buffer | null
  badDebtAccountId: string | null
  allowanceAccountId: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface RecipeRow {
  tenantId: string
  id: string
  code: string
  name: string
  kind: 'dish' | 'drink' | 'kit' | 'preparation'
  outputItemId: string | null
  rules: unknown
  currentVersion: number
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface RecipeComponentRow {
  tenantId: string
  id: string
  versionId: string
  position: number
  itemId: string | null
  recipeId: string | null
  quantity: number
  measure: string
  baseQuantity: number
  lossRate: number
}

export interface RecipeVersionRow {
  tenantId: string
  id: string
  recipeId: string
  number: number
  yield: number
  createdBy: string | null
  createdAt: Date
}

export interface ReconciliationRow {
  tenantId: string
  id: string
  gatewayAccountId: string
  date: string
  status: 'balanced' | 'exceptions' | 'failed' | 'running'
  provisional: boolean
  openingBalance: number | null
  net: number | null
  closingBalance: number | null
  counts: unknown
  lastRunAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface RecoveryCodeRow {
  id: string
  userId: string
  codeHash: Buffer
  usedAt: Date | null
  createdAt: Date
}

export interface RecurringPayableRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  supplierId: string | null
  name: string
  template: unknown
  every: number
  unit: 'month' | 'week' | 'year'
  day: number | null
  firstOn: string
  endsOn: string | null
  nextOn: string | null
  made: number
  leadDays: number
  pausedUntil: string | null
  submit: boolean
  createdBy: string
  version: number
  createdAt: Date
  updatedAt: Date
  editors: string[]
}

export interface RefundRow {
  tenantId: string
  id: string
  paymentId: string
  gatewayAccountId: string | null
  propertyId: string
  amount: number
  currency: string
  reason: 'cancellation' | 'compensation' | 'dispute' | 'duplicate' | 'error' | 'guest_request' | 'late_payment' | 'other'
  note: string | null
  via: 'gateway' | 'manual' | 'pix_return'
  status: 'failed' | 'processing' | 'requested' | 'succeeded' | 'unknown'
  failure: unknown | null
  requestedBy: unknown
  externalId: string | null
  sentAt: Date | null
  succeededAt: Date | null
  nextReadAt: Date | null
  readCount: number
  version: number
  createdAt: Date
  updatedAt: Date
  cashAccountId: string | null
  cashSessionId: string | null
}

export interface RegistrationReportRow {
  tenantId: string
  id: string
  registrationId: string
  kind: 'cancellation' | 'check_in' | 'check_out' | 'registration'
  formVersion: number
  status: 'accepted' | 'queued' | 'rejected' | 'superseded' | 'unknown'
  requestId: string
  externalId: string | null
  error: string | null
  sentAt: Date | null
  answeredAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface RegistrationSecretRow {
  tenantId: string
  id: string
  propertyId: string
  sealed: Buffer
  createdAt: Date
  updatedAt: Date
}

export interface RelayTurnRow {
  queue: string
  class: string
  tenantId: string
}

export interface ReportDriftRow {
  tenantId: string
  id: string
  propertyId: string
  report: string
  from: string
  to: string
  foundAt: Date
}

export interface ReportFileRow {
  tenantId: string
  id: string
  reportRunId: string
  part: number
  bytes: Buffer
  size: number
}

export interface ReportNoticeRow {
  id: string
  tenantId: string
  report: string
  name: string
  createdAt: Date
}

export interface ReportRunRow {
  tenantId: string
  id: string
  report: string
  parameters: unknown
  format: 'csv' | 'json' | 'pdf' | 'xlsx'
  locale: 'en' | 'es' | 'pt-BR'
  status: 'expired' | 'failed' | 'queued' | 'running' | 'succeeded'
  createdBy: string
  byKey: boolean
  propertyIds: string[] | null
  ledgerSequence: number | null
  asOf: Date | null
  provisional: boolean | null
  formulaVersion: number
  rows: number
  bytes: number
  sha256: string | null
  fileName: string | null
  errorCode: string | null
  errorMessage: string | null
  startsOn: string | null
  endsOn: string | null
  startedAt: Date | null
  finishedAt: Date | null
  expiresAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  scheduleId: string | null
  slot: string | null
  sharedWith: string[]
  withheld: number
}

export interface ReportScheduleRow {
  tenantId: string
  id: string
  name: string
  report: string
  parameters: unknown
  format: 'csv' | 'json' | 'pdf' | 'xlsx'
  locale: 'en' | 'es' | 'pt-BR'
  trigger: unknown
  propertyId: string | null
  recipients: string[]
  ownerId: string
  createdBy: string
  active: boolean
  nextRunAt: Date | null
  closedOn: string | null
  lastRunId: string | null
  failures: number
  disabledBecause: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ReservationRow {
  tenantId: string
  id: string
  bookingId: string
  position: number
  propertyId: string
  status: 'cancelled' | 'checked_in' | 'checked_out' | 'confirmed' | 'expired' | 'held' | 'no_show'
  unitTypeId: string
  ratePlanId: string
  arrival: string
  departure: string
  adults: number
  childrenAges: number[]
  primaryGuestId: string | null
  policies: unknown
  guarantee: 'channel' | 'company' | 'deposit' | 'method' | 'none'
  currency: string
  roomTotal: number
  extrasTotal: number
  taxTotal: number
  total: number
  arrivalTime: string | null
  departureTime: string | null
  purpose: 'business' | 'event' | 'health' | 'leisure' | 'other' | 'study' | null
  marketSegment: string
  requests: Buffer | null
  channelManaged: boolean
  overbooked: boolean
  actualCheckInAt: Date | null
  actualCheckOutAt: Date | null
  checkInBusinessDate: string | null
  checkOutBusinessDate: string | null
  confirmedAt: Date | null
  cancelReason: 'changed_plans' | 'deposit_unpaid' | 'duplicate' | 'force_majeure' | 'found_other' | 'guest_request' | 'guest_unreachable' | 'illness' | 'other' | 'overbooked_relocated' | 'payment_failed' | 'privacy' | 'property_fault' | 'test' | 'transport' | 'visa' | 'weather' | null
  cancelledAt: Date | null
  feeAmount: number | null
  feeRequestedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  postedTotal: number
}

export interface ReservationEventRow {
  tenantId: string
  id: string
  reservationId: string
  transition: string
  command: string
  from: string | null
  to: string
  changes: unknown
  reason: string | null
  override: unknown | null
  actor: unknown
  businessDate: string | null
  at: Date
  requestId: string
  propertyId: string | null
}

export interface ReservationExtraRow {
  tenantId: string
  id: string
  reservationId: string
  extraId: string
  name: string
  basis: 'per_night' | 'per_person' | 'per_person_per_night' | 'per_stay' | 'per_unit'
  quantity: number
  from: string
  until: string
  unitAmount: number
  amount: number
  taxes: unknown
  status: 'active' | 'cancelled'
  version: number
  createdAt: Date
  updatedAt: Date
  chargedUntil: string | null
  cut: unknown | null
}

export interface ReservationGuestRow {
  tenantId: string
  id: string
  reservationId: string
  guestId: string
  role: 'companion' | 'primary'
  age: number | null
  responsibleId: string | null
  kinship: string | null
  authorisationDocumentId: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface ReservationNightRow {
  tenantId: string
  id: string
  reservationId: string
  date: string
  unitTypeId: string
  ratePlanId: string
  amount: number
  taxes: unknown
  components: unknown
  status: 'charged' | 'open' | 'released' | 'waived'
  commission: number | null
  pickedUp: boolean
}

export interface ReservationNoteRow {
  tenantId: string
  id: string
  reservationId: string
  audience: 'all' | 'billing' | 'front_desk' | 'housekeeping' | 'relations'
  alert: 'booking' | 'check_in' | 'check_out' | 'none'
  sealed: Buffer
  createdBy: unknown
  createdAt: Date
}

export interface RestrictionCellRow {
  tenantId: string
  id: string
  propertyId: string
  unitTypeId: string | null
  ratePlanId: string | null
  date: string
  stopSell: boolean | null
  closedToArrival: boolean | null
  closedToDeparture: boolean | null
  minStayArrival: number | null
  maxStayArrival: number | null
  minStayThrough: number | null
  maxStayThrough: number | null
  minAdvanceDays: number | null
  maxAdvanceDays: number | null
}

export interface RoleRow {
  tenantId: string
  id: string
  key: string
  name: string
  description: string
  permissions: unknown
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface SandboxObjectRow {
  id: string
  kind: string
  accountRef: string
  ourId: string | null
  state: unknown
  dueAt: Date | null
  createdAt: Date
}

export interface ScheduleRow {
  kind: string
  everySeconds: number | null
  cron: string | null
  timeZone: string
  backfill: 'all' | 'last' | 'none'
  nextAt: Date
  lastAt: Date | null
  misses: number
  updatedAt: Date
}

export interface SeasonRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: string
  colour: string
}

export interface SeasonRangeRow {
  tenantId: string
  id: string
  seasonId: string
  propertyId: string
  from: string
  to: string
}

export interface SessionRow {
  id: string
  userId: string
  kind: 'api' | 'dashboard' | 'support'
  tokenPrefix: string
  generation: number
  currentJtiHash: Buffer
  previousJtiHash: Buffer | null
  rotatedAt: Date | null
  epoch: number
  activeTenantId: string | null
  expiresAt: Date
  absoluteExpiresAt: Date
  reauthenticatedAt: Date | null
  mfaAt: Date | null
  lastSeenAt: Date
  firstIp: string | null
  lastIp: string | null
  userAgent: string
  createdAt: Date
  revokedAt: Date | null
  revokeReason: 'admin' | 'all' | 'email' | 'level_ended' | 'locked' | 'mfa' | 'password' | 'reuse' | 'sign_out' | 'support_ended' | 'too_many' | 'user' | null
  version: number
  changedAt: Date
  supportSessionId: string | null
  supportMode: string | null
  supportAsUserId: string | null
}

export interface SignInFailureRow {
  id: number
  accountKey: Buffer
  network: string
  address: string
  at: Date
}

export interface StatementMatchRow {
  tenantId: string
  id: string
  lineId: string
  cashMovementId: string
  amount: number
  made: boolean
  createdBy: string | null
  createdAt: Date
  undoneAt: Date | null
  undoneBy: string | null
}

export interface StaySumRow {
  tenantId: string
  id: string
  propertyId: string
  dimension: 'agency' | 'all' | 'channel' | 'company' | 'country' | 'ratePlan' | 'segment' | 'source' | 'unitType'
  date: string
  key: string
  arrivals: number
  cancelled: number
  noShows: number
  leadDays: number
  departed: number
  departedNights: number
}

export interface StaySumChangeRow {
  tenantId: string
  id: string
  propertyId: string
  date: string
}

export interface StaySumDayRow {
  tenantId: string
  id: string
  propertyId: string
  date: string
}

export interface StrandedStayRow {
  tenantId: string
  id: string
  reservationId: string
  unitPoolId: string
  from: string
  to: string
  since: Date
}

export interface SubscriptionRow {
  tenantId: string
  plan: string
  planVersionId: string
  anchorDay: number
  periodStart: string
  periodEnd: string
  paymentMethod: unknown | null
  action: unknown | null
  pastDueSince: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  methodRef: string | null
  customerRef: string | null
  cardToken: Buffer | null
  returnUrl: string | null
  methodNo: number
  formerPlanVersionId: string | null
  planChangedAt: Date | null
}

export interface SubscriptionInvoiceRow {
  id: string
  tenantId: string
  number: string | null
  status: 'issued' | 'paid' | 'void'
  currency: string
  periodStart: string
  periodEnd: string
  customer: unknown
  total: number
  issuedAt: Date
  dueOn: string
  paidAt: Date | null
  paidOutside: unknown | null
  voidedAt: Date | null
  reason: string | null
  overdueAt: Date | null
}

export interface SubscriptionInvoiceLineRow {
  id: string
  tenantId: string
  invoiceId: string
  place: number
  kind: 'add_on' | 'adjustment' | 'carried' | 'plan' | 'usage'
  subjectId: string
  description: string
  fromOn: string
  toOn: string
  quantity: number
  unitPrice: string | null
  amount: number
  priceId: string | null
}

export interface SubscriptionItemRow {
  id: string
  tenantId: string
  addOnId: string
  priceId: string
  startsAt: Date
  endsAt: Date | null
  usageBefore: number
  usageAtEnd: number | null
  boughtBy: string | null
  endedBy: string | null
}

export interface SuperuserAccountRow {
  id: string
  userId: string
  level: 'N1' | 'N2'
  grantedBy: string | null
  reason: string
  since: Date
  endedAt: Date | null
}

export interface SupplierRow {
  tenantId: string
  id: string
  legalName: string
  tradeName: string
  countryCode: string
  document: string | null
  search: string
  stateRegistration: string
  cityRegistration: string
  sealed: Buffer | null
  termDays: number
  accountId: string | null
  costCenterId: string | null
  withholdingTaxCodeIds: string[]
  paymentsBlocked: boolean
  blockReason: string | null
  status: 'active' | 'archived'
  notes: string
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface SupplierBankDetailsRow {
  tenantId: string
  id: string
  supplierId: string
  number: number
  sealed: Buffer
  thirdPartyReason: string | null
  status: 'approved' | 'proposed' | 'rejected' | 'replaced'
  proposedBy: string
  decidedBy: string | null
  decidedAt: Date | null
  usableFrom: Date | null
  selfApproved: boolean
  note: string | null
  createdAt: Date
}

export interface SupplierCreditRow {
  tenantId: string
  id: string
  bookId: string
  propertyId: string | null
  supplierId: string | null
  payeeName: string | null
  payeeDocument: string | null
  payeeKey: string
  kind: 'advance' | 'credit_note'
  payableId: string | null
  number: string | null
  issuedOn: string
  currency: string
  amount: number
  applied: number
  refunded: number
  available: number
  lines: unknown
  status: 'open' | 'void'
  note: string
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface SupplierCreditFactRow {
  tenantId: string
  id: string
  supplierCreditId: string
  datedOn: string
  type: 'applied' | 'refunded' | 'restored' | 'voided'
  sourceId: string
  cashMovementId: string | null
  amount: number
  position: number
  createdAt: Date
}

export interface SupportSessionRow {
  id: string
  tenantId: string
  superuserId: string
  asUserId: string | null
  mode: 'read' | 'write'
  reason: string
  startedAt: Date
  expiresAt: Date
  endedAt: Date | null
  endedBy: string | null
  endCause: 'consent_withdrawn' | 'ended' | 'expired' | 'level_ended' | 'signed_out' | 'tenant_deleted' | null
}

export interface SuppressionRow {
  tenantId: string
  id: string
  kind: 'email' | 'sms' | 'whatsapp'
  addressIndex: Buffer
  address: Buffer | null
  scope: 'all' | 'marketing'
  cause: 'complaint' | 'hard_bounce' | 'invalid' | 'manual' | 'stop' | 'unsubscribe'
  messageId: string | null
  createdBy: string | null
  liftedAt: Date | null
  liftedBy: string | null
  liftReason: string | null
  createdAt: Date
  version: number
  updatedAt: Date
  lifted: boolean
}

export interface TaxAssessmentRow {
  tenantId: string
  id: string
  bookId: string
  taxCodeId: string
  periodId: string
  propertyId: string | null
  number: number
  base: number
  rate: number
  tax: number
  delta: number
  entryId: string
  createdAt: Date
}

export interface TaxCodeRow {
  tenantId: string
  id: string
  bookId: string
  kind: 'document' | 'period' | 'withheld_by_customers' | 'withheld_from_suppliers'
  code: string
  name: string
  liabilityAccountId: string
  contraAccountId: string | null
  sections: string[]
  payeeName: string | null
  dueDay: number | null
  active: boolean
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface TaxRateRow {
  tenantId: string
  id: string
  taxCodeId: string
  rate: number
  validFrom: string
  validTo: string | null
  createdAt: Date
}

export interface TaxRuleRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: unknown
  kind: 'fee' | 'tax'
  basis: 'per_night' | 'per_person_per_night' | 'per_stay' | 'percent'
  rate: number | null
  amount: number | null
  included: boolean
  appliesTo: string
  exemptAgeCategoryIds: string[]
  maxNights: number | null
  validFrom: string
  validTo: string | null
  accountId: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface TenantRow {
  id: string
  name: string
  legalName: string | null
  document: string | null
  billingEmail: string
  billingAddress: unknown | null
  country: string
  currency: string
  timeZone: string
  locale: string
  status: 'active' | 'deleted' | 'deleting' | 'suspended'
  reason: string | null
  deleteAfter: string | null
  features: string[]
  featuresValidUntil: Date | null
  entitlementsVersion: number
  plan: 'Enterprise' | 'Professional' | 'Starter'
  settings: unknown
  version: number
  createdAt: Date
  updatedAt: Date
  provisioned: string | null
}

export interface TenantExportRow {
  id: string
  tenantId: string
  status: 'expired' | 'failed' | 'queued' | 'ready' | 'running'
  reason: string
  parts: number
  bytes: number
  records: number
  sha256: string | null
  tableName: string | null
  tablesDone: number
  tables: number
  error: string | null
  requestedBy: string | null
  createdAt: Date
  updatedAt: Date
  readyAt: Date | null
  expiresAt: Date | null
}

export interface TenantExportPartRow {
  tenantId: string
  exportId: string
  number: number
  bytes: Buffer
}

export interface TenantKeyRow {
  tenantId: string
  wrappedKey: Buffer
  masterKeyId: string
  createdAt: Date
}

export interface TenantMoveRow {
  tenantId: string
  direction: 'in' | 'out'
  ticketId: string
  receiptHash: Buffer | null
  indexKey: Buffer | null
  masterKeyId: string | null
  movedAt: Date
}

export interface TenantPurgeRow {
  tenantId: string
  place: number
  tableName: string
  deleted: number
  doneAt: Date | null
}

export interface TenantTicketRow {
  id: string
  publicKey: Buffer
  privateKey: Buffer | null
  state: 'open' | 'used' | 'withdrawn'
  movedTenant: string | null
  createdAt: Date
  endedAt: Date | null
}

export interface UnitRow {
  tenantId: string
  id: string
  propertyId: string
  name: string
  building: string | null
  floor: number | null
  position: number
  unitTypeId: string
  unitPoolId: string
  attributes: string[]
  activeFrom: string
  activeUntil: string | null
  condition: 'clean' | 'cleaning' | 'dirty' | 'inspected' | 'pickup'
  conditionAt: Date | null
  conditionBy: string | null
  lastCleanedAt: Date | null
  lastDeepCleanAt: Date | null
  doNotDisturb: boolean
  makeUpRequested: boolean
  serviceRefused: unknown | null
  observedOccupancy: 'occupied' | 'vacant' | null
  observedAt: Date | null
  observedBy: string | null
  credits: number
  notes: string
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
  discrepancyOn: string | null
  rolledOn: string | null
}

export interface UnitAssignmentRow {
  tenantId: string
  id: string
  unitId: string
  reservationId: string | null
  unitBlockId: string | null
  during: string
  status: 'blocked' | 'ended' | 'locked' | 'occupied' | 'proposed' | 'released'
  createdAt: Date
  updatedAt: Date
  startsOn: string | null
  endsOn: string | null
  propertyId: string | null
}

export interface UnitBlockRow {
  tenantId: string
  id: string
  propertyId: string
  unitIds: string[]
  kind: 'out_of_order' | 'out_of_service'
  reason: 'damage' | 'deep_cleaning' | 'inspection' | 'maintenance' | 'other' | 'owner_use' | 'renovation' | 'staff_use'
  note: string
  from: string
  to: string
  issueId: string | null
  status: 'cancelled' | 'ended' | 'open'
  version: number
  createdAt: Date
  updatedAt: Date
  cancelReason: string | null
}

export interface UnitBlockStayRow {
  tenantId: string
  id: string
  unitBlockId: string
  reservationId: string
  unitId: string
  displaced: boolean
  at: Date
}

export interface UnitBlockUnitRow {
  tenantId: string
  id: string
  unitBlockId: string
  unitId: string
}

export interface UnitPoolRow {
  tenantId: string
  id: string
  propertyId: string
  name: string
  kind: 'extra' | 'unit'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface UnitTypeRow {
  tenantId: string
  id: string
  propertyId: string
  code: string
  name: unknown
  description: unknown
  kind: 'entire' | 'private' | 'shared'
  baseOccupancy: number
  maxAdults: number
  maxChildren: number
  maxOccupancy: number
  beds: unknown
  sizeM2: string | null
  amenities: string[]
  position: number
  bookable: boolean
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface UnitTypePoolRow {
  tenantId: string
  id: string
  unitTypeId: string
  unitPoolId: string
  quantity: number
}

export interface UsageDayRow {
  tenantId: string
  meter: string
  day: string
  quantity: number
}

export interface UsageEventRow {
  tenantId: string
  meter: string
  key: string
  quantity: number
  at: Date
}

export interface UserMailRow {
  id: string
  userId: string
  kind: string
  referenceId: string
  status: 'failed' | 'queued' | 'sent'
  createdAt: Date
  sentAt: Date | null
  act: string | null
  address: string | null
}

export interface WaitlistEntryRow {
  tenantId: string
  id: string
  propertyId: string
  guestId: string | null
  sealed: Buffer | null
  arrival: string
  departure: string
  flexibleDays: number
  rooms: number
  unitTypeIds: string[]
  ratePlanId: string | null
  adults: number
  childrenAges: number[]
  priority: number
  status: 'booked' | 'closed' | 'waiting'
  matchedAt: Date | null
  bookingId: string | null
  closeReason: string | null
  closedAt: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
  matched: boolean
}

export interface WebhookAttemptRow {
  tenantId: string
  webhookDeliveryId: string
  eventAt: Date
  number: number
  at: Date
  durationMs: number
  httpStatus: number | null
  error: 'address_refused' | 'connect_failed' | 'redirect' | 'timeout' | 'tls_failed' | 'too_large' | null
  excerpt: string | null
}

export interface WebhookDeliveryRow {
  tenantId: string
  id: string
  webhookEndpointId: string
  eventId: string
  eventAt: Date
  sequence: number
  type: string
  propertyId: string | null
  replayId: string | null
  status: 'dead' | 'delivered' | 'dropped' | 'pending'
  attempts: number
  lastNumber: number
  dueAt: Date
  sendingUntil: Date | null
  lastAttemptAt: Date | null
  deliveredAt: Date | null
  createdAt: Date
}

export interface WebhookEndpointRow {
  tenantId: string
  id: string
  url: string
  description: string
  types: string[]
  subjects: string[]
  propertyIds: string[]
  status: 'active' | 'paused'
  secret: Buffer
  previousSecret: Buffer | null
  previousUntil: Date | null
  pausedCause: 'command' | 'failing' | 'gone' | null
  pausedBy: string | null
  pausedReason: string | null
  pausedAfterSequence: number | null
  pingNo: number
  ping: unknown | null
  createdBy: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

export interface WebhookHealthRow {
  tenantId: string
  id: string
  failures: number
  failingSince: Date | null
  warnedAt: Date | null
  lastSuccessAt: Date | null
  lastStatus: number | null
  lastError: string | null
}

export interface WebhookReplayRow {
  tenantId: string
  id: string
  webhookEndpointId: string
  fromSequence: number
  toSequence: number
  types: string[] | null
  cursor: number
  status: 'cancelled' | 'done' | 'running'
  events: number
  createdBy: string | null
  createdAt: Date
  isMissed: boolean
}

export interface WebhookSlotRow {
  tenantId: string
  id: string
  webhookEndpointId: string
  host: string
  until: Date
}

export interface WebhookWarningRow {
  id: string
  tenantId: string
  webhookEndpointId: string
  host: string
  kind: 'failing' | 'paused'
  since: Date
  createdAt: Date
}

export interface WorkerHeartbeatRow {
  id: string
  process: 'relay' | 'scheduler' | 'worker'
  host: string
  pid: number
  version: string
  queues: unknown
  running: number
  loopLagMs: number
  startedAt: Date
  beatAt: Date
  name: string
  current: unknown
}

export interface WriteOffRow {
  tenantId: string
  id: string
  receivableId: string
  amount: number
  accountId: string
  reason: string
  writtenOffBy: string
  selfApproved: boolean
  datedOn: string
  reinstatedOn: string | null
  reinstatedBy: string | null
  reinstateReason: string | null
  version: number
  createdAt: Date
}

/** The row type of each table, by the table's name. */
export interface Rows {
  account: AccountRow
  account_balance: AccountBalanceRow
  accrual_schedule: AccrualScheduleRow
  add_on: AddOnRow
  add_on_price: AddOnPriceRow
  age_category: AgeCategoryRow
  amendment: AmendmentRow
  announcement: AnnouncementRow
  api_key: ApiKeyRow
  api_key_property: ApiKeyPropertyRow
  api_key_warning: ApiKeyWarningRow
  app_user: AppUserRow
  approval_policy: ApprovalPolicyRow
  attachment: AttachmentRow
  audit_chain: AuditChainRow
  audit_day: AuditDayRow
  audit_entry: AuditEntryRow
  automation: AutomationRow
  balance_transaction: BalanceTransactionRow
  bank_statement: BankStatementRow
  bank_statement_line: BankStatementLineRow
  billing_adjustment: BillingAdjustmentRow
  billing_run: BillingRunRow
  billing_series: BillingSeriesRow
  blob: BlobRow
  book: BookRow
  book_tick: BookTickRow
  booking: BookingRow
  booking_group: BookingGroupRow
  booking_group_night: BookingGroupNightRow
  budget: BudgetRow
  budget_line: BudgetLineRow
  business_day: BusinessDayRow
  campaign: CampaignRow
  cash_account: CashAccountRow
  cash_count: CashCountRow
  cash_counterpart: CashCounterpartRow
  cash_movement: CashMovementRow
  cash_session: CashSessionRow
  cash_transfer: CashTransferRow
  channel_booking: ChannelBookingRow
  channel_connection: ChannelConnectionRow
  channel_dirty: ChannelDirtyRow
  channel_mapping: ChannelMappingRow
  channel_push: ChannelPushRow
  company: CompanyRow
  compensation: CompensationRow
  conversation: ConversationRow
  cost_center: CostCenterRow
  credit_note: CreditNoteRow
  credit_note_line: CreditNoteLineRow
  customer: CustomerRow
  deposit: DepositRow
  dispatch_epoch: DispatchEpochRow
  dispute: DisputeRow
  dunning_notice: DunningNoticeRow
  dunning_run: DunningRunRow
  entitlement_grant: EntitlementGrantRow
  entry_draft: EntryDraftRow
  entry_template: EntryTemplateRow
  event: EventRow
  event_head: EventHeadRow
  exchange_rate: ExchangeRateRow
  external_call: ExternalCallRow
  extra: ExtraRow
  extra_sum: ExtraSumRow
  feature: FeatureRow
  finance_notice: FinanceNoticeRow
  fiscal_document: FiscalDocumentRow
  fiscal_exchange: FiscalExchangeRow
  fiscal_period: FiscalPeriodRow
  fiscal_year: FiscalYearRow
  folio: FolioRow
  folio_line: FolioLineRow
  folio_route: FolioRouteRow
  gallery_image: GalleryImageRow
  gateway_account: GatewayAccountRow
  gateway_balance_day: GatewayBalanceDayRow
  gateway_callback: GatewayCallbackRow
  guest: GuestRow
  guest_access_code: GuestAccessCodeRow
  guest_block: GuestBlockRow
  guest_consent: GuestConsentRow
  guest_document: GuestDocumentRow
  guest_document_file: GuestDocumentFileRow
  guest_duplicate: GuestDuplicateRow
  guest_key: GuestKeyRow
  guest_merge: GuestMergeRow
  guest_note: GuestNoteRow
  guest_registration: GuestRegistrationRow
  guest_word: GuestWordRow
  hold_strike: HoldStrikeRow
  housekeeping_sheet: HousekeepingSheetRow
  housekeeping_task: HousekeepingTaskRow
  integrity_run: IntegrityRunRow
  inventory_category: InventoryCategoryRow
  inventory_consumption: InventoryConsumptionRow
  inventory_consumption_line: InventoryConsumptionLineRow
  inventory_count: InventoryCountRow
  inventory_count_counter: InventoryCountCounterRow
  inventory_count_line: InventoryCountLineRow
  inventory_item: InventoryItemRow
  inventory_level: InventoryLevelRow
  inventory_location: InventoryLocationRow
  inventory_movement: InventoryMovementRow
  inventory_movement_line: InventoryMovementLineRow
  inventory_set: InventorySetRow
  inventory_shortage: InventoryShortageRow
  inventory_stock: InventoryStockRow
  inventory_stock_month: InventoryStockMonthRow
  inventory_use: InventoryUseRow
  invoice_payment: InvoicePaymentRow
  issue: IssueRow
  issue_category: IssueCategoryRow
  issue_comment: IssueCommentRow
  issue_event: IssueEventRow
  issue_notice: IssueNoticeRow
  issue_number: IssueNumberRow
  job_archive: JobArchiveRow
  jobs: JobsRow
  journal: JournalRow
  journal_entry: JournalEntryRow
  journal_line: JournalLineRow
  journal_seal: JournalSealRow
  journal_text: JournalTextRow
  kept_reply: KeptReplyRow
  known_network: KnownNetworkRow
  list_count: ListCountRow
  lost_item: LostItemRow
  membership: MembershipRow
  membership_property: MembershipPropertyRow
  message: MessageRow
  message_attempt: MessageAttemptRow
  message_callback: MessageCallbackRow
  message_channel: MessageChannelRow
  message_template: MessageTemplateRow
  message_template_version: MessageTemplateVersionRow
  night_audit: NightAuditRow
  night_audit_checkpoint: NightAuditCheckpointRow
  night_fact: NightFactRow
  night_sum: NightSumRow
  notice: NoticeRow
  number_jump: NumberJumpRow
  number_series: NumberSeriesRow
  on_the_books_change: OnTheBooksChangeRow
  on_the_books_sum: OnTheBooksSumRow
  on_the_books_waiting: OnTheBooksWaitingRow
  one_time_token: OneTimeTokenRow
  outlet: OutletRow
  outlet_price: OutletPriceRow
  password_request: PasswordRequestRow
  payable: PayableRow
  payable_approval: PayableApprovalRow
  payable_fact: PayableFactRow
  payable_history: PayableHistoryRow
  payable_installment: PayableInstallmentRow
  payable_line: PayableLineRow
  payable_payment: PayablePaymentRow
  payable_payment_item: PayablePaymentItemRow
  payable_withholding: PayableWithholdingRow
  payment: PaymentRow
  payment_allocation: PaymentAllocationRow
  payment_exception: PaymentExceptionRow
  payment_history: PaymentHistoryRow
  payment_method: PaymentMethodRow
  payout: PayoutRow
  pix_charge: PixChargeRow
  pix_connection: PixConnectionRow
  pix_key: PixKeyRow
  pix_receipt: PixReceiptRow
  pix_return: PixReturnRow
  plan_version: PlanVersionRow
  platform_count: PlatformCountRow
  policy: PolicyRow
  policy_version: PolicyVersionRow
  pool_night: PoolNightRow
  pos_order: PosOrderRow
  pos_order_line: PosOrderLineRow
  pos_order_number: PosOrderNumberRow
  pos_settlement: PosSettlementRow
  posting_event: PostingEventRow
  posting_rule: PostingRuleRow
  price_tax_sum: PriceTaxSumRow
  privacy_checkpoint: PrivacyCheckpointRow
  privacy_request: PrivacyRequestRow
  promo_code: PromoCodeRow
  property: PropertyRow
  property_day: PropertyDayRow
  property_day_count: PropertyDayCountRow
  property_directory: PropertyDirectoryRow
  property_payment_method: PropertyPaymentMethodRow
  provider_gate: ProviderGateRow
  purchase_order: PurchaseOrderRow
  purchase_order_line: PurchaseOrderLineRow
  purchase_receipt: PurchaseReceiptRow
  queue_control: QueueControlRow
  queue_minute: QueueMinuteRow
  queue_total: QueueTotalRow
  quote: QuoteRow
  rate_cell: RateCellRow
  rate_change: RateChangeRow
  rate_change_level: RateChangeLevelRow
  rate_plan: RatePlanRow
  rate_plan_unit_type: RatePlanUnitTypeRow
  receipt: ReceiptRow
  receipt_allocation: ReceiptAllocationRow
  receipt_refund: ReceiptRefundRow
  receivable: ReceivableRow
  receivable_fact: ReceivableFactRow
  receivable_history: ReceivableHistoryRow
  receivable_installment: ReceivableInstallmentRow
  receivable_line: ReceivableLineRow
  receivable_sending: ReceivableSendingRow
  receivable_settings: ReceivableSettingsRow
  recipe: RecipeRow
  recipe_component: RecipeComponentRow
  recipe_version: RecipeVersionRow
  reconciliation: ReconciliationRow
  recovery_code: RecoveryCodeRow
  recurring_payable: RecurringPayableRow
  refund: RefundRow
  registration_report: RegistrationReportRow
  registration_secret: RegistrationSecretRow
  relay_turn: RelayTurnRow
  report_drift: ReportDriftRow
  report_file: ReportFileRow
  report_notice: ReportNoticeRow
  report_run: ReportRunRow
  report_schedule: ReportScheduleRow
  reservation: ReservationRow
  reservation_event: ReservationEventRow
  reservation_extra: ReservationExtraRow
  reservation_guest: ReservationGuestRow
  reservation_night: ReservationNightRow
  reservation_note: ReservationNoteRow
  restriction_cell: RestrictionCellRow
  role: RoleRow
  sandbox_object: SandboxObjectRow
  schedule: ScheduleRow
  season: SeasonRow
  season_range: SeasonRangeRow
  session: SessionRow
  sign_in_failure: SignInFailureRow
  statement_match: StatementMatchRow
  stay_sum: StaySumRow
  stay_sum_change: StaySumChangeRow
  stay_sum_day: StaySumDayRow
  stranded_stay: StrandedStayRow
  subscription: SubscriptionRow
  subscription_invoice: SubscriptionInvoiceRow
  subscription_invoice_line: SubscriptionInvoiceLineRow
  subscription_item: SubscriptionItemRow
  superuser_account: SuperuserAccountRow
  supplier: SupplierRow
  supplier_bank_details: SupplierBankDetailsRow
  supplier_credit: SupplierCreditRow
  supplier_credit_fact: SupplierCreditFactRow
  support_session: SupportSessionRow
  suppression: SuppressionRow
  tax_assessment: TaxAssessmentRow
  tax_code: TaxCodeRow
  tax_rate: TaxRateRow
  tax_rule: TaxRuleRow
  tenant: TenantRow
  tenant_export: TenantExportRow
  tenant_export_part: TenantExportPartRow
  tenant_key: TenantKeyRow
  tenant_move: TenantMoveRow
  tenant_purge: TenantPurgeRow
  tenant_ticket: TenantTicketRow
  unit: UnitRow
  unit_assignment: UnitAssignmentRow
  unit_block: UnitBlockRow
  unit_block_stay: UnitBlockStayRow
  unit_block_unit: UnitBlockUnitRow
  unit_pool: UnitPoolRow
  unit_type: UnitTypeRow
  unit_type_pool: UnitTypePoolRow
  usage_day: UsageDayRow
  usage_event: UsageEventRow
  user_mail: UserMailRow
  waitlist_entry: WaitlistEntryRow
  webhook_attempt: WebhookAttemptRow
  webhook_delivery: WebhookDeliveryRow
  webhook_endpoint: WebhookEndpointRow
  webhook_health: WebhookHealthRow
  webhook_replay: WebhookReplayRow
  webhook_slot: WebhookSlotRow
  webhook_warning: WebhookWarningRow
  worker_heartbeat: WorkerHeartbeatRow
  write_off: WriteOffRow
}

/**
 * The columns of each table, by the table's name. `documents` are JSON; `filled` have a default; `nullable` have none and may be null;
 * `computed` are generated from others.
 */
export const tables = {
  account: {
    fields: ['tenantId', 'id', 'bookId', 'code', 'name', 'class', 'side', 'parentId', 'postable', 'control', 'role', 'section', 'cashFlow', 'usaliCode', 'referentialCode', 'currency', 'status', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'usaliCode', 'referentialCode', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['parentId', 'control', 'role', 'section', 'cashFlow'],
    computed: [],
  },
  account_balance: {
    fields: ['tenantId', 'id', 'bookId', 'accountId', 'propertyId', 'periodId', 'debit', 'credit', 'lineCount', 'costCenterId'],
    documents: [],
    filled: ['tenantId', 'id', 'debit', 'credit', 'lineCount'],
    nullable: ['propertyId', 'costCenterId'],
    computed: [],
  },
  accrual_schedule: {
    fields: ['tenantId', 'id', 'bookId', 'kind', 'sourceAccountId', 'targetAccountId', 'amount', 'firstMonth', 'months', 'assetNumber', 'assetAccountId', 'assetCost', 'assetResidual', 'propertyId', 'costCenterId', 'description', 'posted', 'postedMonths', 'nextOn', 'status', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'posted', 'postedMonths', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['assetNumber', 'assetAccountId', 'assetCost', 'assetResidual', 'propertyId', 'costCenterId', 'nextOn'],
    computed: [],
  },
  add_on: {
    fields: ['id', 'key', 'name', 'description', 'feature', 'billingType', 'meter', 'plans', 'onSale', 'version', 'createdAt', 'updatedAt'],
    documents: ['name', 'description'],
    filled: ['id', 'plans', 'onSale', 'version', 'createdAt', 'updatedAt'],
    nullable: ['meter'],
    computed: [],
  },
  add_on_price: {
    fields: ['id', 'addOnId', 'number', 'effectiveFrom', 'prices', 'createdBy', 'createdAt', 'applyToHolders'],
    documents: ['prices'],
    filled: ['id', 'effectiveFrom', 'createdAt', 'applyToHolders'],
    nullable: ['createdBy'],
    computed: [],
  },
  age_category: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'minAge', 'maxAge', 'kind', 'countsInOccupancy'],
    documents: ['name'],
    filled: ['tenantId', 'id'],
    nullable: ['maxAge'],
    computed: [],
  },
  amendment: {
    fields: ['tenantId', 'id', 'reservationId', 'baseVersion', 'changes', 'reply', 'difference', 'hash', 'expiresAt', 'status', 'version', 'createdAt', 'updatedAt'],
    documents: ['changes', 'reply'],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  announcement: {
    fields: ['id', 'kind', 'title', 'body', 'plans', 'tenantIds', 'startsAt', 'endsAt', 'createdBy', 'createdAt', 'updatedAt'],
    documents: ['title', 'body'],
    filled: ['id', 'plans', 'tenantIds', 'createdAt', 'updatedAt'],
    nullable: ['endsAt', 'createdBy'],
    computed: [],
  },
  api_key: {
    fields: ['tenantId', 'id', 'name', 'keyId', 'hint', 'hash', 'pepperId', 'scopes', 'allProperties', 'cidrs', 'expiresAt', 'createdBy', 'revokedAt', 'revokedBy', 'replacesId', 'lastUsedAt', 'lastUsedIp', 'version', 'createdAt', 'updatedAt', 'changedAt', 'nameReleasedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'allProperties', 'cidrs', 'version', 'createdAt', 'updatedAt', 'changedAt'],
    nullable: ['createdBy', 'revokedAt', 'revokedBy', 'replacesId', 'lastUsedAt', 'lastUsedIp', 'nameReleasedAt'],
    computed: [],
  },
  api_key_property: {
    fields: ['tenantId', 'id', 'apiKeyId', 'propertyId'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  api_key_warning: {
    fields: ['id', 'tenantId', 'apiKeyId', 'days', 'keyName', 'expiresAt', 'createdAt'],
    documents: [],
    filled: ['id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  app_user: {
    fields: ['id', 'email', 'emailKey', 'name', 'locale', 'status', 'passwordHash', 'pepperId', 'emailVerifiedAt', 'passwordChangedAt', 'sessionEpoch', 'totpSecret', 'totpConfirmedAt', 'totpLastStep', 'lastTenantId', 'version', 'createdAt', 'updatedAt', 'totpPendingAt', 'lockedAt', 'lockReason'],
    documents: [],
    filled: ['id', 'locale', 'status', 'sessionEpoch', 'version', 'createdAt', 'updatedAt'],
    nullable: ['passwordHash', 'pepperId', 'emailVerifiedAt', 'passwordChangedAt', 'totpSecret', 'totpConfirmedAt', 'totpLastStep', 'lastTenantId', 'totpPendingAt', 'lockedAt', 'lockReason'],
    computed: [],
  },
  approval_policy: {
    fields: ['tenantId', 'id', 'bookId', 'number', 'bands', 'coolOffHours', 'priceTolerance', 'createdBy', 'createdAt'],
    documents: ['bands'],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['createdBy'],
    computed: [],
  },
  attachment: {
    fields: ['tenantId', 'id', 'module', 'entityType', 'entityId', 'position', 'fileName', 'mediaType', 'bytes', 'sha256', 'blobId', 'createdBy', 'createdAt', 'hiddenBy', 'hiddenAt', 'hideReason'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['position', 'createdBy', 'hiddenBy', 'hiddenAt', 'hideReason'],
    computed: [],
  },
  audit_chain: {
    fields: ['chain', 'seq', 'hash', 'chainedAt', 'verifiedAt', 'verifiedThrough', 'problem'],
    documents: [],
    filled: ['seq', 'hash', 'chainedAt', 'verifiedThrough'],
    nullable: ['verifiedAt', 'problem'],
    computed: [],
  },
  audit_day: {
    fields: ['chain', 'day', 'tenantId', 'n'],
    documents: [],
    filled: [],
    nullable: ['tenantId'],
    computed: [],
  },
  audit_entry: {
    fields: ['id', 'chain', 'tenantId', 'at', 'actorType', 'actorId', 'supportSessionId', 'action', 'subjectType', 'subjectId', 'reason', 'changes', 'requestId', 'jobId', 'address', 'seq', 'previousHash', 'hash'],
    documents: ['changes'],
    filled: ['id', 'at', 'changes'],
    nullable: ['tenantId', 'actorId', 'supportSessionId', 'subjectId', 'reason', 'jobId', 'address', 'seq', 'previousHash', 'hash'],
    computed: [],
  },
  automation: {
    fields: ['tenantId', 'id', 'propertyId', 'name', 'enabled', 'trigger', 'conditions', 'templateId', 'plan', 'validMinutes', 'version', 'createdAt', 'updatedAt'],
    documents: ['trigger', 'conditions', 'plan'],
    filled: ['tenantId', 'id', 'conditions', 'validMinutes', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'plan'],
    computed: [],
  },
  balance_transaction: {
    fields: ['tenantId', 'id', 'gatewayAccountId', 'externalId', 'seq', 'kind', 'gross', 'fee', 'platformFee', 'net', 'currency', 'occurredAt', 'availableAt', 'payoutId', 'sourceRef', 'sourcePaymentRef', 'subjectType', 'subjectId', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'seq', 'createdAt'],
    nullable: ['payoutId', 'sourceRef', 'sourcePaymentRef', 'subjectType', 'subjectId'],
    computed: [],
  },
  bank_statement: {
    fields: ['tenantId', 'id', 'cashAccountId', 'propertyId', 'seq', 'currency', 'format', 'fileName', 'fileHash', 'blobId', 'mapping', 'status', 'firstOn', 'lastOn', 'openingBalance', 'closingBalance', 'givenBalance', 'linesRead', 'linesAdded', 'linesKnown', 'linesSameId', 'linesLeftOut', 'error', 'importedAt', 'reconciledBy', 'reconciledAt', 'reopenReason', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: ['mapping', 'error'],
    filled: ['tenantId', 'id', 'seq', 'status', 'linesRead', 'linesAdded', 'linesKnown', 'linesSameId', 'linesLeftOut', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'blobId', 'mapping', 'firstOn', 'lastOn', 'openingBalance', 'closingBalance', 'givenBalance', 'error', 'importedAt', 'reconciledBy', 'reconciledAt', 'reopenReason', 'createdBy'],
    computed: [],
  },
  bank_statement_line: {
    fields: ['tenantId', 'id', 'bankStatementId', 'cashAccountId', 'propertyId', 'fingerprintHash', 'occurrence', 'position', 'bookedOn', 'amount', 'externalId', 'documentNumber', 'text', 'counterparty', 'endToEndId', 'status', 'ignoreReason', 'sameExternalId', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'sameExternalId', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'externalId', 'documentNumber', 'counterparty', 'endToEndId', 'ignoreReason'],
    computed: [],
  },
  billing_adjustment: {
    fields: ['id', 'tenantId', 'kind', 'amount', 'description', 'reason', 'createdBy', 'invoiceId', 'createdAt'],
    documents: [],
    filled: ['id', 'kind', 'createdAt'],
    nullable: ['createdBy', 'invoiceId'],
    computed: [],
  },
  billing_run: {
    fields: ['id', 'date', 'tenants', 'issued', 'parked', 'createdAt', 'updatedAt'],
    documents: ['parked'],
    filled: ['id', 'tenants', 'issued', 'parked', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  billing_series: {
    fields: ['year', 'lastNumber'],
    documents: [],
    filled: ['lastNumber'],
    nullable: [],
    computed: [],
  },
  blob: {
    fields: ['tenantId', 'id', 'bytes', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  book: {
    fields: ['tenantId', 'id', 'name', 'legalName', 'countryCode', 'document', 'taxRegime', 'currency', 'timeZone', 'fiscalYearStartMonth', 'lockedUntil', 'approvalThreshold', 'singleOperator', 'isDefault', 'active', 'version', 'createdAt', 'updatedAt', 'sealed', 'documentIndex'],
    documents: [],
    filled: ['tenantId', 'id', 'taxRegime', 'fiscalYearStartMonth', 'singleOperator', 'isDefault', 'active', 'version', 'createdAt', 'updatedAt'],
    nullable: ['document', 'lockedUntil', 'approvalThreshold', 'sealed', 'documentIndex'],
    computed: [],
  },
  book_tick: {
    fields: ['tenantId', 'id', 'bookId', 'tickedOn'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  booking: {
    fields: ['tenantId', 'id', 'propertyId', 'number', 'source', 'currency', 'quoteId', 'promoCodeId', 'bookerGuestId', 'sealed', 'emailIndex', 'addressHash', 'acceptedTerms', 'guestTokensValidFrom', 'externalReference', 'credit', 'language', 'holdKind', 'holdExpiresAt', 'holdCapAt', 'holdVersion', 'endedAt', 'version', 'createdAt', 'updatedAt', 'channelConnectionId', 'externalId', 'collectedBy', 'commission', 'groupId', 'groupRowKey', 'companyId', 'agencyId', 'commissionRate', 'promoReturned'],
    documents: ['acceptedTerms'],
    filled: ['tenantId', 'id', 'credit', 'version', 'createdAt', 'updatedAt', 'promoReturned'],
    nullable: ['quoteId', 'promoCodeId', 'bookerGuestId', 'sealed', 'emailIndex', 'addressHash', 'acceptedTerms', 'guestTokensValidFrom', 'externalReference', 'holdKind', 'holdExpiresAt', 'holdCapAt', 'holdVersion', 'endedAt', 'channelConnectionId', 'externalId', 'collectedBy', 'commission', 'groupId', 'groupRowKey', 'companyId', 'agencyId', 'commissionRate'],
    computed: [],
  },
  booking_group: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'number', 'name', 'sealed', 'status', 'arrival', 'departure', 'ratePlanId', 'optionUntil', 'releaseType', 'releaseOn', 'releaseDays', 'masterFolioId', 'routing', 'notes', 'cancelReason', 'version', 'createdAt', 'updatedAt', 'companyId'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'releaseType', 'routing', 'notes', 'version', 'createdAt', 'updatedAt'],
    nullable: ['sealed', 'optionUntil', 'releaseOn', 'releaseDays', 'masterFolioId', 'cancelReason', 'companyId'],
    computed: [],
  },
  booking_group_night: {
    fields: ['tenantId', 'id', 'groupId', 'unitTypeId', 'night', 'allotted', 'pickedUp', 'amount', 'released'],
    documents: [],
    filled: ['tenantId', 'id', 'pickedUp', 'released'],
    nullable: ['amount'],
    computed: [],
  },
  budget: {
    fields: ['tenantId', 'id', 'bookId', 'fiscalYearId', 'propertyId', 'name', 'status', 'createdBy', 'approvedBy', 'approvedAt', 'selfApproved', 'version', 'createdAt', 'updatedAt', 'editors'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'selfApproved', 'version', 'createdAt', 'updatedAt', 'editors'],
    nullable: ['propertyId', 'approvedBy', 'approvedAt'],
    computed: [],
  },
  budget_line: {
    fields: ['tenantId', 'id', 'budgetId', 'bookId', 'accountId', 'costCenterId', 'periodId', 'amount'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: ['costCenterId'],
    computed: [],
  },
  business_day: {
    fields: ['tenantId', 'id', 'propertyId', 'date', 'status', 'openedAt', 'closedAt', 'closedBy', 'totals'],
    documents: ['totals'],
    filled: ['tenantId', 'id', 'status', 'openedAt'],
    nullable: ['closedAt', 'closedBy', 'totals'],
    computed: [],
  },
  campaign: {
    fields: ['tenantId', 'id', 'propertyId', 'name', 'templateId', 'templateNumber', 'plan', 'segment', 'scheduledFor', 'status', 'cursor', 'audience', 'excluded', 'expandedAt', 'launchedBy', 'launchedAt', 'endedAt', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: ['plan', 'segment', 'excluded'],
    filled: ['tenantId', 'id', 'status', 'audience', 'excluded', 'version', 'createdAt', 'updatedAt'],
    nullable: ['templateNumber', 'plan', 'scheduledFor', 'cursor', 'expandedAt', 'launchedBy', 'launchedAt', 'endedAt', 'createdBy'],
    computed: [],
  },
  cash_account: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'kind', 'code', 'name', 'currency', 'ledgerAccountId', 'ispb', 'bankCode', 'branch', 'number', 'holder', 'status', 'balance', 'cleared', 'movementCount', 'blind', 'differenceLimit', 'safeAccountId', 'matchRules', 'csvMapping', 'version', 'createdAt', 'updatedAt'],
    documents: ['matchRules', 'csvMapping'],
    filled: ['tenantId', 'id', 'status', 'balance', 'cleared', 'movementCount', 'blind', 'differenceLimit', 'matchRules', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'ispb', 'bankCode', 'branch', 'number', 'holder', 'safeAccountId', 'csvMapping'],
    computed: [],
  },
  cash_count: {
    fields: ['tenantId', 'id', 'sessionId', 'moment', 'denominations', 'total', 'countedBy', 'createdAt'],
    documents: ['denominations'],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  cash_counterpart: {
    fields: ['tenantId', 'id', 'bookId', 'periodId', 'onDay', 'accountId', 'propertyId', 'sameProperty', 'debit', 'credit'],
    documents: [],
    filled: ['tenantId', 'id', 'debit', 'credit'],
    nullable: ['onDay', 'propertyId'],
    computed: [],
  },
  cash_movement: {
    fields: ['tenantId', 'id', 'cashAccountId', 'sessionId', 'seq', 'amount', 'currency', 'bookedOn', 'occurredAt', 'kind', 'sourceType', 'sourceId', 'sourceSeq', 'bookId', 'accountId', 'costCenterId', 'propertyId', 'counterBookId', 'description', 'voucher', 'counterparty', 'endToEndId', 'txid', 'reversesId', 'transferId', 'matched', 'createdBy', 'createdAt'],
    documents: ['createdBy'],
    filled: ['tenantId', 'id', 'seq', 'occurredAt', 'sourceSeq', 'voucher', 'matched', 'createdAt'],
    nullable: ['sessionId', 'accountId', 'costCenterId', 'propertyId', 'counterBookId', 'counterparty', 'endToEndId', 'txid', 'reversesId', 'transferId'],
    computed: [],
  },
  cash_session: {
    fields: ['tenantId', 'id', 'registerId', 'propertyId', 'currency', 'cashierId', 'status', 'openedAt', 'closedAt', 'businessDate', 'blind', 'opening', 'openingDifference', 'expected', 'counted', 'difference', 'declared', 'closedBy', 'approvedBy', 'approvedAt', 'selfApproved', 'note', 'zNumber', 'openedXid', 'closedXid', 'version', 'createdAt', 'updatedAt'],
    documents: ['declared'],
    filled: ['tenantId', 'id', 'status', 'openedAt', 'blind', 'openingDifference', 'expected', 'declared', 'selfApproved', 'openedXid', 'version', 'createdAt', 'updatedAt'],
    nullable: ['closedAt', 'counted', 'closedBy', 'approvedBy', 'approvedAt', 'note', 'zNumber', 'closedXid'],
    computed: ['difference'],
  },
  cash_transfer: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'fromAccountId', 'toAccountId', 'payee', 'method', 'amount', 'fee', 'currency', 'purpose', 'accountId', 'costCenterId', 'scheduledOn', 'sentOn', 'receivedOn', 'status', 'sourceType', 'sourceId', 'requestedBy', 'approvedBy', 'approvedAt', 'selfApproved', 'endToEndId', 'failure', 'cancelReason', 'nextReadAt', 'readCount', 'version', 'createdAt', 'updatedAt', 'closingSessionId', 'datedOn'],
    documents: ['failure'],
    filled: ['tenantId', 'id', 'fee', 'selfApproved', 'readCount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'toAccountId', 'payee', 'accountId', 'costCenterId', 'scheduledOn', 'sentOn', 'receivedOn', 'sourceType', 'sourceId', 'requestedBy', 'approvedBy', 'approvedAt', 'endToEndId', 'failure', 'cancelReason', 'nextReadAt', 'closingSessionId'],
    computed: ['datedOn'],
  },
  channel_booking: {
    fields: ['tenantId', 'id', 'channelConnectionId', 'propertyId', 'externalId', 'revision', 'kind', 'payload', 'departure', 'status', 'bookingId', 'reservationIds', 'pulledAs', 'acknowledgedAt', 'appliedAt', 'error', 'dismissReason', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'reservationIds', 'version', 'createdAt', 'updatedAt'],
    nullable: ['payload', 'departure', 'bookingId', 'pulledAs', 'acknowledgedAt', 'appliedAt', 'error', 'dismissReason'],
    computed: [],
  },
  channel_connection: {
    fields: ['tenantId', 'id', 'propertyId', 'name', 'driver', 'status', 'endpointUrl', 'credentials', 'externalPropertyId', 'buffer', 'horizonDays', 'lastPushAt', 'pushLeaseUntil', 'pushLeaseBy', 'pushFailures', 'pushNotBefore', 'pushFailingSince', 'lastPullAt', 'nextPullAt', 'pullCursor', 'pullFailingSince', 'lastError', 'attentionAt', 'resyncedOn', 'closeOutUntil', 'disconnectedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'buffer', 'horizonDays', 'pushFailures', 'version', 'createdAt', 'updatedAt'],
    nullable: ['credentials', 'lastPushAt', 'pushLeaseUntil', 'pushLeaseBy', 'pushNotBefore', 'pushFailingSince', 'lastPullAt', 'nextPullAt', 'pullCursor', 'pullFailingSince', 'lastError', 'attentionAt', 'resyncedOn', 'closeOutUntil', 'disconnectedAt'],
    computed: [],
  },
  channel_dirty: {
    fields: ['tenantId', 'id', 'channelConnectionId', 'unitTypeId', 'kind', 'during', 'changedAt'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  channel_mapping: {
    fields: ['tenantId', 'id', 'channelConnectionId', 'unitTypeId', 'ratePlanId', 'externalUnitTypeId', 'externalRatePlanId', 'modifierRate', 'enabled', 'leftAt'],
    documents: [],
    filled: ['tenantId', 'id', 'modifierRate', 'enabled'],
    nullable: ['ratePlanId', 'externalRatePlanId', 'leftAt'],
    computed: [],
  },
  channel_push: {
    fields: ['tenantId', 'id', 'channelConnectionId', 'propertyId', 'kind', 'ranges', 'rangeCount', 'messageCount', 'status', 'attempts', 'error', 'startedAt', 'finishedAt'],
    documents: ['ranges'],
    filled: ['tenantId', 'id', 'messageCount', 'status', 'attempts', 'startedAt'],
    nullable: ['error', 'finishedAt'],
    computed: [],
  },
  company: {
    fields: ['tenantId', 'id', 'kind', 'legalName', 'tradeName', 'countryCode', 'taxId', 'email', 'phone', 'website', 'address', 'sealed', 'commissionRate', 'ratePlanIds', 'notes', 'nameSearch', 'status', 'version', 'createdAt', 'updatedAt', 'customerId'],
    documents: ['address'],
    filled: ['tenantId', 'id', 'tradeName', 'ratePlanIds', 'notes', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['countryCode', 'taxId', 'email', 'phone', 'website', 'address', 'sealed', 'commissionRate', 'customerId'],
    computed: [],
  },
  compensation: {
    fields: ['tenantId', 'id', 'issueId', 'propertyId', 'reservationId', 'kind', 'amount', 'currency', 'folioId', 'lineId', 'description', 'sealed', 'refundExcess', 'status', 'automatic', 'proposedBy', 'proposedByActor', 'decidedBy', 'decidedAt', 'decisionSealed', 'folioLineIds', 'refundIds', 'version', 'createdAt', 'updatedAt'],
    documents: ['proposedByActor'],
    filled: ['tenantId', 'id', 'refundExcess', 'status', 'automatic', 'folioLineIds', 'refundIds', 'version', 'createdAt', 'updatedAt'],
    nullable: ['folioId', 'lineId', 'sealed', 'proposedBy', 'decidedBy', 'decidedAt', 'decisionSealed'],
    computed: [],
  },
  conversation: {
    fields: ['tenantId', 'id', 'propertyId', 'kind', 'addressIndex', 'address', 'guestId', 'reservationId', 'assigneeId', 'status', 'lastInboundAt', 'lastMessageAt', 'answeredAt', 'closedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'lastMessageAt', 'version', 'createdAt', 'updatedAt'],
    nullable: ['address', 'guestId', 'reservationId', 'assigneeId', 'lastInboundAt', 'answeredAt', 'closedAt'],
    computed: [],
  },
  cost_center: {
    fields: ['tenantId', 'id', 'bookId', 'code', 'name', 'kind', 'parentId', 'active', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'kind', 'active', 'version', 'createdAt', 'updatedAt'],
    nullable: ['parentId'],
    computed: [],
  },
  credit_note: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'receivableId', 'customerId', 'issuedOn', 'reason', 'currency', 'amount', 'applied', 'excess', 'series', 'number', 'numberPrefix', 'status', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'numberPrefix', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'series', 'number', 'createdBy'],
    computed: ['excess'],
  },
  credit_note_line: {
    fields: ['tenantId', 'id', 'creditNoteId', 'lineNo', 'description', 'accountId', 'amount', 'taxCodeId', 'taxAmount', 'propertyId', 'costCenterId', 'receivableLineNo'],
    documents: [],
    filled: ['tenantId', 'id', 'description', 'taxAmount'],
    nullable: ['taxCodeId', 'propertyId', 'costCenterId', 'receivableLineNo'],
    computed: [],
  },
  customer: {
    fields: ['tenantId', 'id', 'kind', 'legalName', 'tradeName', 'countryCode', 'document', 'search', 'sealed', 'language', 'guestId', 'termDays', 'billing', 'billingDay', 'currency', 'creditLimit', 'exposure', 'onHold', 'holdReason', 'withholdingTaxCodeIds', 'dunningExempt', 'status', 'version', 'createdAt', 'updatedAt', 'identity'],
    documents: [],
    filled: ['tenantId', 'id', 'tradeName', 'countryCode', 'language', 'termDays', 'billing', 'billingDay', 'exposure', 'onHold', 'withholdingTaxCodeIds', 'dunningExempt', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['document', 'sealed', 'guestId', 'creditLimit', 'holdReason', 'identity'],
    computed: [],
  },
  deposit: {
    fields: ['tenantId', 'id', 'reservationId', 'position', 'dueAt', 'amount', 'origin', 'waivedAmount', 'requestedAt', 'version', 'createdAt', 'updatedAt', 'announcedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'origin', 'waivedAmount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['requestedAt', 'announcedAt'],
    computed: [],
  },
  dispatch_epoch: {
    fields: ['one', 'epoch', 'changedAt'],
    documents: [],
    filled: ['one', 'epoch', 'changedAt'],
    nullable: [],
    computed: [],
  },
  dispute: {
    fields: ['tenantId', 'id', 'provider', 'gatewayAccountId', 'paymentId', 'propertyId', 'externalId', 'amount', 'currency', 'reason', 'phase', 'status', 'taken', 'response', 'responseDueAt', 'evidence', 'evidenceErasedAt', 'acceptedBy', 'warnings', 'openedAt', 'closedAt', 'nextReadAt', 'readCount', 'version', 'createdAt', 'updatedAt'],
    documents: ['acceptedBy'],
    filled: ['tenantId', 'id', 'phase', 'taken', 'warnings', 'openedAt', 'readCount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['gatewayAccountId', 'response', 'responseDueAt', 'evidence', 'evidenceErasedAt', 'acceptedBy', 'closedAt', 'nextReadAt'],
    computed: [],
  },
  dunning_notice: {
    fields: ['tenantId', 'id', 'dunningRunId', 'customerId', 'receivableId', 'installmentId', 'level', 'channels', 'stopCredit', 'amount', 'dueOn', 'status', 'skipReason', 'messageIds', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'stopCredit', 'status', 'messageIds', 'version', 'createdAt', 'updatedAt'],
    nullable: ['skipReason'],
    computed: [],
  },
  dunning_run: {
    fields: ['tenantId', 'id', 'bookId', 'runOn', 'status', 'steps', 'minimum', 'counts', 'startedBy', 'finishedAt', 'version', 'createdAt', 'updatedAt'],
    documents: ['steps', 'counts'],
    filled: ['tenantId', 'id', 'status', 'counts', 'version', 'createdAt', 'updatedAt'],
    nullable: ['startedBy', 'finishedAt'],
    computed: [],
  },
  entitlement_grant: {
    fields: ['id', 'tenantId', 'key', 'source', 'reason', 'grantedBy', 'startsAt', 'expiresAt', 'planVersionId', 'subscriptionItemId', 'endedAt', 'endedBy', 'endCause', 'endReason'],
    documents: [],
    filled: ['id', 'startsAt'],
    nullable: ['reason', 'grantedBy', 'expiresAt', 'planVersionId', 'subscriptionItemId', 'endedAt', 'endedBy', 'endCause', 'endReason'],
    computed: [],
  },
  entry_draft: {
    fields: ['tenantId', 'id', 'bookId', 'journalId', 'kind', 'postingDate', 'description', 'reverseOn', 'lines', 'total', 'difference', 'late', 'status', 'createdBy', 'submittedAt', 'decidedBy', 'selfApproved', 'rejection', 'note', 'entryId', 'version', 'createdAt', 'updatedAt', 'templateId', 'templateRun', 'editors'],
    documents: ['lines'],
    filled: ['tenantId', 'id', 'kind', 'lines', 'total', 'difference', 'late', 'status', 'selfApproved', 'version', 'createdAt', 'updatedAt', 'editors'],
    nullable: ['journalId', 'reverseOn', 'submittedAt', 'decidedBy', 'rejection', 'note', 'entryId', 'templateId', 'templateRun'],
    computed: [],
  },
  entry_template: {
    fields: ['tenantId', 'id', 'bookId', 'name', 'journalId', 'description', 'variables', 'lines', 'schedule', 'nextOn', 'runs', 'status', 'createdBy', 'version', 'createdAt', 'updatedAt', 'editors'],
    documents: ['variables', 'lines', 'schedule'],
    filled: ['tenantId', 'id', 'variables', 'runs', 'status', 'version', 'createdAt', 'updatedAt', 'editors'],
    nullable: ['journalId', 'schedule', 'nextOn'],
    computed: [],
  },
  event: {
    fields: ['tenantId', 'id', 'type', 'typeVersion', 'sequence', 'propertyId', 'entity', 'occurredAt', 'actor', 'requestId', 'causeId', 'changed', 'data'],
    documents: ['entity', 'actor', 'changed', 'data'],
    filled: ['tenantId', 'id', 'typeVersion', 'occurredAt', 'changed'],
    nullable: ['sequence', 'propertyId', 'causeId'],
    computed: [],
  },
  event_head: {
    fields: ['tenantId', 'lastSequence', 'oldestSequence'],
    documents: [],
    filled: ['tenantId', 'lastSequence', 'oldestSequence'],
    nullable: [],
    computed: [],
  },
  exchange_rate: {
    fields: ['tenantId', 'id', 'fromCurrency', 'toCurrency', 'date', 'rate', 'usedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'version', 'createdAt', 'updatedAt'],
    nullable: ['usedAt'],
    computed: [],
  },
  external_call: {
    fields: ['id', 'tenantId', 'jobId', 'provider', 'operation', 'idempotencyKey', 'state', 'tries', 'requestHash', 'code', 'httpStatus', 'answerReference', 'firstStartedAt', 'startedAt', 'finishedAt'],
    documents: [],
    filled: ['id', 'state', 'tries', 'firstStartedAt', 'startedAt'],
    nullable: ['tenantId', 'requestHash', 'code', 'httpStatus', 'answerReference', 'finishedAt'],
    computed: [],
  },
  extra: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'description', 'category', 'revenueGroup', 'amount', 'basis', 'mandatory', 'bookableOnline', 'unitTypeIds', 'maxQuantity', 'cutoffHours', 'dailyLimit', 'poolId', 'status', 'version', 'createdAt', 'updatedAt'],
    documents: ['name', 'description'],
    filled: ['tenantId', 'id', 'description', 'mandatory', 'bookableOnline', 'unitTypeIds', 'maxQuantity', 'cutoffHours', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['dailyLimit', 'poolId'],
    computed: [],
  },
  extra_sum: {
    fields: ['tenantId', 'id', 'propertyId', 'dimension', 'date', 'key', 'category', 'amount'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  feature: {
    fields: ['key', 'name', 'description', 'position'],
    documents: [],
    filled: ['description', 'position'],
    nullable: [],
    computed: [],
  },
  finance_notice: {
    fields: ['id', 'tenantId', 'kind', 'subjectId', 'label', 'day', 'createdAt'],
    documents: [],
    filled: ['id', 'createdAt'],
    nullable: ['day'],
    computed: [],
  },
  fiscal_document: {
    fields: ['tenantId', 'id', 'kind', 'bookId', 'propertyId', 'receivableId', 'folioId', 'adapter', 'status', 'series', 'rpsNumber', 'total', 'currency', 'serviceText', 'snapshot', 'authorityNumber', 'verificationCode', 'accessKey', 'authorisedAt', 'documentUrl', 'xmlBlobId', 'rejection', 'cancelReason', 'nextReadAt', 'attempts', 'reads', 'createdBy', 'version', 'createdAt', 'updatedAt', 'erasedAt'],
    documents: ['rejection'],
    filled: ['tenantId', 'id', 'kind', 'status', 'series', 'serviceText', 'attempts', 'reads', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'receivableId', 'folioId', 'rpsNumber', 'authorityNumber', 'verificationCode', 'accessKey', 'authorisedAt', 'documentUrl', 'xmlBlobId', 'rejection', 'cancelReason', 'nextReadAt', 'createdBy', 'erasedAt'],
    computed: [],
  },
  fiscal_exchange: {
    fields: ['tenantId', 'id', 'fiscalDocumentId', 'at', 'operation', 'outcome', 'code', 'position'],
    documents: [],
    filled: ['tenantId', 'id', 'at', 'position'],
    nullable: ['code'],
    computed: [],
  },
  fiscal_period: {
    fields: ['tenantId', 'id', 'bookId', 'fiscalYearId', 'number', 'kind', 'startsOn', 'endsOn', 'status', 'closedBy', 'reopenedBy', 'sealedAt', 'version', 'createdAt', 'updatedAt', 'selfApproved', 'taxesDue', 'diaryUntil', 'diaryDone', 'frozenDebit', 'frozenCredit', 'frozenLines'],
    documents: [],
    filled: ['tenantId', 'id', 'kind', 'status', 'version', 'createdAt', 'updatedAt', 'selfApproved', 'taxesDue'],
    nullable: ['closedBy', 'reopenedBy', 'sealedAt', 'diaryUntil', 'diaryDone', 'frozenDebit', 'frozenCredit', 'frozenLines'],
    computed: [],
  },
  fiscal_year: {
    fields: ['tenantId', 'id', 'bookId', 'year', 'startsOn', 'endsOn', 'status', 'closeRun', 'version', 'createdAt', 'updatedAt', 'closedBy', 'reopenedBy', 'selfApproved'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'closeRun', 'version', 'createdAt', 'updatedAt', 'selfApproved'],
    nullable: ['closedBy', 'reopenedBy'],
    computed: [],
  },
  folio: {
    fields: ['tenantId', 'id', 'propertyId', 'number', 'kind', 'reservationId', 'isPrimary', 'payerGuestId', 'label', 'stage', 'status', 'currency', 'charges', 'credits', 'balance', 'creditLimit', 'locked', 'version', 'createdAt', 'updatedAt', 'groupId', 'payerCompanyId', 'receivableId'],
    documents: [],
    filled: ['tenantId', 'id', 'isPrimary', 'label', 'stage', 'status', 'charges', 'credits', 'locked', 'version', 'createdAt', 'updatedAt'],
    nullable: ['reservationId', 'payerGuestId', 'creditLimit', 'groupId', 'payerCompanyId', 'receivableId'],
    computed: ['balance'],
  },
  folio_line: {
    fields: ['tenantId', 'id', 'folioId', 'seq', 'kind', 'category', 'description', 'quantity', 'unitAmount', 'amount', 'taxes', 'businessDate', 'sourceType', 'sourceId', 'sourceKey', 'originalLineId', 'transferId', 'paymentId', 'postedBy', 'createdAt', 'taxRuleId', 'receiptId', 'propertyId'],
    documents: ['taxes', 'postedBy'],
    filled: ['tenantId', 'id', 'seq', 'quantity', 'taxes', 'sourceKey', 'createdAt'],
    nullable: ['category', 'originalLineId', 'transferId', 'paymentId', 'taxRuleId', 'receiptId', 'propertyId'],
    computed: [],
  },
  folio_route: {
    fields: ['tenantId', 'id', 'reservationId', 'position', 'folioId', 'categories', 'from', 'until', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'version', 'createdAt', 'updatedAt'],
    nullable: ['categories', 'from', 'until'],
    computed: [],
  },
  gallery_image: {
    fields: ['tenantId', 'id', 'propertyId', 'url', 'unitTypeId', 'category', 'caption', 'position', 'status', 'width', 'height', 'mimeType', 'bytes', 'checkedAt', 'version', 'createdAt', 'updatedAt', 'problem'],
    documents: ['caption'],
    filled: ['tenantId', 'id', 'caption', 'position', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['unitTypeId', 'width', 'height', 'mimeType', 'bytes', 'checkedAt', 'problem'],
    computed: [],
  },
  gateway_account: {
    fields: ['tenantId', 'id', 'provider', 'label', 'bookId', 'country', 'currency', 'propertyIds', 'isDefault', 'status', 'externalId', 'capabilities', 'chargesEnabled', 'payoutsEnabled', 'requirements', 'platformFeeRate', 'version', 'createdAt', 'updatedAt', 'onboardingStatus', 'onboardingUrl', 'onboardingExpiresAt', 'onboardingReturnUrl', 'onboardingRequests', 'testToken', 'balance', 'failure', 'nextReadAt', 'readCount', 'nextImportAt', 'importedAt', 'importCursor', 'importSince', 'importStartedAt', 'endedAt'],
    documents: ['capabilities', 'requirements', 'balance', 'failure'],
    filled: ['tenantId', 'id', 'propertyIds', 'isDefault', 'status', 'capabilities', 'chargesEnabled', 'payoutsEnabled', 'requirements', 'platformFeeRate', 'version', 'createdAt', 'updatedAt', 'onboardingStatus', 'onboardingRequests', 'readCount'],
    nullable: ['externalId', 'onboardingUrl', 'onboardingExpiresAt', 'onboardingReturnUrl', 'testToken', 'balance', 'failure', 'nextReadAt', 'nextImportAt', 'importedAt', 'importCursor', 'importSince', 'importStartedAt', 'endedAt'],
    computed: [],
  },
  gateway_balance_day: {
    fields: ['tenantId', 'id', 'gatewayAccountId', 'day', 'net'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  gateway_callback: {
    fields: ['id', 'provider', 'accountRef', 'eventId', 'rawBody', 'headers', 'bodyHash', 'eventType', 'objectType', 'objectRef', 'ourId', 'tenantId', 'status', 'receivedAt', 'processedAt', 'error'],
    documents: ['headers'],
    filled: ['id', 'status', 'receivedAt'],
    nullable: ['rawBody', 'ourId', 'tenantId', 'processedAt', 'error'],
    computed: [],
  },
  guest: {
    fields: ['tenantId', 'id', 'status', 'firstName', 'lastName', 'preferredName', 'language', 'nationality', 'residenceCountry', 'sealed', 'tags', 'emailIndex', 'phoneIndex', 'phoneTailIndex', 'birthIndex', 'nameIndex', 'nameSearch', 'mergedIntoId', 'source', 'erasedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'lastName', 'preferredName', 'tags', 'version', 'createdAt', 'updatedAt'],
    nullable: ['language', 'nationality', 'residenceCountry', 'sealed', 'emailIndex', 'phoneIndex', 'phoneTailIndex', 'birthIndex', 'nameIndex', 'mergedIntoId', 'erasedAt'],
    computed: [],
  },
  guest_access_code: {
    fields: ['tenantId', 'id', 'bookingId', 'expiresAt', 'attempts', 'usedAt', 'endedAt', 'createdAt', 'addressHash'],
    documents: [],
    filled: ['tenantId', 'id', 'attempts', 'createdAt'],
    nullable: ['usedAt', 'endedAt', 'addressHash'],
    computed: [],
  },
  guest_block: {
    fields: ['tenantId', 'id', 'guestId', 'level', 'propertyId', 'startsOn', 'endsOn', 'sealed', 'documentIndexes', 'createdBy', 'liftedAt', 'liftedBy', 'liftReason', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'documentIndexes', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'endsOn', 'liftedAt', 'liftedBy', 'liftReason'],
    computed: [],
  },
  guest_consent: {
    fields: ['tenantId', 'id', 'guestId', 'purpose', 'decision', 'source', 'textVersion', 'sealed', 'at', 'by'],
    documents: ['by'],
    filled: ['tenantId', 'id', 'at'],
    nullable: ['sealed'],
    computed: [],
  },
  guest_document: {
    fields: ['tenantId', 'id', 'guestId', 'kind', 'countryCode', 'sealed', 'numberIndex', 'expiresOn', 'status', 'verifiedBy', 'verifiedAt', 'method', 'rejectReason', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['sealed', 'expiresOn', 'verifiedBy', 'verifiedAt', 'method', 'rejectReason'],
    computed: [],
  },
  guest_document_file: {
    fields: ['tenantId', 'id', 'guestId', 'documentId', 'side', 'mediaType', 'bytes', 'sha256', 'blobId', 'deleteAfter', 'createdBy', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['deleteAfter', 'createdBy'],
    computed: [],
  },
  guest_duplicate: {
    fields: ['tenantId', 'id', 'guestA', 'guestB', 'score', 'matches', 'status', 'decidedBy', 'decidedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['decidedBy', 'decidedAt'],
    computed: [],
  },
  guest_key: {
    fields: ['tenantId', 'guestId', 'purpose', 'wrappedKey', 'masterKeyId', 'destroyAfter', 'destroyedAt', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'createdAt'],
    nullable: ['wrappedKey', 'destroyAfter', 'destroyedAt'],
    computed: [],
  },
  guest_merge: {
    fields: ['tenantId', 'id', 'survivorId', 'mergedId', 'repointedIds', 'fields', 'sealed', 'reason', 'mergedBy', 'mergedAt', 'undoneAt', 'undoneBy', 'undoReason'],
    documents: ['mergedBy', 'undoneBy'],
    filled: ['tenantId', 'id', 'repointedIds', 'fields', 'mergedAt'],
    nullable: ['sealed', 'undoneAt', 'undoneBy', 'undoReason'],
    computed: [],
  },
  guest_note: {
    fields: ['tenantId', 'id', 'guestId', 'audience', 'alertMoment', 'sealed', 'createdBy', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'alertMoment', 'createdAt'],
    nullable: ['createdBy'],
    computed: [],
  },
  guest_registration: {
    fields: ['tenantId', 'id', 'reservationGuestId', 'reservationId', 'guestId', 'propertyId', 'status', 'sealed', 'formVersion', 'missing', 'signedAt', 'signedVia', 'linkValidFrom', 'linkSentAt', 'externalId', 'rejectReason', 'version', 'createdAt', 'updatedAt', 'arrival'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'formVersion', 'missing', 'version', 'createdAt', 'updatedAt'],
    nullable: ['sealed', 'signedAt', 'signedVia', 'linkValidFrom', 'linkSentAt', 'externalId', 'rejectReason'],
    computed: [],
  },
  guest_word: {
    fields: ['tenantId', 'id', 'guestId', 'word'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  hold_strike: {
    fields: ['tenantId', 'id', 'propertyId', 'emailIndex', 'bookingId', 'expiredAt'],
    documents: [],
    filled: ['tenantId', 'id', 'expiredAt'],
    nullable: [],
    computed: [],
  },
  housekeeping_sheet: {
    fields: ['tenantId', 'id', 'propertyId', 'date', 'attendantId', 'status', 'maxCredits', 'publishedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['publishedAt'],
    computed: [],
  },
  housekeeping_task: {
    fields: ['tenantId', 'id', 'propertyId', 'unitId', 'date', 'kind', 'status', 'assigneeId', 'sheetId', 'priority', 'ranked', 'credits', 'dueAt', 'checklist', 'reservationId', 'issueId', 'note', 'startedAt', 'completedAt', 'completedBy', 'inspectedAt', 'inspectedBy', 'minutes', 'skipReason', 'generated', 'version', 'createdAt', 'updatedAt'],
    documents: ['checklist'],
    filled: ['tenantId', 'id', 'status', 'ranked', 'checklist', 'note', 'generated', 'version', 'createdAt', 'updatedAt'],
    nullable: ['assigneeId', 'sheetId', 'dueAt', 'reservationId', 'issueId', 'startedAt', 'completedAt', 'completedBy', 'inspectedAt', 'inspectedBy', 'minutes', 'skipReason'],
    computed: [],
  },
  integrity_run: {
    fields: ['tenantId', 'id', 'bookId', 'status', 'results', 'requestedAt', 'startedAt', 'finishedAt', 'snapshot'],
    documents: ['results'],
    filled: ['tenantId', 'id', 'status', 'results', 'requestedAt'],
    nullable: ['startedAt', 'finishedAt', 'snapshot'],
    computed: [],
  },
  inventory_category: {
    fields: ['tenantId', 'id', 'code', 'name', 'parentCode', 'expenseGroup', 'stockAccountId', 'expenseAccountId', 'position', 'status', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'position', 'status', 'createdAt', 'updatedAt'],
    nullable: ['parentCode', 'stockAccountId', 'expenseAccountId'],
    computed: [],
  },
  inventory_consumption: {
    fields: ['tenantId', 'id', 'propertyId', 'kind', 'locationId', 'outletId', 'orderId', 'reservationId', 'unitId', 'taskId', 'costCenterId', 'reason', 'businessDate', 'movementId', 'status', 'sourceType', 'sourceId', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['locationId', 'outletId', 'orderId', 'reservationId', 'unitId', 'taskId', 'costCenterId', 'reason', 'movementId'],
    computed: [],
  },
  inventory_consumption_line: {
    fields: ['tenantId', 'id', 'consumptionId', 'position', 'itemId', 'locationId', 'recipeVersionId', 'quantity', 'value', 'shortQuantity'],
    documents: [],
    filled: ['tenantId', 'id', 'shortQuantity'],
    nullable: ['recipeVersionId'],
    computed: [],
  },
  inventory_count: {
    fields: ['tenantId', 'id', 'propertyId', 'locationId', 'categoryId', 'blind', 'status', 'startedBy', 'approvedBy', 'selfApproved', 'movementId', 'note', 'approvalNote', 'closedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'blind', 'status', 'selfApproved', 'note', 'approvalNote', 'version', 'createdAt', 'updatedAt'],
    nullable: ['categoryId', 'approvedBy', 'movementId', 'closedAt'],
    computed: [],
  },
  inventory_count_counter: {
    fields: ['tenantId', 'id', 'countId', 'userId'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  inventory_count_line: {
    fields: ['tenantId', 'id', 'countId', 'locationId', 'itemId', 'open', 'expected', 'counted', 'enteredQuantity', 'enteredMeasure', 'countedBy', 'countedAt', 'value', 'lastShortage'],
    documents: [],
    filled: ['tenantId', 'id', 'open'],
    nullable: ['counted', 'enteredQuantity', 'enteredMeasure', 'countedBy', 'countedAt', 'value', 'lastShortage'],
    computed: [],
  },
  inventory_item: {
    fields: ['tenantId', 'id', 'sku', 'name', 'barcode', 'categoryId', 'base', 'packages', 'supplierId', 'leadDays', 'referenceAmount', 'referenceQuantity', 'status', 'version', 'createdAt', 'updatedAt'],
    documents: ['packages'],
    filled: ['tenantId', 'id', 'packages', 'leadDays', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['barcode', 'supplierId', 'referenceAmount', 'referenceQuantity'],
    computed: [],
  },
  inventory_level: {
    fields: ['tenantId', 'id', 'locationId', 'itemId', 'minimum', 'maximum'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  inventory_location: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'kind', 'position', 'status', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'position', 'status', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  inventory_movement: {
    fields: ['tenantId', 'id', 'propertyId', 'kind', 'occurredOn', 'reference', 'note', 'supplierId', 'purchaseOrderId', 'recipeVersionId', 'reversesId', 'status', 'sourceType', 'sourceId', 'reversalReason', 'createdBy', 'version', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt'],
    nullable: ['reference', 'note', 'supplierId', 'purchaseOrderId', 'recipeVersionId', 'reversesId', 'reversalReason', 'createdBy'],
    computed: [],
  },
  inventory_movement_line: {
    fields: ['tenantId', 'id', 'movementId', 'position', 'itemId', 'locationId', 'quantity', 'value', 'enteredQuantity', 'enteredMeasure', 'seq', 'occurredOn', 'purchaseOrderLineId'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: ['purchaseOrderLineId'],
    computed: [],
  },
  inventory_set: {
    fields: ['tenantId', 'kind', 'ownerId', 'version'],
    documents: [],
    filled: ['tenantId', 'version'],
    nullable: [],
    computed: [],
  },
  inventory_shortage: {
    fields: ['tenantId', 'id', 'consumptionId', 'consumptionLineId', 'itemId', 'locationId', 'quantity', 'settledQuantity', 'settledValue', 'status', 'position', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'settledQuantity', 'settledValue', 'status', 'position', 'createdAt'],
    nullable: [],
    computed: [],
  },
  inventory_stock: {
    fields: ['tenantId', 'id', 'locationId', 'itemId', 'quantity', 'value', 'lastSeq', 'lowSince', 'lastCountedAt', 'lastCountedOn', 'lastCostValue', 'lastCostQuantity', 'lastCostAt'],
    documents: [],
    filled: ['tenantId', 'id', 'quantity', 'value', 'lastSeq'],
    nullable: ['lowSince', 'lastCountedAt', 'lastCountedOn', 'lastCostValue', 'lastCostQuantity', 'lastCostAt'],
    computed: [],
  },
  inventory_stock_month: {
    fields: ['tenantId', 'id', 'locationId', 'itemId', 'month', 'value'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  inventory_use: {
    fields: ['tenantId', 'id', 'locationId', 'itemId', 'date', 'quantity'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  invoice_payment: {
    fields: ['id', 'tenantId', 'invoiceId', 'try', 'provider', 'method', 'amount', 'capturedAmount', 'currency', 'status', 'action', 'externalId', 'customerRef', 'methodRef', 'submission', 'failureCode', 'failureMessage', 'sentAt', 'readCount', 'endedAt', 'createdAt', 'updatedAt', 'methodNo', 'returnUrl'],
    documents: ['action'],
    filled: ['id', 'capturedAmount', 'status', 'readCount', 'createdAt', 'updatedAt', 'methodNo'],
    nullable: ['action', 'externalId', 'customerRef', 'methodRef', 'submission', 'failureCode', 'failureMessage', 'sentAt', 'endedAt', 'returnUrl'],
    computed: [],
  },
  issue: {
    fields: ['tenantId', 'id', 'number', 'propertyId', 'status', 'kind', 'categoryId', 'priority', 'sealed', 'source', 'sourceEvent', 'sourceKey', 'occurrences', 'guestId', 'reservationId', 'unitId', 'housekeepingTaskId', 'paymentId', 'conversationId', 'assigneeId', 'team', 'escalation', 'waitingFor', 'firstResponseMinutes', 'firstResponseDueAt', 'firstRespondedAt', 'firstResponseBreachedAt', 'resolutionMinutes', 'resolutionFrom', 'resolutionDueAt', 'resolutionBreachedAt', 'overdueSteps', 'waitingSince', 'waitedSeconds', 'nextDueAt', 'checkAt', 'resolutionSealed', 'cause', 'outcome', 'duplicateOfId', 'reopenCount', 'resolvedAt', 'closedAt', 'score', 'scoreSealed', 'scoredAt', 'textsErasedAt', 'createdBy', 'version', 'createdAt', 'updatedAt', 'hours', 'escalated', 'recurring'],
    documents: ['createdBy'],
    filled: ['tenantId', 'id', 'status', 'occurrences', 'escalation', 'resolutionFrom', 'overdueSteps', 'waitedSeconds', 'reopenCount', 'version', 'createdAt', 'updatedAt', 'hours', 'recurring'],
    nullable: ['sealed', 'sourceEvent', 'sourceKey', 'guestId', 'reservationId', 'unitId', 'housekeepingTaskId', 'paymentId', 'conversationId', 'assigneeId', 'waitingFor', 'firstRespondedAt', 'firstResponseBreachedAt', 'resolutionBreachedAt', 'waitingSince', 'nextDueAt', 'checkAt', 'resolutionSealed', 'cause', 'outcome', 'duplicateOfId', 'resolvedAt', 'closedAt', 'score', 'scoreSealed', 'scoredAt', 'textsErasedAt'],
    computed: ['escalated'],
  },
  issue_category: {
    fields: ['tenantId', 'id', 'code', 'name', 'kind', 'team', 'targets', 'guestFacing', 'autoApproveLimit', 'managerLimit', 'active', 'version', 'createdAt', 'updatedAt', 'hours'],
    documents: ['name', 'targets'],
    filled: ['tenantId', 'id', 'guestFacing', 'autoApproveLimit', 'managerLimit', 'active', 'version', 'createdAt', 'updatedAt', 'hours'],
    nullable: [],
    computed: [],
  },
  issue_comment: {
    fields: ['tenantId', 'id', 'issueId', 'visibility', 'sealed', 'authorId', 'messageId', 'eventId', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['sealed', 'authorId', 'messageId', 'eventId'],
    computed: [],
  },
  issue_event: {
    fields: ['tenantId', 'id', 'issueId', 'command', 'fromStatus', 'toStatus', 'changes', 'actor', 'sealed', 'requestId', 'position', 'createdAt'],
    documents: ['changes', 'actor'],
    filled: ['tenantId', 'id', 'changes', 'position', 'createdAt'],
    nullable: ['fromStatus', 'sealed', 'requestId'],
    computed: [],
  },
  issue_notice: {
    fields: ['id', 'tenantId', 'number', 'propertyName', 'categoryName', 'priority', 'level', 'dueAt', 'createdAt'],
    documents: [],
    filled: ['createdAt'],
    nullable: ['dueAt'],
    computed: [],
  },
  issue_number: {
    fields: ['tenantId', 'kind', 'lastNumber'],
    documents: [],
    filled: ['tenantId'],
    nullable: [],
    computed: [],
  },
  job_archive: {
    fields: ['id', 'money', 'tenantId', 'queue', 'kind', 'version', 'payload', 'outcome', 'reason', 'class', 'runAt', 'uniqueKey', 'attempts', 'starts', 'dispatchNo', 'worker', 'progress', 'lastError', 'requestId', 'traceparent', 'actor', 'createdAt', 'startedAt', 'finishedAt', 'history'],
    documents: ['payload', 'progress', 'lastError', 'actor', 'history'],
    filled: ['history'],
    nullable: ['tenantId', 'reason', 'uniqueKey', 'worker', 'progress', 'lastError', 'traceparent', 'startedAt'],
    computed: [],
  },
  jobs: {
    fields: ['id', 'seq', 'tenantId', 'queue', 'kind', 'version', 'payload', 'status', 'class', 'runAt', 'uniqueKey', 'attempts', 'starts', 'dispatchNo', 'delivery', 'leasedUntil', 'worker', 'progress', 'lastError', 'requestId', 'traceparent', 'actor', 'createdAt', 'gate', 'ready', 'history'],
    documents: ['payload', 'progress', 'lastError', 'actor', 'history'],
    filled: ['seq', 'version', 'status', 'class', 'runAt', 'attempts', 'starts', 'dispatchNo', 'delivery', 'createdAt', 'gate', 'ready', 'history'],
    nullable: ['tenantId', 'uniqueKey', 'leasedUntil', 'worker', 'progress', 'lastError', 'traceparent'],
    computed: [],
  },
  journal: {
    fields: ['tenantId', 'id', 'bookId', 'code', 'name', 'kind', 'lockedUntil', 'active', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'active', 'version', 'createdAt', 'updatedAt'],
    nullable: ['lockedUntil'],
    computed: [],
  },
  journal_entry: {
    fields: ['tenantId', 'id', 'sequence', 'bookId', 'journalId', 'periodId', 'postingDate', 'currency', 'kind', 'reversesEntryId', 'sourceType', 'sourceId', 'sourceSeq', 'total', 'description', 'late', 'createdBy', 'approvedBy', 'selfApproved', 'createdXid', 'createdAt', 'reverseOn'],
    documents: [],
    filled: ['tenantId', 'id', 'kind', 'sourceSeq', 'late', 'selfApproved', 'createdAt'],
    nullable: ['reversesEntryId', 'createdBy', 'approvedBy', 'reverseOn'],
    computed: [],
  },
  journal_line: {
    fields: ['tenantId', 'id', 'entryId', 'lineNo', 'bookId', 'periodId', 'postingDate', 'accountId', 'debit', 'credit', 'propertyId', 'costCenterId', 'partyType', 'partyId', 'documentType', 'documentId', 'taxCodeId', 'taxBase', 'memo'],
    documents: [],
    filled: ['tenantId', 'id', 'debit', 'credit', 'memo'],
    nullable: ['propertyId', 'costCenterId', 'partyType', 'partyId', 'documentType', 'documentId', 'taxCodeId', 'taxBase'],
    computed: [],
  },
  journal_seal: {
    fields: ['tenantId', 'id', 'bookId', 'year', 'number', 'entryId', 'previousHash', 'hash', 'createdAt', 'position'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  journal_text: {
    fields: ['tenantId', 'id', 'bookId', 'text', 'plain'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: ['plain'],
  },
  kept_reply: {
    fields: ['caller', 'key', 'tenantId', 'requestHash', 'status', 'headers', 'body', 'createdAt'],
    documents: ['headers'],
    filled: ['headers', 'createdAt'],
    nullable: ['tenantId'],
    computed: [],
  },
  known_network: {
    fields: ['userId', 'network', 'lastAt'],
    documents: [],
    filled: ['lastAt'],
    nullable: [],
    computed: [],
  },
  list_count: {
    fields: ['tenantId', 'list', 'seq', 'propertyId', 'bookId', 'status', 'kind', 'n', 'folded', 'journalId', 'periodId', 'channelConnectionId', 'webhookEndpointId', 'automationId', 'day', 'escalated', 'recurring', 'lifted', 'matched', 'late', 'month', 'role', 'roleId'],
    documents: [],
    filled: ['tenantId', 'seq', 'folded'],
    nullable: ['propertyId', 'bookId', 'status', 'kind', 'journalId', 'periodId', 'channelConnectionId', 'webhookEndpointId', 'automationId', 'day', 'escalated', 'recurring', 'lifted', 'matched', 'late', 'month', 'role', 'roleId'],
    computed: [],
  },
  lost_item: {
    fields: ['tenantId', 'id', 'number', 'propertyId', 'direction', 'category', 'sealed', 'at', 'unitId', 'foundBy', 'storagePlace', 'guestId', 'reservationId', 'matchId', 'keepUntil', 'disposalToldAt', 'status', 'outcome', 'closeSealed', 'closedAt', 'textsErasedAt', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: ['createdBy'],
    filled: ['tenantId', 'id', 'storagePlace', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['sealed', 'unitId', 'foundBy', 'guestId', 'reservationId', 'matchId', 'disposalToldAt', 'outcome', 'closeSealed', 'closedAt', 'textsErasedAt'],
    computed: [],
  },
  membership: {
    fields: ['tenantId', 'id', 'userId', 'role', 'roleId', 'allProperties', 'status', 'invitedBy', 'invitedAt', 'acceptedAt', 'deactivatedAt', 'deactivatedBy', 'version', 'createdAt', 'updatedAt', 'invitedName', 'invitedEmail'],
    documents: [],
    filled: ['tenantId', 'id', 'allProperties', 'status', 'invitedAt', 'version', 'createdAt', 'updatedAt'],
    nullable: ['role', 'roleId', 'invitedBy', 'acceptedAt', 'deactivatedAt', 'deactivatedBy', 'invitedName', 'invitedEmail'],
    computed: [],
  },
  membership_property: {
    fields: ['tenantId', 'id', 'membershipId', 'propertyId'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  message: {
    fields: ['tenantId', 'id', 'direction', 'origin', 'propertyId', 'guestId', 'reservationId', 'paymentId', 'issueId', 'automationId', 'campaignId', 'conversationId', 'eventId', 'templateId', 'templateNumber', 'text', 'data', 'purpose', 'urgency', 'locale', 'recipient', 'reservationStatuses', 'plan', 'step', 'turn', 'status', 'dedupeKey', 'scheduledFor', 'expiresAt', 'fallbackAt', 'sentAt', 'reason', 'createdBy', 'version', 'createdAt', 'updatedAt', 'round', 'kind'],
    documents: ['data', 'plan'],
    filled: ['tenantId', 'id', 'direction', 'data', 'step', 'turn', 'version', 'createdAt', 'updatedAt', 'round'],
    nullable: ['guestId', 'reservationId', 'paymentId', 'issueId', 'automationId', 'campaignId', 'conversationId', 'eventId', 'templateId', 'templateNumber', 'text', 'locale', 'recipient', 'reservationStatuses', 'fallbackAt', 'sentAt', 'reason', 'createdBy', 'kind'],
    computed: [],
  },
  message_attempt: {
    fields: ['tenantId', 'id', 'messageId', 'propertyId', 'step', 'number', 'kind', 'transport', 'recipientIndex', 'recipient', 'subject', 'body', 'purpose', 'status', 'rank', 'providerId', 'segments', 'errorCode', 'errorText', 'resends', 'sentAt', 'deliveredAt', 'readAt', 'proof', 'createdAt', 'updatedAt', 'round'],
    documents: ['proof'],
    filled: ['tenantId', 'id', 'status', 'rank', 'resends', 'proof', 'createdAt', 'updatedAt', 'round'],
    nullable: ['recipient', 'subject', 'body', 'providerId', 'segments', 'errorCode', 'errorText', 'sentAt', 'deliveredAt', 'readAt'],
    computed: [],
  },
  message_callback: {
    fields: ['tenantId', 'id', 'messageChannelId', 'key', 'body', 'status', 'error', 'createdAt', 'processedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'createdAt'],
    nullable: ['body', 'error', 'processedAt'],
    computed: [],
  },
  message_channel: {
    fields: ['tenantId', 'id', 'propertyId', 'kind', 'enabled', 'transport', 'senderName', 'senderAddress', 'replyTo', 'credentials', 'callbackHash', 'dailyCap', 'countries', 'verification', 'version', 'createdAt', 'updatedAt', 'testRecipient', 'testNumber', 'capReachedOn'],
    documents: ['verification'],
    filled: ['tenantId', 'id', 'countries', 'verification', 'version', 'createdAt', 'updatedAt', 'testNumber'],
    nullable: ['senderName', 'senderAddress', 'replyTo', 'credentials', 'testRecipient', 'capReachedOn'],
    computed: [],
  },
  message_template: {
    fields: ['tenantId', 'id', 'key', 'name', 'purpose', 'urgency', 'context', 'status', 'publishedNumber', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['publishedNumber'],
    computed: [],
  },
  message_template_version: {
    fields: ['tenantId', 'id', 'templateId', 'number', 'status', 'contents', 'variables', 'publishedAt', 'publishedBy', 'createdAt'],
    documents: ['contents'],
    filled: ['tenantId', 'id', 'status', 'variables', 'createdAt'],
    nullable: ['publishedAt', 'publishedBy'],
    computed: [],
  },
  night_audit: {
    fields: ['tenantId', 'id', 'propertyId', 'businessDate', 'status', 'step', 'done', 'total', 'exceptions', 'exceptionCount', 'turn', 'leaseOwner', 'leaseUntil', 'startedBy', 'startedAt', 'finishedAt', 'error', 'version', 'createdAt', 'updatedAt'],
    documents: ['exceptions'],
    filled: ['tenantId', 'id', 'status', 'done', 'total', 'exceptions', 'exceptionCount', 'turn', 'version', 'createdAt', 'updatedAt'],
    nullable: ['step', 'leaseOwner', 'leaseUntil', 'startedBy', 'startedAt', 'finishedAt', 'error'],
    computed: [],
  },
  night_audit_checkpoint: {
    fields: ['tenantId', 'nightAuditId', 'step', 'lastId', 'done', 'finishedAt'],
    documents: [],
    filled: ['tenantId', 'done'],
    nullable: ['lastId', 'finishedAt'],
    computed: [],
  },
  night_fact: {
    fields: ['tenantId', 'id', 'propertyId', 'businessDate', 'stayDate', 'reservationId', 'kind', 'sourceType', 'sourceId', 'unitTypeId', 'ratePlanId', 'marketSegment', 'source', 'channelConnectionId', 'companyId', 'agencyId', 'groupId', 'countryCode', 'unitNights', 'adults', 'children', 'free', 'roomRevenue', 'includedTax', 'commission'],
    documents: [],
    filled: ['tenantId', 'id', 'commission'],
    nullable: ['reservationId', 'unitTypeId', 'ratePlanId', 'marketSegment', 'source', 'channelConnectionId', 'companyId', 'agencyId', 'groupId', 'countryCode'],
    computed: [],
  },
  night_sum: {
    fields: ['tenantId', 'id', 'propertyId', 'dimension', 'businessDate', 'key', 'gap', 'sold', 'complimentary', 'houseUse', 'adults', 'children', 'roomRevenue', 'includedTax', 'commission', 'bookings'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  notice: {
    fields: ['id', 'tenantId', 'kind', 'reference', 'house', 'key', 'day', 'money', 'createdAt'],
    documents: [],
    filled: ['id', 'createdAt'],
    nullable: ['key', 'day', 'money'],
    computed: [],
  },
  number_jump: {
    fields: ['tenantId', 'id', 'seriesId', 'fromNumber', 'toNumber', 'reason', 'createdBy', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  number_series: {
    fields: ['tenantId', 'id', 'bookId', 'kind', 'scopeId', 'year', 'prefix', 'next', 'skipped', 'version', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'prefix', 'next', 'skipped', 'version', 'createdAt'],
    nullable: ['scopeId', 'year'],
    computed: [],
  },
  on_the_books_change: {
    fields: ['tenantId', 'id', 'propertyId', 'stayDate', 'changedOn', 'reservationId', 'unitTypeId', 'ratePlanId', 'marketSegment', 'source', 'channelConnectionId', 'companyId', 'agencyId', 'groupId', 'unitNights', 'roomRevenue', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['channelConnectionId', 'companyId', 'agencyId', 'groupId'],
    computed: [],
  },
  on_the_books_sum: {
    fields: ['tenantId', 'propertyId', 'dimension', 'span', 'stayDate', 'changedOn', 'key', 'unitNights', 'roomRevenue'],
    documents: [],
    filled: ['tenantId'],
    nullable: [],
    computed: [],
  },
  on_the_books_waiting: {
    fields: ['tenantId', 'id', 'propertyId', 'stayDate', 'changedOn', 'unitTypeId', 'marketSegment', 'channelConnectionId', 'unitNights', 'roomRevenue'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: ['channelConnectionId'],
    computed: [],
  },
  one_time_token: {
    fields: ['id', 'purpose', 'userId', 'tenantId', 'data', 'expiresAt', 'usedAt', 'createdAt'],
    documents: ['data'],
    filled: ['id', 'data', 'createdAt'],
    nullable: ['tenantId', 'usedAt'],
    computed: [],
  },
  outlet: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'kind', 'locationId', 'roomCharge', 'serviceChargeRate', 'position', 'status', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'roomCharge', 'serviceChargeRate', 'position', 'status', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  outlet_price: {
    fields: ['tenantId', 'id', 'outletId', 'code', 'name', 'itemId', 'recipeId', 'quantity', 'amount', 'revenueGroup', 'locationId', 'validFrom', 'validTo', 'weekDays', 'timeFrom', 'timeTo', 'position', 'status', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'quantity', 'position', 'status', 'createdAt', 'updatedAt'],
    nullable: ['itemId', 'recipeId', 'locationId', 'validFrom', 'validTo', 'weekDays', 'timeFrom', 'timeTo'],
    computed: [],
  },
  password_request: {
    fields: ['id', 'email', 'createdAt'],
    documents: [],
    filled: ['id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  payable: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'supplierId', 'payeeName', 'payeeDocument', 'payeeKey', 'kind', 'number', 'series', 'fiscalKey', 'issuedOn', 'postingOn', 'currency', 'gross', 'withheld', 'total', 'settled', 'open', 'status', 'onHold', 'holdReason', 'source', 'sourceKey', 'policyNumber', 'approvalsNeeded', 'approvalsGiven', 'approvalRoles', 'round', 'matchExceptions', 'costCenterId', 'notes', 'createdBy', 'editedBy', 'submittedBy', 'postedAt', 'endedAt', 'voidedOn', 'voidReason', 'version', 'createdAt', 'updatedAt', 'editors', 'codeAuthors'],
    documents: ['matchExceptions'],
    filled: ['tenantId', 'id', 'series', 'withheld', 'settled', 'status', 'onHold', 'source', 'approvalsNeeded', 'approvalsGiven', 'approvalRoles', 'round', 'matchExceptions', 'notes', 'version', 'createdAt', 'updatedAt', 'editors', 'codeAuthors'],
    nullable: ['propertyId', 'supplierId', 'payeeName', 'payeeDocument', 'number', 'fiscalKey', 'holdReason', 'sourceKey', 'policyNumber', 'costCenterId', 'createdBy', 'editedBy', 'submittedBy', 'postedAt', 'endedAt', 'voidedOn', 'voidReason'],
    computed: ['open'],
  },
  payable_approval: {
    fields: ['tenantId', 'id', 'payableId', 'round', 'userId', 'decision', 'note', 'selfApproved', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'selfApproved', 'createdAt'],
    nullable: ['note'],
    computed: [],
  },
  payable_fact: {
    fields: ['tenantId', 'id', 'payableId', 'installmentId', 'datedOn', 'type', 'sourceId', 'amount', 'position', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'position', 'createdAt'],
    nullable: [],
    computed: [],
  },
  payable_history: {
    fields: ['tenantId', 'id', 'payableId', 'command', 'fromStatus', 'toStatus', 'changes', 'reason', 'actor', 'requestId', 'position', 'createdAt'],
    documents: ['changes', 'actor'],
    filled: ['tenantId', 'id', 'changes', 'position', 'createdAt'],
    nullable: ['fromStatus', 'reason', 'requestId'],
    computed: [],
  },
  payable_installment: {
    fields: ['tenantId', 'id', 'payableId', 'seq', 'dueOn', 'amount', 'settled', 'open', 'versions', 'boletoLine', 'pixCode', 'replannedSince'],
    documents: ['versions'],
    filled: ['tenantId', 'id', 'settled', 'versions'],
    nullable: ['boletoLine', 'pixCode'],
    computed: ['open', 'replannedSince'],
  },
  payable_line: {
    fields: ['tenantId', 'id', 'payableId', 'lineNo', 'description', 'accountId', 'purchaseOrderLineId', 'inventoryMovementLineId', 'quantity', 'baseQuantity', 'amount', 'costCenterId', 'propertyId', 'receivedValue', 'variance', 'taken'],
    documents: ['taken'],
    filled: ['tenantId', 'id', 'taken'],
    nullable: ['accountId', 'purchaseOrderLineId', 'inventoryMovementLineId', 'quantity', 'baseQuantity', 'costCenterId', 'propertyId', 'receivedValue', 'variance'],
    computed: [],
  },
  payable_payment: {
    fields: ['tenantId', 'id', 'bookId', 'method', 'cashAccountId', 'creditId', 'payOn', 'currency', 'total', 'status', 'reference', 'note', 'createdBy', 'approvedBy', 'selfApproved', 'approvedAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'reference', 'note', 'selfApproved', 'version', 'createdAt', 'updatedAt'],
    nullable: ['cashAccountId', 'creditId', 'approvedBy', 'approvedAt'],
    computed: [],
  },
  payable_payment_item: {
    fields: ['tenantId', 'id', 'payablePaymentId', 'position', 'payableId', 'installmentId', 'supplierId', 'payeeName', 'payeeDocument', 'payeeKey', 'purchaseOrderId', 'propertyId', 'principal', 'interest', 'fine', 'discount', 'cash', 'status', 'destination', 'creditId', 'cashTransferId', 'cashMovementId', 'refundMovementId', 'failure', 'paidOn', 'reversedOn', 'version', 'createdAt', 'updatedAt'],
    documents: ['failure'],
    filled: ['tenantId', 'id', 'interest', 'fine', 'discount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['payableId', 'installmentId', 'supplierId', 'payeeName', 'payeeDocument', 'purchaseOrderId', 'propertyId', 'destination', 'creditId', 'cashTransferId', 'cashMovementId', 'refundMovementId', 'failure', 'paidOn', 'reversedOn'],
    computed: ['cash'],
  },
  payable_withholding: {
    fields: ['tenantId', 'id', 'payableId', 'taxCodeId', 'code', 'base', 'rate', 'amount', 'collectedById', 'rateGiven'],
    documents: [],
    filled: ['tenantId', 'id', 'rateGiven'],
    nullable: ['collectedById'],
    computed: [],
  },
  payment: {
    fields: ['tenantId', 'id', 'origin', 'channel', 'mode', 'method', 'gatewayAccountId', 'propertyId', 'targetType', 'targetId', 'amount', 'currency', 'status', 'authorisedAmount', 'capturedAmount', 'refundReserved', 'refundedAmount', 'disputedAmount', 'allocatedAmount', 'feeAmount', 'platformFeeAmount', 'netAmount', 'platformFeeRate', 'installments', 'externalId', 'submission', 'action', 'failure', 'payer', 'payerIndex', 'description', 'reference', 'note', 'expiresAt', 'authorisationExpiresAt', 'capturedAt', 'endedAt', 'businessDate', 'captureRequested', 'sentAt', 'cancelRequestedAt', 'supersededById', 'late', 'nextReadAt', 'readCount', 'version', 'createdAt', 'updatedAt', 'paymentMethodId', 'linkId', 'declines', 'endNearedAt', 'linkSentAt', 'unallocatedTold', 'cashAccountId', 'cashSessionId', 'overReturned', 'overWrittenOff', 'captureRefusals', 'declineRef'],
    documents: ['failure'],
    filled: ['tenantId', 'id', 'origin', 'mode', 'status', 'authorisedAmount', 'capturedAmount', 'refundReserved', 'refundedAmount', 'disputedAmount', 'allocatedAmount', 'platformFeeRate', 'installments', 'late', 'readCount', 'version', 'createdAt', 'updatedAt', 'declines', 'unallocatedTold', 'overReturned', 'overWrittenOff', 'captureRefusals'],
    nullable: ['gatewayAccountId', 'targetType', 'targetId', 'feeAmount', 'platformFeeAmount', 'netAmount', 'externalId', 'submission', 'action', 'failure', 'payer', 'payerIndex', 'description', 'reference', 'note', 'expiresAt', 'authorisationExpiresAt', 'capturedAt', 'endedAt', 'businessDate', 'captureRequested', 'sentAt', 'cancelRequestedAt', 'supersededById', 'nextReadAt', 'paymentMethodId', 'linkId', 'endNearedAt', 'linkSentAt', 'cashAccountId', 'cashSessionId', 'declineRef'],
    computed: [],
  },
  payment_allocation: {
    fields: ['tenantId', 'id', 'paymentId', 'targetType', 'targetId', 'amount', 'reversesId', 'seq', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'seq', 'createdAt'],
    nullable: ['reversesId'],
    computed: [],
  },
  payment_exception: {
    fields: ['tenantId', 'id', 'kind', 'propertyId', 'subjectType', 'subjectId', 'amount', 'expectedAmount', 'currency', 'status', 'resolution', 'reason', 'resolvedBy', 'resolvedAt', 'automatic', 'version', 'createdAt', 'updatedAt', 'gatewayAccountId', 'reconciliationId'],
    documents: ['resolvedBy'],
    filled: ['tenantId', 'id', 'status', 'automatic', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'expectedAmount', 'resolution', 'reason', 'resolvedBy', 'resolvedAt', 'gatewayAccountId', 'reconciliationId'],
    computed: [],
  },
  payment_history: {
    fields: ['tenantId', 'id', 'paymentId', 'seq', 'status', 'at', 'actor', 'cause'],
    documents: ['actor'],
    filled: ['tenantId', 'id', 'seq', 'at'],
    nullable: [],
    computed: [],
  },
  payment_method: {
    fields: ['tenantId', 'id', 'gatewayAccountId', 'guestId', 'customerId', 'bookingId', 'status', 'brand', 'last4', 'expMonth', 'expYear', 'fingerprint', 'externalId', 'externalCustomerId', 'setupId', 'consentAt', 'consentTextVersion', 'consentAddressHash', 'submission', 'action', 'failure', 'sentAt', 'nextReadAt', 'readCount', 'version', 'createdAt', 'updatedAt'],
    documents: ['failure'],
    filled: ['tenantId', 'id', 'status', 'consentAt', 'readCount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['guestId', 'customerId', 'bookingId', 'brand', 'last4', 'expMonth', 'expYear', 'fingerprint', 'externalId', 'externalCustomerId', 'setupId', 'consentAddressHash', 'submission', 'action', 'failure', 'sentAt', 'nextReadAt'],
    computed: [],
  },
  payout: {
    fields: ['tenantId', 'id', 'gatewayAccountId', 'externalId', 'amount', 'currency', 'status', 'arrivesOn', 'complete', 'difference', 'failure', 'createdOn', 'paidAt', 'version', 'createdAt', 'updatedAt'],
    documents: ['failure'],
    filled: ['tenantId', 'id', 'complete', 'version', 'createdAt', 'updatedAt'],
    nullable: ['arrivesOn', 'difference', 'failure', 'paidAt'],
    computed: [],
  },
  pix_charge: {
    fields: ['tenantId', 'id', 'cashAccountId', 'bookId', 'propertyId', 'pixKeyId', 'kind', 'amount', 'currency', 'txid', 'targetType', 'targetId', 'installmentId', 'payer', 'dueOn', 'graceDays', 'fineRate', 'monthlyInterestRate', 'discounts', 'expiresAt', 'text', 'merchantName', 'merchantCity', 'brCode', 'location', 'paid', 'receivedCount', 'status', 'failure', 'endsAt', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: ['discounts', 'failure'],
    filled: ['tenantId', 'id', 'fineRate', 'monthlyInterestRate', 'discounts', 'text', 'paid', 'receivedCount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'pixKeyId', 'amount', 'targetType', 'targetId', 'installmentId', 'payer', 'dueOn', 'graceDays', 'expiresAt', 'brCode', 'location', 'failure', 'endsAt', 'createdBy'],
    computed: [],
  },
  pix_connection: {
    fields: ['tenantId', 'id', 'cashAccountId', 'provider', 'credentials', 'hook', 'hookHash', 'status', 'lastSyncedAt', 'nextSyncAt', 'lastError', 'failingSince', 'version', 'createdAt', 'updatedAt', 'baseUrl', 'tokenUrl'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'nextSyncAt', 'version', 'createdAt', 'updatedAt'],
    nullable: ['lastSyncedAt', 'lastError', 'failingSince', 'baseUrl', 'tokenUrl'],
    computed: [],
  },
  pix_key: {
    fields: ['tenantId', 'id', 'cashAccountId', 'type', 'value', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  pix_receipt: {
    fields: ['tenantId', 'id', 'cashAccountId', 'cashMovementId', 'pixChargeId', 'endToEndId', 'txid', 'amount', 'currency', 'payer', 'providerTime', 'claimedByType', 'claimedById', 'returned', 'returnReserved', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'returned', 'returnReserved', 'version', 'createdAt', 'updatedAt'],
    nullable: ['pixChargeId', 'txid', 'payer'],
    computed: [],
  },
  pix_return: {
    fields: ['tenantId', 'id', 'pixReceiptId', 'returnCode', 'requestedByType', 'requestedById', 'amount', 'origin', 'status', 'reason', 'failure', 'movementId', 'documentId', 'nextReadAt', 'readCount', 'version', 'createdAt', 'updatedAt'],
    documents: ['failure'],
    filled: ['tenantId', 'id', 'reason', 'readCount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['requestedByType', 'requestedById', 'failure', 'movementId', 'documentId', 'nextReadAt'],
    computed: [],
  },
  plan_version: {
    fields: ['id', 'plan', 'number', 'features', 'prices', 'platformFeeRate', 'effectiveFrom', 'note', 'createdBy', 'createdAt'],
    documents: ['features', 'prices'],
    filled: ['id', 'platformFeeRate', 'effectiveFrom', 'note', 'createdAt'],
    nullable: ['createdBy'],
    computed: [],
  },
  platform_count: {
    fields: ['list', 'seq', 'status', 'plan', 'day', 'n', 'folded', 'feature'],
    documents: [],
    filled: ['seq', 'folded'],
    nullable: ['status', 'plan', 'day', 'feature'],
    computed: [],
  },
  policy: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'kind', 'status', 'currentVersion', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'currentVersion', 'version', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  policy_version: {
    fields: ['tenantId', 'id', 'policyId', 'number', 'rules', 'hash', 'createdBy', 'createdAt'],
    documents: ['rules'],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['createdBy'],
    computed: [],
  },
  pool_night: {
    fields: ['tenantId', 'id', 'poolId', 'night', 'capacity', 'sold', 'held', 'allotted', 'blocked', 'oversell', 'forced'],
    documents: [],
    filled: ['tenantId', 'id', 'sold', 'held', 'allotted', 'blocked', 'oversell', 'forced'],
    nullable: [],
    computed: [],
  },
  pos_order: {
    fields: ['tenantId', 'id', 'propertyId', 'outletId', 'number', 'externalId', 'businessDate', 'status', 'table', 'covers', 'reservationId', 'unitId', 'currency', 'serviceCharge', 'serviceChargeRate', 'discount', 'discountReason', 'note', 'subtotal', 'serviceChargeAmount', 'total', 'paidAmount', 'openedBy', 'closedBy', 'closedAt', 'cancelReason', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'covers', 'serviceCharge', 'discount', 'subtotal', 'serviceChargeAmount', 'total', 'paidAmount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['externalId', 'table', 'reservationId', 'unitId', 'discountReason', 'note', 'openedBy', 'closedBy', 'closedAt', 'cancelReason'],
    computed: [],
  },
  pos_order_line: {
    fields: ['tenantId', 'id', 'orderId', 'position', 'priceCode', 'name', 'quantity', 'unitAmount', 'amount', 'discountShare', 'revenueGroup', 'itemId', 'recipeId', 'perUnit', 'locationId', 'note', 'status', 'voidReason', 'wasted'],
    documents: [],
    filled: ['tenantId', 'id', 'discountShare', 'status', 'wasted'],
    nullable: ['itemId', 'recipeId', 'note', 'voidReason'],
    computed: [],
  },
  pos_order_number: {
    fields: ['tenantId', 'id', 'outletId', 'date', 'last'],
    documents: [],
    filled: ['tenantId', 'id', 'last'],
    nullable: [],
    computed: [],
  },
  pos_settlement: {
    fields: ['tenantId', 'id', 'orderId', 'position', 'type', 'folioLineIds', 'paymentId', 'reason', 'amount', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'position', 'folioLineIds', 'createdAt'],
    nullable: ['paymentId', 'reason'],
    computed: [],
  },
  posting_event: {
    fields: ['tenantId', 'id', 'seq', 'bookId', 'propertyId', 'event', 'sourceId', 'sourceSeq', 'dated', 'postingDate', 'periodId', 'reversesEventId', 'payload', 'status', 'attempts', 'nextAt', 'errorCode', 'errorMessage', 'ruleIds', 'entryId', 'dismissReason', 'replacingEntryId', 'createdAt', 'journalKind'],
    documents: ['payload'],
    filled: ['tenantId', 'id', 'sourceSeq', 'payload', 'status', 'attempts', 'ruleIds', 'createdAt'],
    nullable: ['propertyId', 'reversesEventId', 'nextAt', 'errorCode', 'errorMessage', 'entryId', 'dismissReason', 'replacingEntryId', 'journalKind'],
    computed: [],
  },
  posting_rule: {
    fields: ['tenantId', 'id', 'bookId', 'event', 'line', 'match', 'matchKey', 'accountId', 'costCenterId', 'validFrom', 'validTo', 'version', 'createdAt', 'updatedAt'],
    documents: ['match'],
    filled: ['tenantId', 'id', 'match', 'version', 'createdAt', 'updatedAt'],
    nullable: ['costCenterId', 'validTo'],
    computed: ['matchKey'],
  },
  price_tax_sum: {
    fields: ['tenantId', 'id', 'propertyId', 'date', 'code', 'rule', 'base', 'tax'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  privacy_checkpoint: {
    fields: ['tenantId', 'id', 'requestId', 'tableName', 'done', 'rowCount'],
    documents: [],
    filled: ['tenantId', 'id', 'done', 'rowCount'],
    nullable: [],
    computed: [],
  },
  privacy_request: {
    fields: ['tenantId', 'id', 'guestId', 'kind', 'status', 'channel', 'receivedAt', 'dueOn', 'sealed', 'identityMethod', 'planHash', 'createdBy', 'decidedBy', 'decidedAt', 'legalBasis', 'reason', 'certificate', 'certificateToken', 'exportBlobId', 'exportUntil', 'nearedAt', 'passedAt', 'completedAt', 'version', 'createdAt', 'updatedAt', 'guestIds'],
    documents: ['createdBy', 'certificate'],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt', 'guestIds'],
    nullable: ['sealed', 'identityMethod', 'planHash', 'decidedBy', 'decidedAt', 'legalBasis', 'reason', 'certificate', 'certificateToken', 'exportBlobId', 'exportUntil', 'nearedAt', 'passedAt', 'completedAt'],
    computed: [],
  },
  promo_code: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'type', 'value', 'ratePlanIds', 'unitTypeIds', 'bookableFrom', 'bookableUntil', 'stayFrom', 'stayUntil', 'minNights', 'maxRedemptions', 'maxPerBooker', 'redeemed', 'status', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'ratePlanIds', 'unitTypeIds', 'redeemed', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['bookableFrom', 'bookableUntil', 'stayFrom', 'stayUntil', 'minNights', 'maxRedemptions', 'maxPerBooker'],
    computed: [],
  },
  property: {
    fields: ['tenantId', 'id', 'code', 'slug', 'name', 'description', 'kind', 'status', 'timezone', 'currency', 'locales', 'address', 'latitude', 'longitude', 'phone', 'email', 'website', 'legalName', 'legalDocument', 'registryNumber', 'bookId', 'checkInFrom', 'checkInUntil', 'checkOutUntil', 'cleaningMinutes', 'amenities', 'houseRules', 'businessDate', 'publicVersion', 'settings', 'version', 'createdAt', 'updatedAt'],
    documents: ['description', 'address', 'houseRules', 'settings'],
    filled: ['tenantId', 'id', 'description', 'status', 'address', 'cleaningMinutes', 'amenities', 'houseRules', 'publicVersion', 'settings', 'version', 'createdAt', 'updatedAt'],
    nullable: ['latitude', 'longitude', 'phone', 'email', 'website', 'legalName', 'legalDocument', 'registryNumber', 'checkInFrom', 'checkInUntil', 'checkOutUntil', 'businessDate'],
    computed: [],
  },
  property_day: {
    fields: ['tenantId', 'propertyId', 'date', 'unitTypeId', 'units', 'outOfOrder', 'outOfService'],
    documents: [],
    filled: ['tenantId'],
    nullable: [],
    computed: [],
  },
  property_day_count: {
    fields: ['tenantId', 'propertyId', 'date', 'arrivals', 'departures', 'stayOvers', 'walkIns', 'noShows', 'cancellations', 'bookings', 'guestsInHouse', 'overbooked', 'conditions', 'tasks'],
    documents: ['conditions', 'tasks'],
    filled: ['tenantId'],
    nullable: [],
    computed: [],
  },
  property_directory: {
    fields: ['propertyId', 'tenantId', 'slug', 'status', 'publicVersion'],
    documents: [],
    filled: [],
    nullable: [],
    computed: [],
  },
  property_payment_method: {
    fields: ['tenantId', 'id', 'propertyId', 'method', 'offeredTo', 'position', 'gatewayAccountId', 'minDaysBeforeArrival', 'maxAmount', 'maxInstallments', 'instructions'],
    documents: ['instructions'],
    filled: ['tenantId', 'id', 'position', 'minDaysBeforeArrival', 'maxInstallments', 'instructions'],
    nullable: ['gatewayAccountId', 'maxAmount'],
    computed: [],
  },
  provider_gate: {
    fields: ['gate', 'provider', 'tenantId', 'state', 'closedAt', 'closedUntil', 'reason', 'failures', 'closures', 'probeJobId', 'probeUntil', 'ratePerSecond', 'milliTokens', 'tokensAt', 'lastSuccessAt', 'lastFailureAt', 'updatedAt'],
    documents: [],
    filled: ['state', 'failures', 'closures', 'milliTokens', 'tokensAt', 'updatedAt'],
    nullable: ['tenantId', 'closedAt', 'closedUntil', 'reason', 'probeJobId', 'probeUntil', 'ratePerSecond', 'lastSuccessAt', 'lastFailureAt'],
    computed: [],
  },
  purchase_order: {
    fields: ['tenantId', 'id', 'number', 'supplierId', 'propertyId', 'bookId', 'locationId', 'expectedOn', 'currency', 'total', 'notes', 'status', 'createdBy', 'editedBy', 'approvedBy', 'selfApproved', 'approvedAt', 'sentAt', 'closeReason', 'version', 'createdAt', 'updatedAt', 'editors'],
    documents: [],
    filled: ['tenantId', 'id', 'notes', 'status', 'selfApproved', 'version', 'createdAt', 'updatedAt', 'editors'],
    nullable: ['number', 'locationId', 'expectedOn', 'approvedBy', 'approvedAt', 'sentAt', 'closeReason'],
    computed: [],
  },
  purchase_order_line: {
    fields: ['tenantId', 'id', 'purchaseOrderId', 'lineNo', 'inventoryItemId', 'measure', 'numerator', 'denominator', 'description', 'accountId', 'entered', 'quantity', 'unitPrice', 'amount', 'received', 'billed'],
    documents: [],
    filled: ['tenantId', 'id', 'numerator', 'denominator', 'received', 'billed'],
    nullable: ['inventoryItemId', 'measure', 'accountId'],
    computed: [],
  },
  purchase_receipt: {
    fields: ['tenantId', 'id', 'purchaseOrderLineId', 'movementLineId', 'quantity', 'value', 'billed', 'billedValue', 'position', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'billed', 'billedValue', 'position', 'createdAt'],
    nullable: [],
    computed: [],
  },
  queue_control: {
    fields: ['id', 'scope', 'queue', 'kind', 'tenantId', 'provider', 'paused', 'until', 'reason', 'actor', 'createdAt'],
    documents: ['actor'],
    filled: ['id', 'paused', 'createdAt'],
    nullable: ['queue', 'kind', 'tenantId', 'provider', 'until'],
    computed: [],
  },
  queue_minute: {
    fields: ['minute', 'queue', 'done', 'failed', 'pending', 'running', 'dead', 'oldestSeconds'],
    documents: [],
    filled: ['done', 'failed', 'pending', 'running', 'dead', 'oldestSeconds'],
    nullable: [],
    computed: [],
  },
  queue_total: {
    fields: ['queue', 'class', 'pending', 'waiting', 'dispatched', 'running', 'dead', 'oldestAt', 'measuredAt'],
    documents: [],
    filled: [],
    nullable: ['oldestAt'],
    computed: [],
  },
  quote: {
    fields: ['tenantId', 'id', 'propertyId', 'number', 'guestId', 'companyId', 'rooms', 'currency', 'total', 'dueNow', 'promoCode', 'promoCodeId', 'locale', 'hash', 'arrival', 'departure', 'override', 'expiresAt', 'createdAt'],
    documents: ['rooms', 'override'],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['guestId', 'companyId', 'promoCode', 'promoCodeId', 'override'],
    computed: [],
  },
  rate_cell: {
    fields: ['tenantId', 'ratePlanId', 'unitTypeId', 'date', 'amount'],
    documents: [],
    filled: ['tenantId'],
    nullable: [],
    computed: [],
  },
  rate_change: {
    fields: ['tenantId', 'id', 'propertyId', 'status', 'note', 'items', 'cellCount', 'skippedCount', 'revertsId', 'createdBy', 'appliedAt', 'error', 'version', 'createdAt', 'updatedAt', 'seq'],
    documents: ['items'],
    filled: ['tenantId', 'id', 'note', 'skippedCount', 'version', 'createdAt', 'updatedAt', 'seq'],
    nullable: ['revertsId', 'createdBy', 'appliedAt', 'error'],
    computed: [],
  },
  rate_change_level: {
    fields: ['tenantId', 'id', 'rateChangeId', 'position', 'kind', 'ratePlanId', 'unitTypeId', 'dates', 'before', 'after', 'skipped'],
    documents: ['before', 'after'],
    filled: ['tenantId', 'id', 'skipped'],
    nullable: ['ratePlanId', 'unitTypeId'],
    computed: [],
  },
  rate_plan: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'description', 'status', 'parentId', 'derivation', 'inheritRestrictions', 'marketSegment', 'mealPlan', 'includedExtras', 'cancellationPolicyId', 'noShowPolicyId', 'depositPolicyId', 'cancellationKind', 'noShowKind', 'depositKind', 'visibility', 'bookableFrom', 'bookableUntil', 'stayFrom', 'stayUntil', 'minAdvanceDays', 'maxAdvanceDays', 'minNights', 'maxNights', 'losDiscounts', 'version', 'createdAt', 'updatedAt'],
    documents: ['name', 'description', 'derivation', 'includedExtras', 'losDiscounts'],
    filled: ['tenantId', 'id', 'description', 'status', 'inheritRestrictions', 'marketSegment', 'mealPlan', 'includedExtras', 'visibility', 'losDiscounts', 'version', 'createdAt', 'updatedAt'],
    nullable: ['parentId', 'derivation', 'depositPolicyId', 'bookableFrom', 'bookableUntil', 'stayFrom', 'stayUntil', 'minAdvanceDays', 'maxAdvanceDays', 'minNights', 'maxNights'],
    computed: ['cancellationKind', 'noShowKind', 'depositKind'],
  },
  rate_plan_unit_type: {
    fields: ['tenantId', 'id', 'ratePlanId', 'unitTypeId', 'standardAmount', 'adults', 'extraAdultAmount', 'children'],
    documents: ['adults', 'children'],
    filled: ['tenantId', 'id', 'adults', 'extraAdultAmount', 'children'],
    nullable: ['standardAmount'],
    computed: [],
  },
  receipt: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'customerId', 'sourceType', 'sourceId', 'method', 'cashAccountId', 'cashSessionId', 'cashMovementId', 'currency', 'amount', 'receivedOn', 'allocated', 'refundReserved', 'refunded', 'available', 'series', 'number', 'numberPrefix', 'payer', 'reference', 'search', 'status', 'reversedOn', 'reverseReason', 'createdBy', 'version', 'createdAt', 'updatedAt', 'overReturned', 'overWrittenOff'],
    documents: [],
    filled: ['tenantId', 'id', 'allocated', 'refundReserved', 'refunded', 'numberPrefix', 'reference', 'search', 'status', 'version', 'createdAt', 'updatedAt', 'overReturned', 'overWrittenOff'],
    nullable: ['propertyId', 'customerId', 'cashAccountId', 'cashSessionId', 'cashMovementId', 'series', 'number', 'payer', 'reversedOn', 'reverseReason', 'createdBy'],
    computed: ['available'],
  },
  receipt_allocation: {
    fields: ['tenantId', 'id', 'receiptId', 'datedOn', 'receivableId', 'installmentId', 'targetType', 'targetId', 'principal', 'interest', 'fine', 'discount', 'fee', 'withheld', 'withheldTotal', 'cash', 'reversesId', 'createdBy', 'position', 'createdAt'],
    documents: ['withheld'],
    filled: ['tenantId', 'id', 'interest', 'fine', 'discount', 'fee', 'withheld', 'withheldTotal', 'position', 'createdAt'],
    nullable: ['receivableId', 'installmentId', 'targetType', 'targetId', 'reversesId', 'createdBy'],
    computed: ['cash'],
  },
  receipt_refund: {
    fields: ['tenantId', 'id', 'receiptId', 'amount', 'via', 'status', 'requestedOn', 'endedOn', 'cashAccountId', 'cashTransferId', 'cashMovementId', 'pixReturnId', 'failure', 'reason', 'requestedBy', 'version', 'createdAt', 'updatedAt'],
    documents: ['failure'],
    filled: ['tenantId', 'id', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['endedOn', 'cashAccountId', 'cashTransferId', 'cashMovementId', 'pixReturnId', 'failure', 'requestedBy'],
    computed: [],
  },
  receivable: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'customerId', 'kind', 'billed', 'series', 'number', 'numberPrefix', 'issuedOn', 'postingOn', 'departedOn', 'currency', 'total', 'settled', 'credited', 'writtenOff', 'open', 'status', 'consolidatedIntoId', 'customerReference', 'notes', 'dunningPausedUntil', 'promisedOn', 'creditOverrideBy', 'creditOverrideReason', 'sentAt', 'sentTo', 'costCenterId', 'createdBy', 'issuedBy', 'postedAt', 'voidedOn', 'voidReason', 'version', 'createdAt', 'updatedAt', 'editors'],
    documents: [],
    filled: ['tenantId', 'id', 'billed', 'numberPrefix', 'settled', 'credited', 'writtenOff', 'status', 'customerReference', 'notes', 'version', 'createdAt', 'updatedAt', 'editors'],
    nullable: ['propertyId', 'series', 'number', 'departedOn', 'consolidatedIntoId', 'dunningPausedUntil', 'promisedOn', 'creditOverrideBy', 'creditOverrideReason', 'sentAt', 'sentTo', 'costCenterId', 'createdBy', 'issuedBy', 'postedAt', 'voidedOn', 'voidReason'],
    computed: ['open'],
  },
  receivable_fact: {
    fields: ['tenantId', 'id', 'receivableId', 'installmentId', 'datedOn', 'type', 'sourceId', 'amount', 'position', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'position', 'createdAt'],
    nullable: [],
    computed: [],
  },
  receivable_history: {
    fields: ['tenantId', 'id', 'receivableId', 'command', 'fromStatus', 'toStatus', 'changes', 'reason', 'actor', 'requestId', 'position', 'createdAt'],
    documents: ['changes', 'actor'],
    filled: ['tenantId', 'id', 'changes', 'position', 'createdAt'],
    nullable: ['fromStatus', 'reason', 'requestId'],
    computed: [],
  },
  receivable_installment: {
    fields: ['tenantId', 'id', 'receivableId', 'seq', 'dueOn', 'amount', 'settled', 'credited', 'writtenOff', 'open', 'versions', 'replannedSince'],
    documents: ['versions'],
    filled: ['tenantId', 'id', 'settled', 'credited', 'writtenOff', 'versions'],
    nullable: [],
    computed: ['open', 'replannedSince'],
  },
  receivable_line: {
    fields: ['tenantId', 'id', 'receivableId', 'lineNo', 'description', 'quantity', 'unitAmount', 'amount', 'accountId', 'folioId', 'fromReceivableId', 'live', 'taxCodeId', 'taxAmount', 'propertyId', 'costCenterId'],
    documents: [],
    filled: ['tenantId', 'id', 'quantity', 'live', 'taxAmount'],
    nullable: ['accountId', 'folioId', 'fromReceivableId', 'taxCodeId', 'propertyId', 'costCenterId'],
    computed: [],
  },
  receivable_sending: {
    fields: ['tenantId', 'id', 'receivableId', 'channels', 'sealed', 'withPix', 'pixUntil', 'status', 'messageIds', 'sentAt', 'createdBy', 'position', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'withPix', 'status', 'messageIds', 'position', 'version', 'createdAt', 'updatedAt'],
    nullable: ['sealed', 'pixUntil', 'sentAt', 'createdBy'],
    computed: [],
  },
  receivable_settings: {
    fields: ['tenantId', 'id', 'bookId', 'dunningEnabled', 'dunningSteps', 'dunningMinimum', 'dunningHour', 'fineRate', 'monthlyInterestRate', 'fiscalAdapter', 'fiscalAutomatic', 'fiscalCodes', 'issRate', 'fiscalCredentials', 'badDebtAccountId', 'allowanceAccountId', 'version', 'createdAt', 'updatedAt'],
    documents: ['dunningSteps', 'fiscalCodes'],
    filled: ['tenantId', 'id', 'dunningEnabled', 'dunningSteps', 'dunningMinimum', 'dunningHour', 'fineRate', 'monthlyInterestRate', 'fiscalAdapter', 'fiscalAutomatic', 'fiscalCodes', 'issRate', 'version', 'createdAt', 'updatedAt'],
    nullable: ['fiscalCredentials', 'badDebtAccountId', 'allowanceAccountId'],
    computed: [],
  },
  recipe: {
    fields: ['tenantId', 'id', 'code', 'name', 'kind', 'outputItemId', 'rules', 'currentVersion', 'status', 'version', 'createdAt', 'updatedAt'],
    documents: ['rules'],
    filled: ['tenantId', 'id', 'rules', 'currentVersion', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['outputItemId'],
    computed: [],
  },
  recipe_component: {
    fields: ['tenantId', 'id', 'versionId', 'position', 'itemId', 'recipeId', 'quantity', 'measure', 'baseQuantity', 'lossRate'],
    documents: [],
    filled: ['tenantId', 'id', 'lossRate'],
    nullable: ['itemId', 'recipeId'],
    computed: [],
  },
  recipe_version: {
    fields: ['tenantId', 'id', 'recipeId', 'number', 'yield', 'createdBy', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['createdBy'],
    computed: [],
  },
  reconciliation: {
    fields: ['tenantId', 'id', 'gatewayAccountId', 'date', 'status', 'provisional', 'openingBalance', 'net', 'closingBalance', 'counts', 'lastRunAt', 'version', 'createdAt', 'updatedAt'],
    documents: ['counts'],
    filled: ['tenantId', 'id', 'status', 'provisional', 'counts', 'version', 'createdAt', 'updatedAt'],
    nullable: ['openingBalance', 'net', 'closingBalance', 'lastRunAt'],
    computed: [],
  },
  recovery_code: {
    fields: ['id', 'userId', 'codeHash', 'usedAt', 'createdAt'],
    documents: [],
    filled: ['id', 'createdAt'],
    nullable: ['usedAt'],
    computed: [],
  },
  recurring_payable: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'supplierId', 'name', 'template', 'every', 'unit', 'day', 'firstOn', 'endsOn', 'nextOn', 'made', 'leadDays', 'pausedUntil', 'submit', 'createdBy', 'version', 'createdAt', 'updatedAt', 'editors'],
    documents: ['template'],
    filled: ['tenantId', 'id', 'every', 'made', 'leadDays', 'submit', 'version', 'createdAt', 'updatedAt', 'editors'],
    nullable: ['propertyId', 'supplierId', 'day', 'endsOn', 'nextOn', 'pausedUntil'],
    computed: [],
  },
  refund: {
    fields: ['tenantId', 'id', 'paymentId', 'gatewayAccountId', 'propertyId', 'amount', 'currency', 'reason', 'note', 'via', 'status', 'failure', 'requestedBy', 'externalId', 'sentAt', 'succeededAt', 'nextReadAt', 'readCount', 'version', 'createdAt', 'updatedAt', 'cashAccountId', 'cashSessionId'],
    documents: ['failure', 'requestedBy'],
    filled: ['tenantId', 'id', 'via', 'status', 'readCount', 'version', 'createdAt', 'updatedAt'],
    nullable: ['gatewayAccountId', 'note', 'failure', 'externalId', 'sentAt', 'succeededAt', 'nextReadAt', 'cashAccountId', 'cashSessionId'],
    computed: [],
  },
  registration_report: {
    fields: ['tenantId', 'id', 'registrationId', 'kind', 'formVersion', 'status', 'requestId', 'externalId', 'error', 'sentAt', 'answeredAt', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'requestId', 'version', 'createdAt', 'updatedAt'],
    nullable: ['externalId', 'error', 'sentAt', 'answeredAt'],
    computed: [],
  },
  registration_secret: {
    fields: ['tenantId', 'id', 'propertyId', 'sealed', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  relay_turn: {
    fields: ['queue', 'class', 'tenantId'],
    documents: [],
    filled: [],
    nullable: [],
    computed: [],
  },
  report_drift: {
    fields: ['tenantId', 'id', 'propertyId', 'report', 'from', 'to', 'foundAt'],
    documents: [],
    filled: ['tenantId', 'id', 'foundAt'],
    nullable: [],
    computed: [],
  },
  report_file: {
    fields: ['tenantId', 'id', 'reportRunId', 'part', 'bytes', 'size'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  report_notice: {
    fields: ['id', 'tenantId', 'report', 'name', 'createdAt'],
    documents: [],
    filled: ['createdAt'],
    nullable: [],
    computed: [],
  },
  report_run: {
    fields: ['tenantId', 'id', 'report', 'parameters', 'format', 'locale', 'status', 'createdBy', 'byKey', 'propertyIds', 'ledgerSequence', 'asOf', 'provisional', 'formulaVersion', 'rows', 'bytes', 'sha256', 'fileName', 'errorCode', 'errorMessage', 'startsOn', 'endsOn', 'startedAt', 'finishedAt', 'expiresAt', 'version', 'createdAt', 'updatedAt', 'scheduleId', 'slot', 'sharedWith', 'withheld'],
    documents: ['parameters'],
    filled: ['tenantId', 'id', 'parameters', 'status', 'byKey', 'rows', 'bytes', 'version', 'createdAt', 'updatedAt', 'sharedWith', 'withheld'],
    nullable: ['propertyIds', 'ledgerSequence', 'asOf', 'provisional', 'sha256', 'fileName', 'errorCode', 'errorMessage', 'startsOn', 'endsOn', 'startedAt', 'finishedAt', 'expiresAt', 'scheduleId', 'slot'],
    computed: [],
  },
  report_schedule: {
    fields: ['tenantId', 'id', 'name', 'report', 'parameters', 'format', 'locale', 'trigger', 'propertyId', 'recipients', 'ownerId', 'createdBy', 'active', 'nextRunAt', 'closedOn', 'lastRunId', 'failures', 'disabledBecause', 'version', 'createdAt', 'updatedAt'],
    documents: ['parameters', 'trigger'],
    filled: ['tenantId', 'id', 'parameters', 'active', 'failures', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'nextRunAt', 'closedOn', 'lastRunId', 'disabledBecause'],
    computed: [],
  },
  reservation: {
    fields: ['tenantId', 'id', 'bookingId', 'position', 'propertyId', 'status', 'unitTypeId', 'ratePlanId', 'arrival', 'departure', 'adults', 'childrenAges', 'primaryGuestId', 'policies', 'guarantee', 'currency', 'roomTotal', 'extrasTotal', 'taxTotal', 'total', 'arrivalTime', 'departureTime', 'purpose', 'marketSegment', 'requests', 'channelManaged', 'overbooked', 'actualCheckInAt', 'actualCheckOutAt', 'checkInBusinessDate', 'checkOutBusinessDate', 'confirmedAt', 'cancelReason', 'cancelledAt', 'feeAmount', 'feeRequestedAt', 'version', 'createdAt', 'updatedAt', 'postedTotal'],
    documents: ['policies'],
    filled: ['tenantId', 'id', 'childrenAges', 'guarantee', 'channelManaged', 'overbooked', 'version', 'createdAt', 'updatedAt', 'postedTotal'],
    nullable: ['primaryGuestId', 'arrivalTime', 'departureTime', 'purpose', 'requests', 'actualCheckInAt', 'actualCheckOutAt', 'checkInBusinessDate', 'checkOutBusinessDate', 'confirmedAt', 'cancelReason', 'cancelledAt', 'feeAmount', 'feeRequestedAt'],
    computed: [],
  },
  reservation_event: {
    fields: ['tenantId', 'id', 'reservationId', 'transition', 'command', 'from', 'to', 'changes', 'reason', 'override', 'actor', 'businessDate', 'at', 'requestId', 'propertyId'],
    documents: ['changes', 'override', 'actor'],
    filled: ['tenantId', 'id', 'changes', 'at'],
    nullable: ['from', 'reason', 'override', 'businessDate', 'propertyId'],
    computed: [],
  },
  reservation_extra: {
    fields: ['tenantId', 'id', 'reservationId', 'extraId', 'name', 'basis', 'quantity', 'from', 'until', 'unitAmount', 'amount', 'taxes', 'status', 'version', 'createdAt', 'updatedAt', 'chargedUntil', 'cut'],
    documents: ['taxes', 'cut'],
    filled: ['tenantId', 'id', 'taxes', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['chargedUntil', 'cut'],
    computed: [],
  },
  reservation_guest: {
    fields: ['tenantId', 'id', 'reservationId', 'guestId', 'role', 'age', 'responsibleId', 'kinship', 'authorisationDocumentId', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'version', 'createdAt', 'updatedAt'],
    nullable: ['age', 'responsibleId', 'kinship', 'authorisationDocumentId'],
    computed: [],
  },
  reservation_night: {
    fields: ['tenantId', 'id', 'reservationId', 'date', 'unitTypeId', 'ratePlanId', 'amount', 'taxes', 'components', 'status', 'commission', 'pickedUp'],
    documents: ['taxes', 'components'],
    filled: ['tenantId', 'id', 'taxes', 'components', 'status', 'pickedUp'],
    nullable: ['commission'],
    computed: [],
  },
  reservation_note: {
    fields: ['tenantId', 'id', 'reservationId', 'audience', 'alert', 'sealed', 'createdBy', 'createdAt'],
    documents: ['createdBy'],
    filled: ['tenantId', 'id', 'alert', 'createdAt'],
    nullable: [],
    computed: [],
  },
  restriction_cell: {
    fields: ['tenantId', 'id', 'propertyId', 'unitTypeId', 'ratePlanId', 'date', 'stopSell', 'closedToArrival', 'closedToDeparture', 'minStayArrival', 'maxStayArrival', 'minStayThrough', 'maxStayThrough', 'minAdvanceDays', 'maxAdvanceDays'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: ['unitTypeId', 'ratePlanId', 'stopSell', 'closedToArrival', 'closedToDeparture', 'minStayArrival', 'maxStayArrival', 'minStayThrough', 'maxStayThrough', 'minAdvanceDays', 'maxAdvanceDays'],
    computed: [],
  },
  role: {
    fields: ['tenantId', 'id', 'key', 'name', 'description', 'permissions', 'version', 'createdAt', 'updatedAt'],
    documents: ['permissions'],
    filled: ['tenantId', 'id', 'description', 'version', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  sandbox_object: {
    fields: ['id', 'kind', 'accountRef', 'ourId', 'state', 'dueAt', 'createdAt'],
    documents: ['state'],
    filled: ['createdAt'],
    nullable: ['ourId', 'dueAt'],
    computed: [],
  },
  schedule: {
    fields: ['kind', 'everySeconds', 'cron', 'timeZone', 'backfill', 'nextAt', 'lastAt', 'misses', 'updatedAt'],
    documents: [],
    filled: ['timeZone', 'misses', 'updatedAt'],
    nullable: ['everySeconds', 'cron', 'lastAt'],
    computed: [],
  },
  season: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'colour'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  season_range: {
    fields: ['tenantId', 'id', 'seasonId', 'propertyId', 'from', 'to'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  session: {
    fields: ['id', 'userId', 'kind', 'tokenPrefix', 'generation', 'currentJtiHash', 'previousJtiHash', 'rotatedAt', 'epoch', 'activeTenantId', 'expiresAt', 'absoluteExpiresAt', 'reauthenticatedAt', 'mfaAt', 'lastSeenAt', 'firstIp', 'lastIp', 'userAgent', 'createdAt', 'revokedAt', 'revokeReason', 'version', 'changedAt', 'supportSessionId', 'supportMode', 'supportAsUserId'],
    documents: [],
    filled: ['id', 'kind', 'generation', 'lastSeenAt', 'userAgent', 'createdAt', 'version', 'changedAt'],
    nullable: ['previousJtiHash', 'rotatedAt', 'activeTenantId', 'reauthenticatedAt', 'mfaAt', 'firstIp', 'lastIp', 'revokedAt', 'revokeReason', 'supportSessionId', 'supportMode', 'supportAsUserId'],
    computed: [],
  },
  sign_in_failure: {
    fields: ['id', 'accountKey', 'network', 'address', 'at'],
    documents: [],
    filled: ['id', 'at'],
    nullable: [],
    computed: [],
  },
  statement_match: {
    fields: ['tenantId', 'id', 'lineId', 'cashMovementId', 'amount', 'made', 'createdBy', 'createdAt', 'undoneAt', 'undoneBy'],
    documents: [],
    filled: ['tenantId', 'id', 'made', 'createdAt'],
    nullable: ['createdBy', 'undoneAt', 'undoneBy'],
    computed: [],
  },
  stay_sum: {
    fields: ['tenantId', 'id', 'propertyId', 'dimension', 'date', 'key', 'arrivals', 'cancelled', 'noShows', 'leadDays', 'departed', 'departedNights'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  stay_sum_change: {
    fields: ['tenantId', 'id', 'propertyId', 'date'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  stay_sum_day: {
    fields: ['tenantId', 'id', 'propertyId', 'date'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  stranded_stay: {
    fields: ['tenantId', 'id', 'reservationId', 'unitPoolId', 'from', 'to', 'since'],
    documents: [],
    filled: ['tenantId', 'id', 'since'],
    nullable: [],
    computed: [],
  },
  subscription: {
    fields: ['tenantId', 'plan', 'planVersionId', 'anchorDay', 'periodStart', 'periodEnd', 'paymentMethod', 'action', 'pastDueSince', 'version', 'createdAt', 'updatedAt', 'methodRef', 'customerRef', 'cardToken', 'returnUrl', 'methodNo', 'formerPlanVersionId', 'planChangedAt'],
    documents: ['paymentMethod', 'action'],
    filled: ['version', 'createdAt', 'updatedAt', 'methodNo'],
    nullable: ['paymentMethod', 'action', 'pastDueSince', 'methodRef', 'customerRef', 'cardToken', 'returnUrl', 'formerPlanVersionId', 'planChangedAt'],
    computed: [],
  },
  subscription_invoice: {
    fields: ['id', 'tenantId', 'number', 'status', 'currency', 'periodStart', 'periodEnd', 'customer', 'total', 'issuedAt', 'dueOn', 'paidAt', 'paidOutside', 'voidedAt', 'reason', 'overdueAt'],
    documents: ['customer', 'paidOutside'],
    filled: ['id', 'issuedAt'],
    nullable: ['number', 'paidAt', 'paidOutside', 'voidedAt', 'reason', 'overdueAt'],
    computed: [],
  },
  subscription_invoice_line: {
    fields: ['id', 'tenantId', 'invoiceId', 'place', 'kind', 'subjectId', 'description', 'fromOn', 'toOn', 'quantity', 'unitPrice', 'amount', 'priceId'],
    documents: [],
    filled: ['id'],
    nullable: ['unitPrice', 'priceId'],
    computed: [],
  },
  subscription_item: {
    fields: ['id', 'tenantId', 'addOnId', 'priceId', 'startsAt', 'endsAt', 'usageBefore', 'usageAtEnd', 'boughtBy', 'endedBy'],
    documents: [],
    filled: ['id', 'startsAt', 'usageBefore'],
    nullable: ['endsAt', 'usageAtEnd', 'boughtBy', 'endedBy'],
    computed: [],
  },
  superuser_account: {
    fields: ['id', 'userId', 'level', 'grantedBy', 'reason', 'since', 'endedAt'],
    documents: [],
    filled: ['id', 'since'],
    nullable: ['grantedBy', 'endedAt'],
    computed: [],
  },
  supplier: {
    fields: ['tenantId', 'id', 'legalName', 'tradeName', 'countryCode', 'document', 'search', 'stateRegistration', 'cityRegistration', 'sealed', 'termDays', 'accountId', 'costCenterId', 'withholdingTaxCodeIds', 'paymentsBlocked', 'blockReason', 'status', 'notes', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'tradeName', 'countryCode', 'stateRegistration', 'cityRegistration', 'termDays', 'withholdingTaxCodeIds', 'paymentsBlocked', 'status', 'notes', 'version', 'createdAt', 'updatedAt'],
    nullable: ['document', 'sealed', 'accountId', 'costCenterId', 'blockReason'],
    computed: [],
  },
  supplier_bank_details: {
    fields: ['tenantId', 'id', 'supplierId', 'number', 'sealed', 'thirdPartyReason', 'status', 'proposedBy', 'decidedBy', 'decidedAt', 'usableFrom', 'selfApproved', 'note', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'selfApproved', 'createdAt'],
    nullable: ['thirdPartyReason', 'decidedBy', 'decidedAt', 'usableFrom', 'note'],
    computed: [],
  },
  supplier_credit: {
    fields: ['tenantId', 'id', 'bookId', 'propertyId', 'supplierId', 'payeeName', 'payeeDocument', 'payeeKey', 'kind', 'payableId', 'number', 'issuedOn', 'currency', 'amount', 'applied', 'refunded', 'available', 'lines', 'status', 'note', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: ['lines'],
    filled: ['tenantId', 'id', 'applied', 'refunded', 'lines', 'status', 'note', 'version', 'createdAt', 'updatedAt'],
    nullable: ['propertyId', 'supplierId', 'payeeName', 'payeeDocument', 'payableId', 'number', 'createdBy'],
    computed: ['available'],
  },
  supplier_credit_fact: {
    fields: ['tenantId', 'id', 'supplierCreditId', 'datedOn', 'type', 'sourceId', 'cashMovementId', 'amount', 'position', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'position', 'createdAt'],
    nullable: ['cashMovementId'],
    computed: [],
  },
  support_session: {
    fields: ['id', 'tenantId', 'superuserId', 'asUserId', 'mode', 'reason', 'startedAt', 'expiresAt', 'endedAt', 'endedBy', 'endCause'],
    documents: [],
    filled: ['id', 'startedAt'],
    nullable: ['asUserId', 'endedAt', 'endedBy', 'endCause'],
    computed: [],
  },
  suppression: {
    fields: ['tenantId', 'id', 'kind', 'addressIndex', 'address', 'scope', 'cause', 'messageId', 'createdBy', 'liftedAt', 'liftedBy', 'liftReason', 'createdAt', 'version', 'updatedAt', 'lifted'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt', 'version', 'updatedAt'],
    nullable: ['address', 'messageId', 'createdBy', 'liftedAt', 'liftedBy', 'liftReason'],
    computed: ['lifted'],
  },
  tax_assessment: {
    fields: ['tenantId', 'id', 'bookId', 'taxCodeId', 'periodId', 'propertyId', 'number', 'base', 'rate', 'tax', 'delta', 'entryId', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['propertyId'],
    computed: [],
  },
  tax_code: {
    fields: ['tenantId', 'id', 'bookId', 'kind', 'code', 'name', 'liabilityAccountId', 'contraAccountId', 'sections', 'payeeName', 'dueDay', 'active', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'sections', 'active', 'version', 'createdAt', 'updatedAt'],
    nullable: ['contraAccountId', 'payeeName', 'dueDay'],
    computed: [],
  },
  tax_rate: {
    fields: ['tenantId', 'id', 'taxCodeId', 'rate', 'validFrom', 'validTo', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt'],
    nullable: ['validTo'],
    computed: [],
  },
  tax_rule: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'kind', 'basis', 'rate', 'amount', 'included', 'appliesTo', 'exemptAgeCategoryIds', 'maxNights', 'validFrom', 'validTo', 'accountId', 'version', 'createdAt', 'updatedAt'],
    documents: ['name'],
    filled: ['tenantId', 'id', 'included', 'exemptAgeCategoryIds', 'version', 'createdAt', 'updatedAt'],
    nullable: ['rate', 'amount', 'maxNights', 'validTo', 'accountId'],
    computed: [],
  },
  tenant: {
    fields: ['id', 'name', 'legalName', 'document', 'billingEmail', 'billingAddress', 'country', 'currency', 'timeZone', 'locale', 'status', 'reason', 'deleteAfter', 'features', 'featuresValidUntil', 'entitlementsVersion', 'plan', 'settings', 'version', 'createdAt', 'updatedAt', 'provisioned'],
    documents: ['billingAddress', 'settings'],
    filled: ['id', 'status', 'features', 'entitlementsVersion', 'settings', 'version', 'createdAt', 'updatedAt'],
    nullable: ['legalName', 'document', 'billingAddress', 'reason', 'deleteAfter', 'featuresValidUntil', 'provisioned'],
    computed: [],
  },
  tenant_export: {
    fields: ['id', 'tenantId', 'status', 'reason', 'parts', 'bytes', 'records', 'sha256', 'tableName', 'tablesDone', 'tables', 'error', 'requestedBy', 'createdAt', 'updatedAt', 'readyAt', 'expiresAt'],
    documents: [],
    filled: ['id', 'status', 'parts', 'bytes', 'records', 'tablesDone', 'tables', 'createdAt', 'updatedAt'],
    nullable: ['sha256', 'tableName', 'error', 'requestedBy', 'readyAt', 'expiresAt'],
    computed: [],
  },
  tenant_export_part: {
    fields: ['tenantId', 'exportId', 'number', 'bytes'],
    documents: [],
    filled: [],
    nullable: [],
    computed: [],
  },
  tenant_key: {
    fields: ['tenantId', 'wrappedKey', 'masterKeyId', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'createdAt'],
    nullable: [],
    computed: [],
  },
  tenant_move: {
    fields: ['tenantId', 'direction', 'ticketId', 'receiptHash', 'indexKey', 'masterKeyId', 'movedAt'],
    documents: [],
    filled: ['movedAt'],
    nullable: ['receiptHash', 'indexKey', 'masterKeyId'],
    computed: [],
  },
  tenant_purge: {
    fields: ['tenantId', 'place', 'tableName', 'deleted', 'doneAt'],
    documents: [],
    filled: ['deleted'],
    nullable: ['doneAt'],
    computed: [],
  },
  tenant_ticket: {
    fields: ['id', 'publicKey', 'privateKey', 'state', 'movedTenant', 'createdAt', 'endedAt'],
    documents: [],
    filled: ['state', 'createdAt'],
    nullable: ['privateKey', 'movedTenant', 'endedAt'],
    computed: [],
  },
  unit: {
    fields: ['tenantId', 'id', 'propertyId', 'name', 'building', 'floor', 'position', 'unitTypeId', 'unitPoolId', 'attributes', 'activeFrom', 'activeUntil', 'condition', 'conditionAt', 'conditionBy', 'lastCleanedAt', 'lastDeepCleanAt', 'doNotDisturb', 'makeUpRequested', 'serviceRefused', 'observedOccupancy', 'observedAt', 'observedBy', 'credits', 'notes', 'status', 'version', 'createdAt', 'updatedAt', 'discrepancyOn', 'rolledOn'],
    documents: ['serviceRefused'],
    filled: ['tenantId', 'id', 'position', 'attributes', 'condition', 'doNotDisturb', 'makeUpRequested', 'credits', 'notes', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['building', 'floor', 'activeUntil', 'conditionAt', 'conditionBy', 'lastCleanedAt', 'lastDeepCleanAt', 'serviceRefused', 'observedOccupancy', 'observedAt', 'observedBy', 'discrepancyOn', 'rolledOn'],
    computed: [],
  },
  unit_assignment: {
    fields: ['tenantId', 'id', 'unitId', 'reservationId', 'unitBlockId', 'during', 'status', 'createdAt', 'updatedAt', 'startsOn', 'endsOn', 'propertyId'],
    documents: [],
    filled: ['tenantId', 'id', 'createdAt', 'updatedAt'],
    nullable: ['reservationId', 'unitBlockId', 'propertyId'],
    computed: ['startsOn', 'endsOn'],
  },
  unit_block: {
    fields: ['tenantId', 'id', 'propertyId', 'unitIds', 'kind', 'reason', 'note', 'from', 'to', 'issueId', 'status', 'version', 'createdAt', 'updatedAt', 'cancelReason'],
    documents: [],
    filled: ['tenantId', 'id', 'note', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['issueId', 'cancelReason'],
    computed: [],
  },
  unit_block_stay: {
    fields: ['tenantId', 'id', 'unitBlockId', 'reservationId', 'unitId', 'displaced', 'at'],
    documents: [],
    filled: ['tenantId', 'id', 'at'],
    nullable: [],
    computed: [],
  },
  unit_block_unit: {
    fields: ['tenantId', 'id', 'unitBlockId', 'unitId'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  unit_pool: {
    fields: ['tenantId', 'id', 'propertyId', 'name', 'kind', 'version', 'createdAt', 'updatedAt'],
    documents: [],
    filled: ['tenantId', 'id', 'kind', 'version', 'createdAt', 'updatedAt'],
    nullable: [],
    computed: [],
  },
  unit_type: {
    fields: ['tenantId', 'id', 'propertyId', 'code', 'name', 'description', 'kind', 'baseOccupancy', 'maxAdults', 'maxChildren', 'maxOccupancy', 'beds', 'sizeM2', 'amenities', 'position', 'bookable', 'status', 'version', 'createdAt', 'updatedAt'],
    documents: ['name', 'description', 'beds'],
    filled: ['tenantId', 'id', 'description', 'beds', 'amenities', 'position', 'bookable', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['sizeM2'],
    computed: [],
  },
  unit_type_pool: {
    fields: ['tenantId', 'id', 'unitTypeId', 'unitPoolId', 'quantity'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  usage_day: {
    fields: ['tenantId', 'meter', 'day', 'quantity'],
    documents: [],
    filled: [],
    nullable: [],
    computed: [],
  },
  usage_event: {
    fields: ['tenantId', 'meter', 'key', 'quantity', 'at'],
    documents: [],
    filled: [],
    nullable: [],
    computed: [],
  },
  user_mail: {
    fields: ['id', 'userId', 'kind', 'referenceId', 'status', 'createdAt', 'sentAt', 'act', 'address'],
    documents: [],
    filled: ['id', 'status', 'createdAt'],
    nullable: ['sentAt', 'act', 'address'],
    computed: [],
  },
  waitlist_entry: {
    fields: ['tenantId', 'id', 'propertyId', 'guestId', 'sealed', 'arrival', 'departure', 'flexibleDays', 'rooms', 'unitTypeIds', 'ratePlanId', 'adults', 'childrenAges', 'priority', 'status', 'matchedAt', 'bookingId', 'closeReason', 'closedAt', 'version', 'createdAt', 'updatedAt', 'matched'],
    documents: [],
    filled: ['tenantId', 'id', 'flexibleDays', 'rooms', 'unitTypeIds', 'childrenAges', 'priority', 'status', 'version', 'createdAt', 'updatedAt'],
    nullable: ['guestId', 'sealed', 'ratePlanId', 'matchedAt', 'bookingId', 'closeReason', 'closedAt'],
    computed: ['matched'],
  },
  webhook_attempt: {
    fields: ['tenantId', 'webhookDeliveryId', 'eventAt', 'number', 'at', 'durationMs', 'httpStatus', 'error', 'excerpt'],
    documents: [],
    filled: ['tenantId'],
    nullable: ['httpStatus', 'error', 'excerpt'],
    computed: [],
  },
  webhook_delivery: {
    fields: ['tenantId', 'id', 'webhookEndpointId', 'eventId', 'eventAt', 'sequence', 'type', 'propertyId', 'replayId', 'status', 'attempts', 'lastNumber', 'dueAt', 'sendingUntil', 'lastAttemptAt', 'deliveredAt', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'attempts', 'lastNumber', 'dueAt', 'createdAt'],
    nullable: ['propertyId', 'replayId', 'sendingUntil', 'lastAttemptAt', 'deliveredAt'],
    computed: [],
  },
  webhook_endpoint: {
    fields: ['tenantId', 'id', 'url', 'description', 'types', 'subjects', 'propertyIds', 'status', 'secret', 'previousSecret', 'previousUntil', 'pausedCause', 'pausedBy', 'pausedReason', 'pausedAfterSequence', 'pingNo', 'ping', 'createdBy', 'version', 'createdAt', 'updatedAt'],
    documents: ['ping'],
    filled: ['tenantId', 'id', 'description', 'propertyIds', 'status', 'pingNo', 'version', 'createdAt', 'updatedAt'],
    nullable: ['previousSecret', 'previousUntil', 'pausedCause', 'pausedBy', 'pausedReason', 'pausedAfterSequence', 'ping', 'createdBy'],
    computed: [],
  },
  webhook_health: {
    fields: ['tenantId', 'id', 'failures', 'failingSince', 'warnedAt', 'lastSuccessAt', 'lastStatus', 'lastError'],
    documents: [],
    filled: ['tenantId', 'id', 'failures'],
    nullable: ['failingSince', 'warnedAt', 'lastSuccessAt', 'lastStatus', 'lastError'],
    computed: [],
  },
  webhook_replay: {
    fields: ['tenantId', 'id', 'webhookEndpointId', 'fromSequence', 'toSequence', 'types', 'cursor', 'status', 'events', 'createdBy', 'createdAt', 'isMissed'],
    documents: [],
    filled: ['tenantId', 'id', 'status', 'createdAt', 'isMissed'],
    nullable: ['types', 'createdBy'],
    computed: [],
  },
  webhook_slot: {
    fields: ['tenantId', 'id', 'webhookEndpointId', 'host', 'until'],
    documents: [],
    filled: ['tenantId', 'id'],
    nullable: [],
    computed: [],
  },
  webhook_warning: {
    fields: ['id', 'tenantId', 'webhookEndpointId', 'host', 'kind', 'since', 'createdAt'],
    documents: [],
    filled: ['id', 'createdAt'],
    nullable: [],
    computed: [],
  },
  worker_heartbeat: {
    fields: ['id', 'process', 'host', 'pid', 'version', 'queues', 'running', 'loopLagMs', 'startedAt', 'beatAt', 'name', 'current'],
    documents: ['queues', 'current'],
    filled: ['queues', 'running', 'loopLagMs', 'startedAt', 'beatAt', 'name', 'current'],
    nullable: [],
    computed: [],
  },
  write_off: {
    fields: ['tenantId', 'id', 'receivableId', 'amount', 'accountId', 'reason', 'writtenOffBy', 'selfApproved', 'datedOn', 'reinstatedOn', 'reinstatedBy', 'reinstateReason', 'version', 'createdAt'],
    documents: [],
    filled: ['tenantId', 'id', 'selfApproved', 'version', 'createdAt'],
    nullable: ['reinstatedOn', 'reinstatedBy', 'reinstateReason'],
    computed: [],
  },
} as const
