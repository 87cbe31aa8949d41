import { createHash } from 'node:crypto'
import { conflict, unprocessable } from '../../config/errors.ts'
import { contextOf, later, prepared, preparedOne } from './connection.ts'
import type { AnyTrx } from './connection.ts'
import { sealForService, unsealForService } from './sealing/index.ts'

export type KeptReply = { status: number; headers: Record<string, string>; body: unknown }
type Kept = { requestHash: Buffer; status: number; headers: Record<string, string>; body: Buffer; isOver: boolean }

// Replies may name guests: they are kept sealed, bound to caller and key.
export const placeOf = (caller: string, key: string) => ({
  table: 'kept_reply',
  rowId: `${caller} ${key}`,
  purpose: 'body',
})

type Asked = { method: string; path: string; query: string; rawBody: Buffer }

/** Hash of all that a request asks for, so that a key is not used for two requests: a trial is not the act. */
export const requestHash = ({ method, path, query, rawBody }: Asked): Buffer =>
  createHash('sha256')
    .update(`${method} ${path}${query === '' ? '' : `?${query}`}\n`)
    .update(rawBody)
    .digest()

/**
 * Takes the key for this transaction. Answers the kept reply where there is one; throws 409 `request_in_progress` while the
 * first request with it runs, 422 `idempotency_key_reused` where it was used for something else.
 */
export const takeKey = async (trx: AnyTrx, caller: string, key: string, hash: Buffer): Promise<KeptReply | null> => {
  const [[lock], row] = await Promise.all([
    prepared<{ taken: boolean }>(trx, `select pg_try_advisory_xact_lock(hashtextextended(?, 7)) as taken`, [
      `${caller} ${key}`,
    ]),
    preparedOne<Kept>(
      trx,
      `select request_hash, status, headers, body, created_at <= now() - interval '72 hours' as is_over
       from kept_reply where caller = ? and key = ?`,
      [caller, key],
    ),
  ])
  // A reply that is kept was committed: another that is answered with it at this moment does not matter.
  if (!lock?.taken && (!row || row.isOver))
    throw conflict('request_in_progress', 'The first request with this Idempotency-Key is still running')
  if (row?.isOver) later(trx, `delete from kept_reply where caller = ? and key = ?`, [caller, key])
  if (!row || row.isOver) return null
  if (!row.requestHash.equals(hash))
    throw unprocessable('idempotency_key_reused', 'This Idempotency-Key was used for another request')
  return { status: row.status, headers: row.headers, body: unsealForService<unknown>(placeOf(caller, key), row.body) }
}

/** Keeps the reply for 72 hours, in the transaction of what it reports, which has taken the key. */
export const keepReply = (trx: AnyTrx, caller: string, key: string, hash: Buffer, reply: KeptReply): void => {
  later(
    trx,
    `insert into kept_reply (caller, key, tenant_id, request_hash, status, headers, body) values (?, ?, ?, ?, ?, ?::jsonb, ?)`,
    [
      caller,
      key,
      contextOf(trx).tenantId,
      hash,
      reply.status,
      JSON.stringify(reply.headers),
      sealForService(placeOf(caller, key), reply.body),
    ],
  )
}
