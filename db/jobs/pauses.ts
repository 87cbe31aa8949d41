import { invalid, notFound } from '../../config/errors.ts'
import type { QueueName } from '../../config/queues.ts'
import { jobs as declared } from '../../jobs/all.ts'
import { audit } from '../audit.ts'
import { contextOf, sql, sqlOne, wakeAfterCommit } from '../connection.ts'
import type { Actor, PlatformTrx } from '../connection.ts'

export type Scope = {
  queue: QueueName
  /** At most one of these; none means the whole queue. */
  kind?: string | undefined
  tenantId?: string | undefined
  provider?: string | undefined
}

export type Pause = {
  id: string
  scope: 'queue' | 'kind' | 'tenant' | 'provider'
  queue: QueueName | null
  kind: string | null
  tenantId: string | null
  provider: string | null
  reason: string
  by: Actor
  since: Date
  until: Date | null
}

const inForce = `paused and (until is null or until > now())`

/** Pauses in force, the longest standing first; those that name `queue`, or all. */
export const listPauses = (trx: PlatformTrx): Promise<Pause[]> =>
  sql<Pause>(
    trx,
    `select id, scope, queue, kind, tenant_id, provider, reason, actor as by, created_at as since, until
     from queue_control where ${inForce} order by created_at, id limit 1000`,
  )

const scopeOf = async (trx: PlatformTrx, { queue, kind, tenantId, provider }: Scope) => {
  const given = Object.entries({ kind, tenantId, provider }).filter(([, value]) => value !== undefined)
  if (given.length > 1)
    throw invalid(given.map(([field]) => ({ field, message: 'only one of kind, tenantId and provider' })))
  if (kind !== undefined && !declared.some((job) => job.name === kind && job.queue === queue))
    throw invalid([{ field: 'kind', message: `is not a kind of the queue ${queue}` }])
  if (tenantId !== undefined && !(await sqlOne(trx, `select 1 from tenant where id = ?`, [tenantId])))
    throw notFound('There is no such tenant')
  return {
    scope:
      kind !== undefined ? 'kind' : tenantId !== undefined ? 'tenant' : provider !== undefined ? 'provider' : 'queue',
    queue,
    kind: kind ?? null,
    tenantId: tenantId ?? null,
    provider: provider ?? null,
  } as const
}

const changesOf = (scope: Awaited<ReturnType<typeof scopeOf>>) =>
  (['kind', 'tenantId', 'provider'] as const)
    .filter((field) => scope[field] !== null)
    .map((field) => ({ field, after: scope[field] }))

/**
 * Pauses a queue or, within it, one kind, tenant or provider. No start begins after the commit: the relay's turn at the queue is
 * waited for, and what it had handed over comes back, so that BullMQ's copies are ghosts. What runs already finishes; a provider's
 * jobs are stopped at its gate. The same pause again changes its reason and end. 404 for an unknown tenant.
 */
export const pauseQueue = async (
  trx: PlatformTrx,
  scope: Scope,
  { reason, until = null }: { reason: string; until?: Date | null },
): Promise<void> => {
  const named = await scopeOf(trx, scope)
  if (until && (await sqlOne(trx, `select 1 where cast(? as timestamptz) <= now()`, [until.toISOString()])))
    throw invalid([{ field: 'until', message: 'must be in the future' }])
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('relay:' || ?, 0))`, [scope.queue])
  await sql(
    trx,
    `insert into queue_control (scope, queue, kind, tenant_id, provider, reason, actor, until)
     values (:scope, :queue, :kind, :tenantId, :provider, :reason, cast(:actor as jsonb), :until)
     on conflict (scope, coalesce(queue, ''), coalesce(kind, ''), coalesce(tenant_id::text, ''), coalesce(provider, '')) do update
       set paused = true, reason = excluded.reason, actor = excluded.actor, until = excluded.until,
         created_at = case when queue_control.paused and (queue_control.until is null or queue_control.until > now())
           then queue_control.created_at else now() end`,
    { ...named, reason, actor: JSON.stringify(contextOf(trx).actor), until: until?.toISOString() ?? null },
  )
  if (named.provider === null)
    await sql(
      trx,
      `update jobs set status = 'pending', leased_until = null, worker = null
       where status = 'dispatched' and queue = :queue and (cast(:kind as text) is null or kind = :kind)
         and (cast(:tenantId as uuid) is null or tenant_id = :tenantId)`,
      named,
    )
  await audit(trx, {
    action: 'queue.pause',
    subjectType: 'Queue',
    subjectId: scope.queue,
    reason,
    changes: [...changesOf(named), { field: 'until', after: until?.toISOString() ?? null }],
  })
}

/** Ends a pause of just this scope, also one that was made for the kind whatever its queue. False where there was none. */
export const resumeQueue = async (trx: PlatformTrx, scope: Scope, reason: string | null): Promise<boolean> => {
  const named = await scopeOf(trx, scope)
  const ended = await sql(
    trx,
    `delete from queue_control where scope = :scope and (queue = :queue or queue is null) and kind is not distinct from :kind
       and tenant_id is not distinct from cast(:tenantId as uuid) and provider is not distinct from :provider returning id`,
    named,
  )
  await audit(trx, {
    action: 'queue.resume',
    subjectType: 'Queue',
    subjectId: scope.queue,
    reason,
    changes: [...changesOf(named), { field: 'wasPaused', after: ended.length > 0 }],
  })
  wakeAfterCommit(trx, scope.queue)
  return ended.length > 0
}
