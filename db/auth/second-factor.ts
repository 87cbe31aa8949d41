import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { signInLimits } from '../../config/limits.ts'
import { tooMany } from '../../config/errors.ts'
import { sql, sqlOne } from '../connection.ts'
import type { AnyTrx } from '../connection.ts'
import { mailUser } from '../ocp/index.ts'
import { sealForService, unsealForService } from '../sealing/index.ts'
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

const place = (userId: string) => ({ table: 'app_user', rowId: userId, purpose: 'totp' })
const hashOf = (code: string) => createHash('sha256').update(code.toUpperCase().replaceAll('-', '')).digest()

export type Enrolment = { secret: string; otpauthUri: string; recoveryCodes: string[] }

/** Gives a user an authenticator at once, and ten codes for when it is lost; all of it is shown this once. */
export const enrolTotp = async (trx: AnyTrx, userId: string, email: string): Promise<Enrolment> => {
  const secret = randomBytes(20)
  await sql(trx, `update app_user set totp_secret = ?, totp_confirmed_at = now(), totp_last_step = null where id = ?`, [
    sealForService(place(userId), secret.toString('base64')),
    userId,
  ])
  await sql(trx, `delete from recovery_code where user_id = ?`, [userId])
  const codes = Array.from({ length: recoveryCodes }, () => base32(randomBytes(16)).replace(/(.{5})(?=.)/g, '$1-'))
  for (const code of codes)
    await sql(trx, `insert into recovery_code (user_id, code_hash) values (?, ?)`, [userId, hashOf(code)])
  const name = encodeURIComponent(`Pousada:${email}`)
  return {
    secret: base32(secret),
    otpauthUri: `otpauth://totp/${name}?secret=${base32(secret)}&issuer=Pousada`,
    recoveryCodes: codes,
  }
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

/** Whether a code of the authenticator is right: one step either way, and each step once, also among two at the same moment. */
export const checkTotp = async (trx: AnyTrx, userId: string, code: string, now: Date): Promise<boolean> => {
  const row = await sqlOne<{ totpSecret: Buffer }>(
    trx,
    `select totp_secret from app_user where id = ? and totp_confirmed_at is not null and status = 'active'`,
    [userId],
  )
  if (!row) return false
  const secret = Buffer.from(unsealForService<string>(place(userId), row.totpSecret), 'base64')
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
    {
      step: found,
      id: userId,
    },
  )
  return taken.length > 0 && succeed(trx, userId)
}

/** Whether a recovery code is right; it works once, and its owner is told. */
export const checkRecoveryCode = async (trx: AnyTrx, userId: string, code: string): Promise<boolean> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `update recovery_code set used_at = now() where user_id = ? and code_hash = ? and used_at is null returning id`,
    [userId, hashOf(code)],
  )
  if (!row) return false
  await mailUser(trx, userId, 'security_notice', row.id)
  return succeed(trx, userId)
}
