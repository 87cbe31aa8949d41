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
}

export interface DispatchEpochRow {
  one: boolean
  epoch: string
  changedAt: Date
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

export interface FeatureRow {
  key: string
  name: string
  description: string
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

export interface PasswordRequestRow {
  id: string
  email: string
  createdAt: Date
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
  kind: 'account_gone' | 'amount_differs' | 'currency_differs' | 'duplicate_payment' | 'fee_differs' | 'late_payment' | 'missing_here' | 'missing_there' | 'outcome_unknown' | 'payout_differs' | 'refund_failed' | 'unallocated'
  propertyId: string
  subjectType: string
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

export interface RecoveryCodeRow {
  id: string
  userId: string
  codeHash: Buffer
  usedAt: Date | null
  createdAt: Date
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
}

export interface RelayTurnRow {
  queue: string
  class: string
  tenantId: string
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
  kind: 'callback' | 'charge' | 'key' | 'refund'
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
  revokeReason: 'admin' | 'all' | 'email' | 'locked' | 'mfa' | 'password' | 'reuse' | 'sign_out' | 'too_many' | 'user' | null
  version: number
  changedAt: Date
}

export interface SignInFailureRow {
  id: number
  accountKey: Buffer
  network: string
  address: string
  at: Date
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

export interface SuppressionRow {
  tenantId: string
  id: string
  kind: 'email' | 'sms' | 'whatsapp'
  addressIndex: Buffer
  address: Buffer
  scope: 'all' | 'marketing'
  cause: 'complaint' | 'hard_bounce' | 'invalid' | 'manual' | 'stop' | 'unsubscribe'
  messageId: string | null
  createdBy: string | null
  liftedAt: Date | null
  liftedBy: string | null
  liftReason: string | null
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
}

export interface TenantKeyRow {
  tenantId: string
  wrappedKey: Buffer
  masterKeyId: string
  createdAt: Date
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
