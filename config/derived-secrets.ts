import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { required, settings } from './env.ts'

/**
 * Tokens and codes sent by mail are derived from a row's id and TOKEN_KEY. They are derived again to check or send one,
 * so that none is ever stored or queued.
 */
const derive = (purpose: string, id: string) =>
  createHmac('sha256', required(settings.tokenKey, 'TOKEN_KEY')).update(`${purpose}|${id}`).digest()

const prefixes = { invitation: 'inv_', password_reset: 'rst_', email_change: 'eml_', mfa: 'mfa_' } as const
export type MailedTokenPurpose = keyof typeof prefixes

/** The token of a OneTimeToken row. */
export const mailedToken = (purpose: MailedTokenPurpose, id: string): string =>
  prefixes[purpose] +
  Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), derive(purpose, id)]).toString('base64url')

/** The id of the OneTimeToken row that a token stands for; null where it was not made here, or for another purpose. */
export const mailedTokenId = (purpose: MailedTokenPurpose, token: string): string | null => {
  const bytes = Buffer.from(token.slice(prefixes[purpose].length), 'base64url')
  if (bytes.length !== 48) return null
  const id = bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const right = Buffer.from(mailedToken(purpose, id))
  const given = Buffer.from(token)
  return right.length === given.length && timingSafeEqual(right, given) ? id : null
}

/** The six digits of a GuestAccessCode row. */
export const guestAccessCode = (id: string): string =>
  String(derive('guest_access_code', id).readUInt32BE(0) % 1_000_000).padStart(6, '0')

const ivBytes = 12
const tagBytes = 16
const mostInside = 400_000

/** Bytes that their bearer may not read, under a key of one purpose. */
export const sealBytes = (purpose: string, bytes: Uint8Array): string => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', derive(purpose, 'v1'), iv)
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** The opposite of `sealBytes`; it throws for what was not made by it. */
export const openBytes = (purpose: string, sealed: string): Buffer => {
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', derive(purpose, 'v1'), bytes.subarray(0, ivBytes))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()])
}

/** Claims that their bearer may not read, such as the tenant's id, for a token that is signed around them. */
export const sealClaims = (claims: Record<string, unknown>): string =>
  sealBytes('token_claims', deflateRawSync(JSON.stringify(claims)))

const satisfactionPrefix = 'sat_'

/** The token in a link by which a guest answers how an issue was handled. */
export const satisfactionToken = (tenantId: string, issueId: string): string =>
  satisfactionPrefix + sealClaims({ tenantId, issueId, purpose: 'satisfaction' })

/** The issue that a satisfaction token is for; null where it was not made here. */
export const satisfactionIssue = (token: string): { tenantId: string; issueId: string } | null => {
  if (!token.startsWith(satisfactionPrefix)) return null
  try {
    const { tenantId, issueId, purpose } = openClaims(token.slice(satisfactionPrefix.length))
    if (purpose !== 'satisfaction' || typeof tenantId !== 'string' || typeof issueId !== 'string') return null
    return { tenantId, issueId }
  } catch {
    return null
  }
}

/** The opposite of `sealClaims`; it throws for what was not made by it. */
export const openClaims = (sealed: string): Record<string, unknown> => {
  const packed = openBytes('token_claims', sealed)
  return JSON.parse(inflateRawSync(packed, { maxOutputLength: mostInside }).toString('utf8')) as Record<string, unknown>
}
