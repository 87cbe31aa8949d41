import { contextOf, sql, sqlOne } from '../connection.ts'
import type { AnyTrx, Trx } from '../connection.ts'

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
  const inserted = await sqlOne(
    trx,
    `insert into external_call (tenant_id, job_id, provider, operation, idempotency_key, request_hash)
     values (:tenantId, :jobId, :provider, :operation, :key, :requestHash)
     on conflict (provider, operation, idempotency_key) do nothing returning id`,
    call,
  )
  if (inserted) return null
  const earlier = await sqlOne<{ state: CallState }>(
    trx,
    `select state from external_call where provider = :provider and operation = :operation and idempotency_key = :key for update`,
    call,
  )
  if (!earlier) throw new Error(`call ${call.key} of ${call.provider} belongs to another tenant`)
  await sql(
    trx,
    `update external_call set state = 'started', tries = tries + 1, started_at = clock_timestamp(), finished_at = null, job_id = :jobId,
       request_hash = coalesce(:requestHash, request_hash)
     where provider = :provider and operation = :operation and idempotency_key = :key`,
    call,
  )
  return earlier.state
}

/** Journals what came of a call, in the transaction that applies it. */
export const endCall = (trx: AnyTrx, call: CallKey, answer: CallAnswer) =>
  sql(
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

/**
 * Ends the question what became of calls: a callback or a reading has told. It waits for nobody: who holds such a call is writing down its answer, and
 * waits for the record that its caller has locked.
 */
export const settleCalls = (trx: Trx, keys: readonly string[]) =>
  sql(
    trx,
    `update external_call set state = 'succeeded', finished_at = clock_timestamp() where id in (
       select id from external_call where tenant_id = ? and idempotency_key = any(?::text[]) and state in ('started', 'unknown')
       for update skip locked)`,
    [contextOf(trx).tenantId, keys],
  )

/**
 * Calls of which nobody knows, minutes later, what the other side did, as SQL. Payments are asked after until it is known; of a mail or a
 * text nobody hears after two hours, and a push to a channel has long been made anew.
 */
export const isUnresolved = `state in ('started', 'unknown') and started_at < now() - interval '5 minutes'
  and (operation in ('submit', 'cancel', 'refund') or started_at > now() - interval '2 hours')`
