import { contextOf, later, prepared, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../lib/connection.ts'

export type CallState = 'started' | 'succeeded' | 'failed' | 'not_sent' | 'unknown'

export type CallKey = { provider: string; operation: string; key: string }

export type CallAnswer = {
  state: CallState
  code?: string | undefined
  httpStatus?: number | undefined
  /** The other side's id of what it did or of the request. */
  reference?: string | undefined
}

/**
 * Journals a call before it is made. Answers the state in which an earlier try left it, or null for the first. The other side may
 * have acted wherever that is `started` or `unknown`.
 */
export const beginCall = async (
  trx: AnyTrx,
  call: CallKey & { jobId: string; tenantId: string | null; requestHash: Buffer | null },
): Promise<CallState | null> => {
  const inserted = await preparedOne(
    trx,
    `insert into external_call (tenant_id, job_id, provider, operation, idempotency_key, request_hash)
     values (:tenantId, :jobId, :provider, :operation, :key, :requestHash)
     on conflict (provider, operation, idempotency_key) do nothing returning id`,
    call,
  )
  if (inserted) return null
  const earlier = await preparedOne<{ state: CallState }>(
    trx,
    `select state from external_call where provider = :provider and operation = :operation and idempotency_key = :key for update`,
    call,
  )
  if (!earlier) throw new Error(`call ${call.key} of ${call.provider} belongs to another tenant`)
  await prepared(
    trx,
    `update external_call set state = 'started', tries = tries + 1, started_at = clock_timestamp(), finished_at = null, job_id = :jobId,
       request_hash = coalesce(:requestHash, request_hash)
     where provider = :provider and operation = :operation and idempotency_key = :key`,
    call,
  )
  return earlier.state
}

/** Journals what came of a call, in the transaction that applies it. */
export const endCall = (trx: AnyTrx, call: CallKey, answer: CallAnswer): void =>
  later(
    trx,
    `update external_call set state = :state, code = :code, http_status = :httpStatus,
       answer_reference = coalesce(:reference, answer_reference), finished_at = clock_timestamp()
     where provider = :provider and operation = :operation and idempotency_key = :key`,
    {
      ...call,
      state: answer.state,
      code: answer.code ?? null,
      httpStatus: answer.httpStatus ?? null,
      reference: answer.reference ?? null,
    },
  )

/** The outcome as told by the other side: it has the call, or knows nothing of it. */
type Told = { state: 'succeeded' | 'failed'; code?: string }

/**
 * Settles calls whose outcome a callback or a reading has told. It skips locked calls: their holder is storing the answer, and
 * waits for the record that its caller has locked.
 */
export const settleCalls = (trx: Trx, keys: readonly string[], { state, code }: Told = { state: 'succeeded' }) =>
  sql(
    trx,
    `update external_call set state = ?, code = coalesce(?, code), finished_at = clock_timestamp() where id in (
       select id from external_call where tenant_id = ? and idempotency_key = any(?::text[]) and state in ('started', 'unknown')
       for update skip locked)`,
    [state, code ?? null, contextOf(trx).tenantId, keys],
  )

const isMoney = `operation in ('submit', 'cancel', 'refund')`

/**
 * SQL for calls whose outcome is still unknown after minutes. Payments are read until it is known; of a mail or a
 * text nothing is heard after two hours, and a push to a channel has long been repeated.
 */
export const isUnresolved = `state in ('started', 'unknown') and started_at < now() - interval '5 minutes'
  and (${isMoney} or started_at > now() - interval '2 hours')`

/** The least age of calls whose jobs are looked for: no younger call has lost its archive. The migration's indexes hold the same two conditions. */
const ages = { money: [isMoney, '400 days'], other: [`not (${isMoney})`, '30 days'] } as const

export const kindsOfCall = ['money', 'other'] as const
export type OverCall = { at: string; id: string }

/**
 * Looks at the next `most` calls beyond `after` that are over and past their time, and drops those whose job is neither live nor in the archive, so a call
 * goes with its job's archive. One that may have acted unseen (`started`, `unknown`) stays. Answers the last one seen.
 */
export const purgeCalls = (
  trx: PlatformTrx,
  kind: (typeof kindsOfCall)[number],
  after: OverCall,
  most: number,
): Promise<OverCall | null> => {
  const [isOfKind, age] = ages[kind]
  const isOver = `state in ('succeeded', 'failed', 'not_sent') and ${isOfKind} and finished_at < now() - interval '${age}'`
  // Each look for a job is a step in an index: a join might read the whole archive.
  return sqlOne<OverCall>(
    trx,
    `with seen as materialized (
       select id, job_id, finished_at from external_call where ${isOver} and (finished_at, id) > (:at::timestamptz, :id::uuid)
       order by finished_at, id limit :most),
     gone as (
       delete from external_call c using seen where c.id = seen.id and c.finished_at = seen.finished_at
         and (select true from jobs j where j.id = seen.job_id limit 1) is null
         and (select true from job_archive a where a.id = seen.job_id limit 1) is null)
     select finished_at::text as at, id from seen order by finished_at desc, id desc limit 1`,
    { ...after, most },
  )
}
