import type { Actor } from '../../db/lib/connection.ts'
import type { Permits } from './access/permits.ts'

export type UserCaller = {
  kind: 'user'
  userId: string
  sessionId: string
  tokenPrefix: string
  sessionKind: 'api' | 'dashboard' | 'support'
  /** Of a session that an operator opened in a tenant: as whom, and whether it may write. */
  support: { id: string; mode: 'read' | 'write'; asUserId: string | null } | null
  activeTenantId: string | null
  mfaEnabled: boolean
  mfaAt: Date | null
  reauthenticatedAt: Date | null
  address: string
}
export type KeyCaller = {
  kind: 'api_key'
  apiKeyId: string
  keyId: string
  tenantId: string
  scopes: string[]
  /** null = all properties of the tenant */
  propertyIds: string[] | null
  address: string
}
export type GuestCaller = {
  kind: 'guest'
  tenantId: string
  bookingId: string
  issuedAt: Date
  /** The portal's own server, where it sent its key beside the guest's token. */
  portalKeyId: string | null
  address: string
}
export type RegistrationCaller = {
  kind: 'registration'
  tenantId: string
  guestRegistrationId: string
  issuedAt: Date
  address: string
}
export type AnonymousCaller = { kind: 'anonymous'; address: string }
export type Caller = UserCaller | KeyCaller | GuestCaller | RegistrationCaller | AnonymousCaller

/** Permissions of the caller in a tenant, read at the start of the request's transaction. */
export type Admission = Permits & {
  tenantId: string
  role: string | null
  /** null = all properties of the tenant */
  propertyIds: string[] | null
  features: string[]
}

export const actorOf = (caller: Caller): Actor => {
  switch (caller.kind) {
    case 'user':
      return { type: caller.sessionKind === 'support' ? 'support' : 'user', id: caller.userId }
    case 'api_key':
      return { type: 'api_key', id: caller.apiKeyId }
    case 'guest':
      return { type: 'guest', id: caller.bookingId }
    default:
      return { type: 'guest', id: null }
  }
}

/**
 * The owner of an Idempotency-Key: two callers never meet on one key. A support session sees less than its superuser may as a member, and as
 * another member something else, so that each has keys of its own. Strangers behind one address are told apart by what they ask for, so
 * that none is answered with another's reply, or kept out by it.
 */
export const callerKey = (caller: Caller, tenantId: string | null, requestHash: Buffer): string => {
  switch (caller.kind) {
    case 'user':
      return caller.support ? `support:${caller.support.id}` : `user:${caller.userId}:${tenantId ?? ''}`
    case 'api_key':
      return `key:${caller.apiKeyId}:${tenantId ?? ''}`
    case 'guest':
      return `guest:${caller.bookingId}`
    case 'registration':
      return `registration:${caller.guestRegistrationId}`
    default:
      return `public:${tenantId ?? ''}:${caller.address}:${requestHash.toString('base64url')}`
  }
}
