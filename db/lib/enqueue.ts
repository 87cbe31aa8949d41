import { randomUUID } from 'node:crypto'
import type { JobClass } from '../../config/queues.ts'
import { beginSpan } from '../../config/tracing.ts'
import { compile } from '../../config/validator.ts'
import type { Job, PayloadOf } from '../../jobs/job.ts'
import { contextOf, later, onCommit, prepared, wakeAfterCommit } from './connection.ts'
import type { AnyTrx } from './connection.ts'

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

const insert = `
  insert into jobs (id, tenant_id, queue, kind, version, payload, class, run_at, unique_key, gate, request_id, traceparent, actor)
  values (?, ?, ?, ?, ?, ?::jsonb, ?, coalesce(?::timestamptz, now()), ?, ?, ?, ?, ?::jsonb)`
const insertOnce = `${insert}
  on conflict (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid), kind, unique_key)
    where unique_key is not null and status <> 'dead' do nothing
  returning id`

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
  const body = bodyOf(kind, payload)
  const context = contextOf(trx)
  const id = randomUUID()
  const span = beginSpan('producer', `enqueue ${kind.name}`, context.traceparent, {
    'job.id': id,
    'job.kind': kind.name,
  })
  const values = [
    id,
    context.tenantId ?? tenantIn(payload),
    kind.queue,
    kind.name,
    kind.version,
    body,
    options.class ?? kind.class,
    options.at?.toISOString() ?? null,
    options.uniqueKey ?? null,
    options.gate ?? '',
    context.requestId,
    span.traceparent,
    JSON.stringify(context.actor),
  ]
  const made = () => {
    // One whose transaction rolls back never was, and is not told of.
    onCommit(trx, () => span.end())
    wakeAfterCommit(trx)
  }
  return { id, values, made }
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
  const { id, values, made } = rowOf(trx, kind, payload, options)
  // Only one that can stand already has an answer to wait for.
  if (options.uniqueKey === undefined) later(trx, insert, values)
  else if ((await prepared(trx, insertOnce, values)).length === 0) return null
  made()
  return id
}

/** Makes a job unless a live one with the same unique key stands. The caller does not ask which, so that the row goes with its next statement. */
export const enqueueOnce = <J extends Job>(
  trx: AnyTrx,
  kind: J,
  payload: PayloadOf<J>,
  options: EnqueueOptions & { uniqueKey: string },
): void => {
  const { values, made } = rowOf(trx, kind, payload, options)
  later(trx, insertOnce, values)
  made()
}

/** Makes jobs of one kind and of the transaction's tenant, due at once, in one statement. One span tells of all; of a single job it has the id. */
export const enqueueAll = async <J extends Job>(
  trx: AnyTrx,
  kind: J,
  payloads: readonly PayloadOf<J>[],
  options: Pick<EnqueueOptions, 'class' | 'gate'> = {},
): Promise<void> => {
  if (payloads.length === 0) return
  const context = contextOf(trx)
  const ids = payloads.map(() => randomUUID())
  const span = beginSpan('producer', `enqueue ${kind.name}`, context.traceparent, {
    'job.kind': kind.name,
    'messaging.batch.message_count': payloads.length,
    ...(ids.length === 1 ? { 'job.id': ids[0] } : {}),
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
