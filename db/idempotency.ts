import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { required, settings } from '../config/env.ts'
import { conflict, unprocessable } from '../config/errors.ts'
import { contextOf, sql, sqlOne } from './connection.ts'
import type { AnyTrx } from './connection.ts'

export type KeptReply = { status: number; headers: Record<string, string>; body: unknown }

// Replies may name guests: they are kept sealed by a key of the service, bound to caller and key.
const sealingKey = (index: number) => {
  const master = required(settings.dataKeys[index], 'DATA_KEY')
  return { id: master.id, key: Buffer.from(hkdfSync('sha256', master.key, Buffer.alloc(0), 'pousada kept replies', 32)) }
}

const seal = (text: string, bound: string): Buffer => {
  const { key } = sealingKey(0)
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

const unseal = (sealed: Buffer, bound: string): string => {
  for (let index = 0; index < settings.dataKeys.length; index += 1) {
    try {
      const decipher = createDecipheriv('aes-256-gcm', sealingKey(index).key, sealed.subarray(0, 12))
      decipher.setAAD(Buffer.from(bound)).setAuthTag(sealed.subarray(-16))
      return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8')
    } catch (error) {
      if (index === settings.dataKeys.length - 1) throw error
    }
  }
  throw new Error('DATA_KEY is not set')
}

/** What a request asks for, so that a key is not used for two things. */
export const requestHash = (method: string, path: string, body: Buffer): Buffer =>
  createHash('sha256').update(`${method} ${path}\n`).update(body).digest()

/**
 * Takes the key for this transaction. Answers the kept reply where there is one; throws 409 `request_in_progress` while the
 * first request with it runs, 422 `idempotency_key_reused` where it was used for something else.
 */
export const takeKey = async (trx: AnyTrx, caller: string, key: string, hash: Buffer): Promise<KeptReply | null> => {
  const lock = await sqlOne<{ taken: boolean }>(trx, `select pg_try_advisory_xact_lock(hashtextextended(?, 7)) as taken`, [`${caller} ${key}`])
  if (!lock?.taken) throw conflict('request_in_progress', 'The first request with this Idempotency-Key is still running')
  const row = await sqlOne<{ requestHash: Buffer; status: number; headers: Record<string, string>; body: Buffer }>(
    trx,
    `select request_hash, status, headers, body from kept_reply where caller = ? and key = ? and created_at > now() - interval '72 hours'`,
    [caller, key],
  )
  if (!row) return null
  if (!row.requestHash.equals(hash)) throw unprocessable('idempotency_key_reused', 'This Idempotency-Key was used for another request')
  return { status: row.status, headers: row.headers, body: JSON.parse(unseal(row.body, `${caller} ${key}`)) as unknown }
}

/** Keeps the reply for 72 hours, in the transaction of what it reports. */
export const keepReply = async (trx: AnyTrx, caller: string, key: string, hash: Buffer, reply: KeptReply): Promise<void> => {
  await sql(trx, `delete from kept_reply where caller = ? and key = ? and created_at <= now() - interval '72 hours'`, [caller, key])
  await sql(
    trx,
    `insert into kept_reply (caller, key, tenant_id, request_hash, status, headers, body) values (?, ?, ?, ?, ?, ?::jsonb, ?)`,
    [caller, key, contextOf(trx).tenantId, hash, reply.status, JSON.stringify(reply.headers), seal(JSON.stringify(reply.body), `${caller} ${key}`)],
  )
}
