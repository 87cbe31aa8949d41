import { randomBytes } from 'node:crypto'
import { conflict } from '../../config/errors.ts'
import { audit } from '../lib/audit.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { noticeUser } from '../ocp/index.ts'
import { sealForService } from '../lib/sealing/index.ts'
import { endOtherSessions } from './carry-over.ts'
import type { CarriedOver } from './carry-over.ts'
import { tellEnded } from './ended.ts'
import { removeSecondFactor, replaceRecoveryCodes, shownSecret, takeStep, totpPlace } from './second-factor.ts'
import type { ShownSecret } from './second-factor.ts'

type Whose = { userId: string; sessionId: string }

const isOn = () => conflict('invalid_transition', 'A second factor is set up already; remove it first')

/**
 * Begins to set up an authenticator: its secret, sealed, waits ten minutes for a code that confirms it. Beginning again makes another. 409
 * `invalid_transition` where one is set up.
 */
export const beginTotp = async (trx: AnyTrx, userId: string): Promise<ShownSecret> => {
  const secret = randomBytes(20)
  const row = await sqlOne<{ email: string }>(
    trx,
    `update app_user set totp_secret = ?, totp_pending_at = now(), totp_last_step = null where id = ? and totp_confirmed_at is null returning email`,
    [sealForService(totpPlace(userId), secret.toString('base64')), userId],
  )
  if (!row) throw isOn()
  await audit(trx, { action: 'user.mfa_begin', subjectType: 'User', subjectId: userId })
  return shownSecret(secret, row.email)
}

/** 409 `invalid_transition` where there is nothing to confirm: none was begun within ten minutes, or it is confirmed. */
export const assertPending = async (trx: AnyTrx, userId: string): Promise<void> => {
  const row = await sqlOne<{ enabled: boolean; pending: boolean }>(
    trx,
    `select totp_confirmed_at is not null as enabled, coalesce(totp_pending_at > now() - interval '10 minutes', false) as pending
     from app_user where id = ?`,
    [userId],
  )
  if (row?.enabled) throw isOn()
  if (!row?.pending)
    throw conflict('invalid_transition', 'No second factor was begun within the last ten minutes; begin anew')
}

export type Confirmed = { recoveryCodes: string[]; carried: CarriedOver }

/** Turns a second factor on by a code of it; null for a wrong one. All other sessions end, and the user is told. */
export const confirmTotp = async (
  trx: AnyTrx,
  { userId, sessionId }: Whose,
  code: string,
  now: Date,
): Promise<Confirmed | null> => {
  await sql(trx, `select 1 from app_user where id = ? for no key update`, [userId])
  await assertPending(trx, userId)
  if (!(await takeStep(trx, userId, code, now, 'pending'))) return null
  await sql(trx, `update app_user set totp_confirmed_at = now(), totp_pending_at = null where id = ?`, [userId])
  const recoveryCodes = await replaceRecoveryCodes(trx, userId)
  const carried = await endOtherSessions(trx, { userId, sessionId }, 'mfa', { withCode: true })
  await noticeUser(trx, userId, 'mfa_enabled')
  await audit(trx, { action: 'user.mfa_enable', subjectType: 'User', subjectId: userId })
  await tellEnded(trx, carried.revoked, 'mfa')
  return { recoveryCodes, carried }
}

/** Turns the second factor off; null where there was none. All other sessions end, and the user is told. */
export const removeTotp = async (trx: AnyTrx, { userId, sessionId }: Whose): Promise<CarriedOver | null> => {
  if (!(await removeSecondFactor(trx, userId))) return null
  const carried = await endOtherSessions(trx, { userId, sessionId }, 'mfa')
  await audit(trx, { action: 'user.mfa_disable', subjectType: 'User', subjectId: userId })
  await tellEnded(trx, carried.revoked, 'mfa')
  return carried
}

/** Ten new recovery codes; the old ones are worth nothing. 409 `invalid_transition` without a second factor. */
export const renewRecoveryCodes = async (trx: AnyTrx, userId: string): Promise<string[]> => {
  const row = await sqlOne(
    trx,
    `select 1 as one from app_user where id = ? and totp_confirmed_at is not null for no key update`,
    [userId],
  )
  if (!row) throw conflict('invalid_transition', 'Recovery codes belong to a second factor; set one up first')
  const codes = await replaceRecoveryCodes(trx, userId)
  await noticeUser(trx, userId, 'recovery_codes_renewed')
  await audit(trx, { action: 'user.mfa_recovery_codes', subjectType: 'User', subjectId: userId })
  return codes
}
