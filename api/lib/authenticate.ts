import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { CodeOf } from '../../config/error-codes.ts'
import { ApiError } from '../../config/errors.ts'
import { longestCredential, sessionLimits } from '../../config/limits.ts'
import { jtiHash, keyHashes, keyIdOf, keyMatches } from '../../db/auth/index.ts'
import type { SessionState } from '../../db/auth/index.ts'
import { isWithin } from './address.ts'
import type { Caller, GuestCaller, KeyCaller, RegistrationCaller, UserCaller } from './caller.ts'
import { noteSeen } from './last-seen.ts'
import { keys } from './key-cache.ts'
import {
  countFailure,
  countNobody,
  countOf,
  countedIn,
  countsFor,
  countsForBoth,
  headersOf,
  windowOfKey,
  windowOfSession,
} from './rate-limit.ts'
import { timesSent } from './request.ts'
import type { RequestFacts } from './route.ts'
import { sessions } from './session-cache.ts'
import { tokenDigest, verifyToken } from '../../config/tokens.ts'
import type { Verified } from '../../config/tokens.ts'

const graceMs = sessionLimits.graceSeconds * 1_000

/** Counts a failed authentication of the address, and refuses: 401, or 429 beyond the limit. */
export const refuseCredential = async (
  request: RequestFacts,
  code: CodeOf<401> = 'unauthenticated',
  message = 'The credential is not valid',
): Promise<never> => {
  throw new ApiError(code, message, { headers: await countFailure(request) })
}

/** The Bearer value of a request; '' where there is none. Throws 400 `ambiguous_credentials` for two credentials. */
export const bearerOf = (request: RequestFacts): string => {
  const header = request.header('authorization')
  const match = /^Bearer +(\S+)$/i.exec(header)
  return match?.[1] ?? ''
}

/** Throws where two credentials came, or one twice. */
export const unambiguous = (request: RequestFacts) => {
  const bearers = timesSent(request.rawHeaders, 'authorization')
  const keys = timesSent(request.rawHeaders, 'x-api-key')
  if (bearers + keys > 1)
    throw new ApiError('ambiguous_credentials', 'Send one credential: a Bearer token or an API key, once', {
      errors: [],
    })
}

const same = (hash: Buffer, kept: string | null) => {
  if (kept === null) return false
  const other = Buffer.from(kept, 'base64')
  return other.length === hash.length && timingSafeEqual(hash, other)
}

// Signatures that were good a moment ago; the session is looked at all the same.
const verified = new LRUCache<string, { result: Verified & { ok: true }; until: number }>({ max: 10_000 })
const rememberMs = 60_000

const verifyOnce = async (token: string, now: Date): Promise<Verified> => {
  const digest = tokenDigest(token)
  const known = verified.get(digest)
  if (known && known.until > now.getTime())
    return known.result.expiresAt > now ? known.result : { ok: false, expired: true }
  const result = await verifyToken('access', token, { now })
  if (result.ok) verified.set(digest, { result, until: now.getTime() + rememberMs })
  return result
}

type Proof = { sub: unknown; hash: Buffer; epoch: number; now: Date }

/** Tells whether the session lives, and the token is its present one or that of a refresh that has just ended. */
const isLive = (state: SessionState, { sub, hash, epoch, now }: Proof): boolean => {
  const graced =
    same(hash, state.previousJtiHash) &&
    state.rotatedAt !== null &&
    now.getTime() - Date.parse(state.rotatedAt) < graceMs
  return (
    (same(hash, state.currentJtiHash) || graced) &&
    state.userId === sub &&
    state.kind !== 'dashboard' &&
    (state.kind !== 'support' || typeof state.supportSessionId === 'string') &&
    !state.revoked &&
    Date.parse(state.absoluteExpiresAt) > now.getTime() &&
    state.epoch === epoch &&
    state.userEpoch === epoch &&
    state.userStatus === 'active'
  )
}

const byToken = async (token: string, request: RequestFacts): Promise<UserCaller> => {
  if (token.length > longestCredential) return refuseCredential(request)
  const now = request.receivedAt
  const result = await verifyOnce(token, now)
  if (!result.ok)
    return result.expired
      ? refuseCredential(request, 'token_expired', 'The token has expired; refresh it')
      : refuseCredential(request)
  const { sid, jti, ep, sub } = result.claims
  if (typeof sid !== 'string' || typeof jti !== 'string' || typeof ep !== 'number') return refuseCredential(request)
  const window = windowOfSession(sid)
  const found = await sessions.find(sid, countedIn(window, now))
  const count = countOf(window, now, found.used)
  const proof = { sub, hash: jtiHash(jti), epoch: ep, now }
  let { state } = found
  // The signature is good: what is remembered may be older than the token, and then the truth decides.
  if (state && !found.isFresh && !isLive(state, proof)) state = await sessions.reread(sid)
  if (!state || !isLive(state, proof)) return refuseCredential(request)
  noteSeen({ kind: 'session', id: state.id }, request.address, now)
  const caller: UserCaller = {
    kind: 'user',
    userId: state.userId,
    sessionId: state.id,
    tokenPrefix: state.tokenPrefix,
    sessionKind: state.kind,
    support:
      state.kind === 'support' && state.supportSessionId && state.supportMode
        ? { id: state.supportSessionId, mode: state.supportMode, asUserId: state.supportAsUserId }
        : null,
    activeTenantId: state.activeTenantId,
    mfaEnabled: state.mfaEnabled,
    mfaAt: state.mfaAt === null ? null : new Date(state.mfaAt),
    reauthenticatedAt: state.reauthenticatedAt === null ? null : new Date(state.reauthenticatedAt),
    address: request.address,
  }
  countsFor(caller, window, count)
  return caller
}

const byKey = async (key: string, request: RequestFacts): Promise<KeyCaller> => {
  const now = request.receivedAt
  const keyId = key.length > longestCredential ? null : keyIdOf(key)
  if (keyId === null) return refuseCredential(request)
  const window = windowOfKey(keyId)
  // The id is no secret: only requests with the whole key count against its limit.
  const { state: record, used } = await keys.find(keyId, { ...countedIn(window, now), ifHolds: keyHashes(key) })
  if (!record || !keyMatches(key, record, now)) return refuseCredential(request)
  const count = used === null ? undefined : countOf(window, now, used)
  if (record.cidrs.length > 0 && !isWithin(request.address, record.cidrs))
    throw new ApiError('address_not_allowed', 'This key may not be used from this address', {
      headers: await headersOf(window, request, count),
    })
  noteSeen({ kind: 'api_key', tenantId: record.tenantId, id: record.id }, request.address, now)
  const caller: KeyCaller = {
    kind: 'api_key',
    apiKeyId: record.id,
    keyId: record.keyId,
    tenantId: record.tenantId,
    scopes: record.scopes,
    propertyIds: record.propertyIds,
    address: request.address,
  }
  if (count) countsFor(caller, window, count)
  return caller
}

/** Identifies the caller. `anonymous`: a public endpoint, where a key may name a portal's own server and other callers are anonymous. */
export const authenticate = async (request: RequestFacts, { anonymous }: { anonymous: boolean }): Promise<Caller> => {
  const key = request.header('x-api-key')
  if (anonymous && key === '') return { kind: 'anonymous', address: request.address }
  unambiguous(request)
  if (key !== '') return byKey(key, request)
  const token = bearerOf(request)
  if (token === '') {
    if (request.header('authorization') !== '') return refuseCredential(request)
    throw new ApiError('unauthenticated', 'Sign in, or send an API key', { headers: await countNobody(request) })
  }
  return byToken(token, request)
}

/** The holder of a guest token; a portal's own server may send its key beside it. */
export const authenticateGuest = async (request: RequestFacts): Promise<GuestCaller> => {
  const token = request.header('x-guest-token')
  if (token === '')
    throw new ApiError('guest_token_missing', 'Send the X-Guest-Token of the booking', {
      headers: await countNobody(request),
    })
  const result = await verifyToken('guest', token, { now: request.receivedAt })
  const invalidToken = () =>
    refuseCredential(request, 'guest_token_invalid', 'The guest token is not valid, or has expired')
  if (!result.ok) return invalidToken()
  const { tenant, booking } = result.claims
  if (typeof tenant !== 'string' || typeof booking !== 'string') return invalidToken()
  const key = request.header('x-api-key')
  const portal = key === '' ? null : await byKey(key, request)
  const guest: GuestCaller = {
    kind: 'guest',
    tenantId: tenant,
    bookingId: booking,
    issuedAt: result.issuedAt,
    portalKeyId: portal && portal.tenantId === tenant ? portal.keyId : null,
    address: request.address,
  }
  if (portal) countsForBoth(portal, guest)
  return guest
}

/** The holder of the link of a registration form. */
export const authenticateRegistration = async (request: RequestFacts): Promise<RegistrationCaller> => {
  const token = request.header('x-registration-token')
  if (token === '')
    throw new ApiError('registration_token_missing', 'Send the X-Registration-Token of the link', {
      headers: await countNobody(request),
    })
  const result = await verifyToken('registration', token, { now: request.receivedAt })
  const { tenant, registration } = result.ok ? result.claims : { tenant: null, registration: null }
  if (!result.ok || typeof tenant !== 'string' || typeof registration !== 'string')
    return refuseCredential(request, 'registration_token_invalid', 'The link has ended, or is not valid')
  return {
    kind: 'registration',
    tenantId: tenant,
    guestRegistrationId: registration,
    issuedAt: result.issuedAt,
    address: request.address,
  }
}
