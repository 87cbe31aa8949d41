import { timingSafeEqual } from 'node:crypto'
import { ApiError, forbidden, unauthenticated } from '../../config/errors.ts'
import { longestCredential, sessionLimits } from '../../config/limits.ts'
import { jtiHash } from '../../db/auth/sessions.ts'
import { keyIdOf, keyMatches, keyRecord } from '../../db/auth/keys.ts'
import type { KeyRecord } from '../../db/auth/keys.ts'
import { database } from '../../db/connection.ts'
import { isWithin } from './address.ts'
import type { Caller, GuestCaller, KeyCaller, UserCaller } from './caller.ts'
import { noteSeen } from './last-seen.ts'
import { beginCount, countFailure, countNobody, countsFor } from './rate-limit.ts'
import { quickly } from './redis.ts'
import type { RequestFacts } from './route.ts'
import { readSession } from './session-cache.ts'
import { tokenDigest, verifyToken } from './tokens.ts'
import type { Verified } from './tokens.ts'

const graceMs = sessionLimits.graceSeconds * 1_000

const timesSent = (request: RequestFacts, name: string) =>
  request.rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length

const refuse = async (
  request: RequestFacts,
  code = 'unauthenticated',
  message = 'The credential is not valid',
): Promise<never> => {
  throw new ApiError(401, code, message, { headers: await countFailure(request) })
}

/** The Bearer value of a request; '' where there is none. Throws 400 `ambiguous_credentials` for two credentials. */
export const bearerOf = (request: RequestFacts): string => {
  const header = request.header('authorization')
  const match = /^Bearer +(\S+)$/i.exec(header)
  return match?.[1] ?? ''
}

/** Throws where two credentials came, or one twice. */
export const unambiguous = (request: RequestFacts) => {
  const bearers = timesSent(request, 'authorization')
  const keys = timesSent(request, 'x-api-key')
  if (bearers + keys > 1)
    throw new ApiError(400, 'ambiguous_credentials', 'Send one credential: a Bearer token or an API key, once', {
      errors: [],
    })
}

const same = (hash: Buffer, kept: string | null) => {
  if (kept === null) return false
  const other = Buffer.from(kept, 'base64')
  return other.length === hash.length && timingSafeEqual(hash, other)
}

// Signatures that were good a moment ago; the session is looked at all the same.
const verified = new Map<string, { result: Verified & { ok: true }; until: number }>()
const rememberMs = 60_000
const most = 10_000

const verifyOnce = async (token: string, now: Date): Promise<Verified> => {
  const digest = tokenDigest(token)
  const known = verified.get(digest)
  if (known && known.until > now.getTime())
    return known.result.expiresAt > now ? known.result : { ok: false, expired: true }
  const result = await verifyToken('access', token, { now })
  if (result.ok) {
    if (verified.size >= most) verified.delete(verified.keys().next().value ?? '')
    verified.set(digest, { result, until: now.getTime() + rememberMs })
  }
  return result
}

const byToken = async (token: string, request: RequestFacts): Promise<UserCaller> => {
  if (token.length > longestCredential) return refuse(request)
  const now = request.receivedAt
  const result = await verifyOnce(token, now)
  if (!result.ok)
    return result.expired ? refuse(request, 'token_expired', 'The token has expired; refresh it') : refuse(request)
  const { sid, jti, ep, sub } = result.claims
  if (typeof sid !== 'string' || typeof jti !== 'string' || typeof ep !== 'number') return refuse(request)
  const counting = beginCount(sid, request)
  const state = await readSession(sid)
  if (!state || state.userId !== sub || state.kind === 'dashboard') return refuse(request)
  const hash = jtiHash(jti)
  const current = same(hash, state.currentJtiHash)
  const graced =
    same(hash, state.previousJtiHash) &&
    state.rotatedAt !== null &&
    now.getTime() - Date.parse(state.rotatedAt) < graceMs
  const live =
    !state.revoked &&
    Date.parse(state.absoluteExpiresAt) > now.getTime() &&
    state.epoch === ep &&
    state.userEpoch === ep &&
    state.userStatus === 'active'
  if (!live || (!current && !graced)) return refuse(request)
  noteSeen({ kind: 'session', id: state.id }, request.address, now)
  const caller: UserCaller = {
    kind: 'user',
    userId: state.userId,
    sessionId: state.id,
    tokenPrefix: state.tokenPrefix,
    sessionKind: state.kind,
    activeTenantId: state.activeTenantId,
    mfaEnabled: state.mfaEnabled,
    mfaAt: state.mfaAt === null ? null : new Date(state.mfaAt),
    reauthenticatedAt: state.reauthenticatedAt === null ? null : new Date(state.reauthenticatedAt),
    address: request.address,
  }
  countsFor(caller, counting)
  return caller
}

const keptKeySeconds = 5

/** For a few seconds from Redis, else from PostgreSQL; what is kept of a key is its hash, never the key. */
const readKey = async (keyId: string): Promise<KeyRecord | null> => {
  const kept = await quickly((redis) => redis.get(`key:${keyId}`))
  if (kept === 'revoked') return null
  if (kept !== null) return JSON.parse(kept) as KeyRecord
  const record = await keyRecord(database(), keyId)
  if (record) await quickly((redis) => redis.set(`key:${keyId}`, JSON.stringify(record), 'EX', keptKeySeconds, 'NX'))
  return record
}

const byKey = async (key: string, request: RequestFacts): Promise<KeyCaller> => {
  const keyId = key.length > longestCredential ? null : keyIdOf(key)
  if (keyId === null) return refuse(request)
  const record = await readKey(keyId)
  if (!record || !keyMatches(key, record, request.receivedAt)) return refuse(request)
  if (record.cidrs.length > 0 && !isWithin(request.address, record.cidrs))
    throw forbidden('address_not_allowed', 'This key may not be used from this address')
  noteSeen({ kind: 'api_key', tenantId: record.tenantId, id: record.id }, request.address, request.receivedAt)
  return {
    kind: 'api_key',
    apiKeyId: record.id,
    keyId: record.keyId,
    tenantId: record.tenantId,
    scopes: record.scopes,
    propertyIds: record.propertyIds,
    address: request.address,
  }
}

/** Who calls. `anonymous`: a public endpoint, where a key may stand for a portal's own server and all else is nobody. */
export const authenticate = async (request: RequestFacts, { anonymous }: { anonymous: boolean }): Promise<Caller> => {
  const key = request.header('x-api-key')
  if (anonymous && key === '') return { kind: 'anonymous', address: request.address }
  unambiguous(request)
  if (key !== '') return byKey(key, request)
  const token = bearerOf(request)
  if (token === '') {
    if (request.header('authorization') !== '') return refuse(request)
    throw new ApiError(401, 'unauthenticated', 'Sign in, or send an API key', { headers: await countNobody(request) })
  }
  return byToken(token, request)
}

/** The holder of a guest token; a portal's own server may send its key beside it. */
export const authenticateGuest = async (request: RequestFacts): Promise<GuestCaller> => {
  const token = request.header('x-guest-token')
  if (token === '') throw unauthenticated('guest_token_missing', 'Send the X-Guest-Token of the booking')
  const result = await verifyToken('guest', token, { now: request.receivedAt })
  const invalidToken = () => refuse(request, 'guest_token_invalid', 'The guest token is not valid, or has expired')
  if (!result.ok) return invalidToken()
  const { tenant, booking } = result.claims
  if (typeof tenant !== 'string' || typeof booking !== 'string') return invalidToken()
  const key = request.header('x-api-key')
  const portal = key === '' ? null : await byKey(key, request)
  return {
    kind: 'guest',
    tenantId: tenant,
    bookingId: booking,
    issuedAt: result.issuedAt,
    portalKeyId: portal && portal.tenantId === tenant ? portal.apiKeyId : null,
    address: request.address,
  }
}
