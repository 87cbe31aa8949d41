import { randomUUID } from 'node:crypto'
import type { JobClass } from '../../config/queues.ts'
import { beginSpan } from '../../config/tracing.ts'
import { compile } from '../../config/validator.ts'
import type { Job, PayloadOf } from '../../jobs/job.ts'
import { contextOf, gather, later, onCommit, prepared, wakeAfterCommit } from './connection.ts'
import type { AnyTrx } from './connection.ts'
import type { Gathering } from './outbox.ts'

export type EnqueueOptions = {
  /** Not before this instant. */
  at?: Date | undefined
  /** At most one live job of this kind and tenant has this key; a second one is not made, the first stays as it is. */
  uniqueKey?: string | undefined
  class?: JobClass | undefined
  /** The account that the job will call: closed while that is out of order. `<provider>:<account>`, or the service's own `<provider>`. */
  gate?: string | undefined
}

const most = 4096

/** Jobs are written with the commit, all of a transaction in one statement. One that stands under its unique key stays as it is. */
const jobs: Gathering = {
  text: `
  insert into jobs (id, tenant_id, queue, kind, version, payload, class, run_at, unique_key, gate, request_id, traceparent, actor)
  select j.id, j.tenant_id, j.queue, j.kind, j.version, j.payload, j.class, coalesce(j.run_at, now()), j.unique_key, j.gate, j.request_id, j.traceparent, j.actor
  from jsonb_to_recordset(?::jsonb) as j (id uuid, tenant_id uuid, queue text, kind text, version int, payload jsonb, class text, run_at timestamptz,
    unique_key text, gate text, request_id text, traceparent text, actor jsonb)
  on conflict (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid), kind, unique_key)
    where unique_key is not null and status <> 'dead' do nothing`,
  read: /\b(from|join|update|into) "?jobs\b/,
}

/** A job that a sweep makes for a tenant belongs to that tenant, though the sweep's transaction belongs to none. */
const tenantIn = (payload: unknown): string | null =>
  typeof payload === 'object' && payload !== null && 'tenantId' in payload && typeof payload.tenantId === 'string'
    ? payload.tenantId
    : null

/** A payload as it is kept. */
const bodyOf = <J extends Job>(kind: J, payload: PayloadOf<J>): string => {
  const problems = compile(kind.payload)(payload)
  if (problems) throw new TypeError(`${kind.name}: ${problems.map((p) => `${p.field} ${p.message}`).join('; ')}`)
  const body = JSON.stringify(payload)
  if (body.length > most) throw new TypeError(`${kind.name}: payload over ${most} bytes`)
  return body
}

/** The row of a job, and what happens once it is committed. */
const rowOf = <J extends Job>(trx: AnyTrx, kind: J, payload: PayloadOf<J>, options: EnqueueOptions) => {
  // For its checks.
  bodyOf(kind, payload)
  const context = contextOf(trx)
  const id = randomUUID()
  const span = beginSpan('producer', `enqueue ${kind.name}`, context.traceparent, {
    'job.id': id,
    'job.kind': kind.name,
  })
  const row = {
    id,
    tenant_id: context.tenantId ?? tenantIn(payload),
    queue: kind.queue,
    kind: kind.name,
    version: kind.version,
    payload,
    class: options.class ?? kind.class,
    run_at: options.at?.toISOString() ?? null,
    unique_key: options.uniqueKey ?? null,
    gate: options.gate ?? '',
    request_id: context.requestId,
    traceparent: span.traceparent,
    actor: context.actor,
  }
  const made = () => {
    // One whose transaction rolls back never was, and is not told of.
    onCommit(trx, () => span.end())
    wakeAfterCommit(trx)
  }
  return { id, row, made }
}

/**
 * Makes a job as a row in the caller's transaction. Jobs are made by this, `enqueueOnce` and `enqueueAll` alone. Answers the job's id, or null where a live job
 * with the same unique key stands. A payload that does not fit its schema throws, so the transaction ends.
 */
export const enqueue = async <J extends Job>(
  trx: AnyTrx,
  kind: J,
  payload: PayloadOf<J>,
  options: EnqueueOptions = {},
): Promise<string | null> => {
  const { id, row, made } = rowOf(trx, kind, payload, options)
  // Only one that can stand already has an answer to wait for.
  if (options.uniqueKey === undefined) gather(trx, jobs, row)
  else if ((await prepared(trx, `${jobs.text} returning id`, [JSON.stringify([row])])).length === 0) return null
  made()
  return id
}

/** Makes a job unless a live one with the same unique key stands. The caller does not ask which, so that the row goes with the commit. */
export const enqueueOnce = <J extends Job>(
  trx: AnyTrx,
  kind: J,
  payload: PayloadOf<J>,
  options: EnqueueOptions & { uniqueKey: string },
): void => {
  const { row, made } = rowOf(trx, kind, payload, options)
  gather(trx, jobs, row)
  made()
}

/** Makes jobs of one kind and of the transaction's tenant, due at once, in one statement; a single one as `enqueue` does. One span tells of all. */
export const enqueueAll = async <J extends Job>(
  trx: AnyTrx,
  kind: J,
  payloads: readonly PayloadOf<J>[],
  options: Pick<EnqueueOptions, 'class' | 'gate'> = {},
): Promise<void> => {
  const [first] = payloads
  if (first === undefined) return
  if (payloads.length === 1) return void (await enqueue(trx, kind, first, options))
  const context = contextOf(trx)
  const ids = payloads.map(() => randomUUID())
  const span = beginSpan('producer', `enqueue ${kind.name}`, context.traceparent, {
    'job.kind': kind.name,
    'messaging.batch.message_count': payloads.length,
  })
  later(
    trx,
    `insert into jobs (id, tenant_id, queue, kind, version, payload, class, run_at, gate, request_id, traceparent, actor)
     select one.id, ?, ?, ?, ?, one.payload, ?, now(), ?, ?, ?, ?::jsonb from jsonb_to_recordset(?::jsonb) as one (id uuid, payload jsonb)`,
    [
      context.tenantId,
      kind.queue,
      kind.name,
      kind.version,
      options.class ?? kind.class,
      options.gate ?? '',
      context.requestId,
      span.traceparent,
      JSON.stringify(context.actor),
      `[${payloads.map((payload, index) => `{"id":"${ids[index] ?? ''}","payload":${bodyOf(kind, payload)}}`).join(',')}]`,
    ],
  )
  onCommit(trx, () => span.end())
  wakeAfterCommit(trx)
}
