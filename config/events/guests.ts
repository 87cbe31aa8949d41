import { Day, Matching, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const guest = { entity: 'guest', subject: 'Guest', data: Obj({ guestId: Uuid, source: Code }) } as const
export const guestCreated = event({ type: 'guest.created', ...guest })
export const guestChanged = event({ type: 'guest.changed', ...guest })
export const guestDeleted = event({ type: 'guest.deleted', ...guest })
export const guestErased = event({ type: 'guest.erased', ...guest })

const merge = { entity: 'guest', subject: 'Guest', data: Obj({ guestId: Uuid, survivorId: Uuid }) } as const
export const guestMerged = event({ type: 'guest.merged', ...merge })
export const guestUnmerged = event({ type: 'guest.unmerged', ...merge })

const block = {
  entity: 'guest_block',
  subject: 'Guest',
  data: Obj({ guestId: Uuid, guestBlockId: Uuid, level: OneOf(['warn', 'refuse']) }),
} as const
export const guestBlocked = event({ type: 'guest.blocked', ...block })
export const guestUnblocked = event({ type: 'guest.unblocked', ...block })

export const guestConsentChanged = event({
  type: 'guest.consent_changed',
  entity: 'guest_consent',
  subject: 'Guest',
  data: Obj({ guestId: Uuid, purpose: Code, decision: OneOf(['granted', 'withdrawn']) }),
})

const document = {
  entity: 'guest_document',
  subject: 'Guest',
  data: Obj({ guestId: Uuid, documentId: Uuid, kind: Code, countryCode: Matching('^[A-Z]{2}$', 2) }),
} as const
export const guestDocumentAdded = event({ type: 'guest_document.added', ...document })
export const guestDocumentVerified = event({ type: 'guest_document.verified', ...document })
export const guestDocumentRejected = event({ type: 'guest_document.rejected', ...document })
export const guestDocumentDeleted = event({ type: 'guest_document.deleted', ...document })

const company = { entity: 'company', subject: 'Company', data: Obj({ companyId: Uuid, kind: Code }) } as const
export const companyCreated = event({ type: 'company.created', ...company })
export const companyChanged = event({ type: 'company.changed', ...company })
export const companyArchived = event({ type: 'company.archived', ...company })
export const companyRestored = event({ type: 'company.restored', ...company })

const privacyRequest = {
  entity: 'privacy_request',
  subject: 'PrivacyRequest',
  data: Obj({ privacyRequestId: Uuid, guestId: Uuid, kind: Code, dueOn: Day }),
} as const
export const privacyRequestReceived = event({ type: 'privacy_request.received', ...privacyRequest })
export const privacyRequestDueDateNeared = event({ type: 'privacy_request.due_date_neared', ...privacyRequest })
export const privacyRequestDueDatePassed = event({ type: 'privacy_request.due_date_passed', ...privacyRequest })
export const privacyRequestCompleted = event({ type: 'privacy_request.completed', ...privacyRequest })
export const privacyRequestRefused = event({ type: 'privacy_request.refused', ...privacyRequest })

const registration = {
  entity: 'guest_registration',
  subject: 'GuestRegistration',
  data: Obj({ guestRegistrationId: Uuid, reservationId: Uuid, guestId: Uuid, externalId: Nullable(Code) }),
} as const
export const guestRegistrationCompleted = event({ type: 'guest_registration.completed', ...registration })
export const guestRegistrationAccepted = event({
  type: 'guest_registration.accepted',
  ...registration,
  listeners: ['issues ended'],
})
export const guestRegistrationRejected = event({
  type: 'guest_registration.rejected',
  ...registration,
  listeners: ['issues'],
})
export const guestRegistrationCancelled = event({
  type: 'guest_registration.cancelled',
  ...registration,
  listeners: ['issues ended'],
})

export const guestsEvents: Event[] = [
  guestCreated,
  guestChanged,
  guestDeleted,
  guestErased,
  guestMerged,
  guestUnmerged,
  guestBlocked,
  guestUnblocked,
  guestConsentChanged,
  guestDocumentAdded,
  guestDocumentVerified,
  guestDocumentRejected,
  guestDocumentDeleted,
  companyCreated,
  companyChanged,
  companyArchived,
  companyRestored,
  privacyRequestReceived,
  privacyRequestDueDateNeared,
  privacyRequestDueDatePassed,
  privacyRequestCompleted,
  privacyRequestRefused,
  guestRegistrationCompleted,
  guestRegistrationAccepted,
  guestRegistrationRejected,
  guestRegistrationCancelled,
]
