import { createHmac } from 'node:crypto'
import { required, settings } from './env.ts'

/**
 * Tokens and codes that people get by mail follow from a row's id and TOKEN_KEY: whoever checks or sends one derives it again,
 * so that none is ever stored or queued.
 */
const derive = (purpose: string, id: string) => createHmac('sha256', required(settings.tokenKey, 'TOKEN_KEY')).update(`${purpose}|${id}`).digest()

const prefixes = { invitation: 'inv_', password_reset: 'rst_', email_change: 'eml_', mfa: 'mfa_' } as const
export type MailedTokenPurpose = keyof typeof prefixes

/** The token of a OneTimeToken row. */
export const mailedToken = (purpose: MailedTokenPurpose, id: string): string =>
  prefixes[purpose] + Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), derive(purpose, id)]).toString('base64url')

/** The six digits of a GuestAccessCode row. */
export const guestAccessCode = (id: string): string => String(derive('guest_access_code', id).readUInt32BE(0) % 1_000_000).padStart(6, '0')
