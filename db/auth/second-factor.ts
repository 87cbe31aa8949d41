import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { signInLimits } from '../../config/limits.ts'
import { tooMany } from '../../config/errors.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { noticeUser } from '../ocp/index.ts'
import { sealForService, unsealForService } from '../lib/sealing/index.ts'
import type { Origin } from './throttle.ts'

const stepMs = 30_000
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const recoveryCodes = 10

const base32 = (bytes: Buffer): string => {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >>> (bits - 5)) & 31]
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text
}

/** RFC 6238: SHA-1, 30 seconds; the code of one step. */
export const totp = (secret: Buffer, step: number, digits = 6): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const at = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 10 ** digits).padStart(digits, '0')
}

/** The place to which the secret of a user's authenticator is sealed. */
export const totpPlace = (userId: string) => ({ table: 'app_user', rowId: userId, purpose: 'totp' })
const hashOf = (code: string) => createHash('sha256').update(code.toUpperCase().replaceAll('-', '')).digest()

export type ShownSecret = { secret: string; otpauthUri: string }
export type Enrolment = ShownSecret & { recoveryCodes: string[] }

/** A secret as an authenticator app takes it. */
export const shownSecret = (secret: Buffer, email: string): ShownSecret => ({
  secret: base32(secret),
  otpauthUri: `otpauth://totp/${encodeURIComponent(`Pousada:${email}`)}?secret=${base32(secret)}&issuer=Pousada`,
})

/** Ten codes for when the authenticator is lost, in place of those there were; they are shown this once, and kept as hashes. */
export const replaceRecoveryCodes = async (trx: AnyTrx, userId: string): Promise<string[]> => {
  const codes = Array.from({ length: recoveryCodes }, () => base32(randomBytes(16)).replace(/(.{5})(?=.)/g, '$1-'))
  await sql(trx, `delete from recovery_code where user_id = ?`, [userId])
  await sql(trx, `insert into recovery_code (user_id, code_hash) select ?, unnest(?::bytea[])`, [
    userId,
    codes.map(hashOf),
  ])
  return codes
}

/** Enrols an authenticator for a user, with recovery codes. Both are shown this once. */
export const enrolTotp = async (trx: AnyTrx, userId: string, email: string): Promise<Enrolment> => {
  const secret = randomBytes(20)
  await sql(
    trx,
    `update app_user set totp_secret = ?, totp_confirmed_at = now(), totp_pending_at = null, totp_last_step = null where id = ?`,
    [sealForService(totpPlace(userId), secret.toString('base64')), userId],
  )
  return { ...shownSecret(secret, email), recoveryCodes: await replaceRecoveryCodes(trx, userId) }
}

const codesKey = (userId: string) => createHash('sha256').update(`second factor:${userId}`).digest()

/** Counts a try of a second factor before it is one: five wrong ones in 15 minutes, then 429. In a transaction of its own, before the check. */
export const beginCodeTry = async (trx: AnyTrx, userId: string, { address, network }: Origin): Promise<void> => {
  const key = codesKey(userId)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended(encode(?::bytea, 'hex'), 13))`, [key])
  const row = await sqlOne<{ tries: number }>(
    trx,
    `select count(*) as tries from sign_in_failure where account_key = ? and at > now() - make_interval(secs => ?)`,
    [key, signInLimits.windowSeconds],
  )
  if ((row?.tries ?? 0) >= signInLimits.codesPerUser)
    throw tooMany('sign_in_throttled', 'Too many wrong codes; wait a little', 60)
  await sql(trx, `insert into sign_in_failure (account_key, address, network) values (?, ?::inet, ?::inet)`, [
    key,
    address,
    network,
  ])
}

const succeed = async (trx: AnyTrx, userId: string): Promise<true> => {
  await sql(trx, `delete from sign_in_failure where account_key = ?`, [codesKey(userId)])
  return true
}

/** Uses the step of a code up: one step either way of now, and each step once, also among two at the same moment. False for a wrong code. */
export const takeStep = async (
  trx: AnyTrx,
  userId: string,
  code: string,
  now: Date,
  which: 'confirmed' | 'pending',
): Promise<boolean> => {
  const row = await sqlOne<{ totpSecret: Buffer }>(
    trx,
    `select totp_secret from app_user where id = ? and totp_secret is not null and (totp_confirmed_at is not null) = ? and status = 'active'`,
    [userId, which === 'confirmed'],
  )
  if (!row) return false
  const secret = Buffer.from(unsealForService<string>(totpPlace(userId), row.totpSecret), 'base64')
  const step = Math.floor(now.getTime() / stepMs)
  const given = Buffer.from(code)
  const found = [step - 1, step, step + 1].find((candidate) => {
    const right = Buffer.from(totp(secret, candidate))
    return right.length === given.length && timingSafeEqual(right, given)
  })
  if (found === undefined) return false
  const taken = await sql(
    trx,
    `update app_user set totp_last_step = :step where id = :id and coalesce(totp_last_step, -1) < :step returning id`,
    { step: found, id: userId },
  )
  return taken.length > 0 && succeed(trx, userId)
}

/** Tells whether a code of the authenticator is right. */
export const checkTotp = (trx: AnyTrx, userId: string, code: string, now: Date): Promise<boolean> =>
  takeStep(trx, userId, code, now, 'confirmed')

/** Tells whether a recovery code is right. It works once, and its owner is told. */
export const checkRecoveryCode = async (trx: AnyTrx, userId: string, code: string): Promise<boolean> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `update recovery_code set used_at = now() where user_id = ? and code_hash = ? and used_at is null returning id`,
    [userId, hashOf(code)],
  )
  if (!row) return false
  await noticeUser(trx, userId, 'recovery_code_used', row.id)
  return succeed(trx, userId)
}

/** Removes a user's authenticator and codes, and mails the user; false if there was none. The caller ends sessions. */
export const removeSecondFactor = async (trx: AnyTrx, userId: string): Promise<boolean> => {
  const row = await sqlOne<{ enabled: boolean }>(
    trx,
    `select totp_confirmed_at is not null as enabled from app_user where id = ? for no key update`,
    [userId],
  )
  await sql(
    trx,
    `update app_user set totp_secret = null, totp_confirmed_at = null, totp_last_step = null, totp_pending_at = null where id = ? and totp_secret is not null`,
    [userId],
  )
  await sql(trx, `delete from recovery_code where user_id = ?`, [userId])
  await succeed(trx, userId)
  if (row?.enabled) await noticeUser(trx, userId, contextOf(trx).actor.id === userId ? 'mfa_disabled' : 'mfa_reset')
  return row?.enabled ?? false
}
