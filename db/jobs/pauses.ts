import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import { providers } from '../../config/providers.ts'
import type { QueueName } from '../../config/queues.ts'
import { jobs as declared } from '../../jobs/all.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne, wakeAfterCommit } from '../lib/connection.ts'
import type { Actor, PlatformTrx } from '../lib/connection.ts'
import { kindGate, openGate, pausedIn, readGate, setGateRate } from './gates.ts'
import { takeBackWhere } from './take-back.ts'

/** A queue or, within it, one kind, tenant or provider. */
export type Scope = {
  queue: QueueName
  kind?: string | undefined
  tenantId?: string | undefined
  provider?: string | undefined
}

export type Pause = {
  id: string
  scope: 'queue' | 'kind' | 'tenant' | 'provider'
  /** Null where it holds in every queue. */
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

/** Pauses in force, the longest standing first. */
export const listPauses = (trx: PlatformTrx): Promise<Pause[]> =>
  sql<Pause>(
    trx,
    `select id, scope, queue, kind, tenant_id, provider, reason, actor as by, created_at as since, until
     from queue_control where ${inForce} order by created_at, id limit 1000`,
  )

type Named = Partial<Scope>
const columnsOf = ({ queue, kind, tenantId, provider }: Named) => ({
  scope:
    kind !== undefined ? 'kind' : tenantId !== undefined ? 'tenant' : provider !== undefined ? 'provider' : 'queue',
  queue: queue ?? null,
  kind: kind ?? null,
  tenantId: tenantId ?? null,
  provider: provider ?? null,
})

type Why = { reason: string; until?: Date | null }

/** A pause that stands gets the new reason and end. */
const pause = async (trx: PlatformTrx, of: Named, { reason, until = null }: Why): Promise<void> => {
  if (until && (await sqlOne(trx, `select 1 where cast(? as timestamptz) <= now()`, [until.toISOString()])))
    throw invalid([{ field: 'until', message: 'must be in the future' }])
  await sql(
    trx,
    `insert into queue_control (scope, queue, kind, tenant_id, provider, reason, actor, until)
     values (:scope, :queue, :kind, :tenantId, :provider, :reason, cast(:actor as jsonb), :until)
     on conflict (scope, coalesce(queue, ''), coalesce(kind, ''), coalesce(tenant_id::text, ''), coalesce(provider, '')) do update
       set paused = true, reason = excluded.reason, actor = excluded.actor, until = excluded.until,
         created_at = case when queue_control.paused and (queue_control.until is null or queue_control.until > now())
           then queue_control.created_at else now() end`,
    { ...columnsOf(of), reason, actor: JSON.stringify(contextOf(trx).actor), until: until?.toISOString() ?? null },
  )
}

/** Ends just this pause; wider and narrower ones stand. False where it was not in force. */
const resume = async (trx: PlatformTrx, of: Named): Promise<boolean> => {
  const ended = await sql<{ inForce: boolean }>(
    trx,
    `delete from queue_control where scope = :scope and queue is not distinct from :queue and kind is not distinct from :kind
       and tenant_id is not distinct from cast(:tenantId as uuid) and provider is not distinct from :provider
     returning ${inForce} as in_force`,
    columnsOf(of),
  )
  return ended.some((row) => row.inForce)
}

const narrower = ['kind', 'tenantId', 'provider'] as const

/** 422 for a name that no job calls: a pause of it would hold nothing back. */
const checkProvider = async (trx: PlatformTrx, provider: string): Promise<void> => {
  if (providers.includes(provider)) return
  if (await sqlOne(trx, `select 1 from provider_gate where provider = ? limit 1`, [provider])) return
  throw unprocessable('provider_unknown', 'No job calls this provider', [
    { field: 'provider', message: `is none of ${providers.join(', ')}` },
  ])
}

const checkScope = async (trx: PlatformTrx, scope: Scope): Promise<void> => {
  const given = narrower.filter((field) => scope[field] !== undefined)
  if (given.length > 1)
    throw invalid(given.map((field) => ({ field, message: 'only one of kind, tenantId and provider' })))
  if (scope.kind !== undefined && !declared.some((job) => job.name === scope.kind && job.queue === scope.queue))
    throw invalid([{ field: 'kind', message: `is not a kind of the queue ${scope.queue}` }])
  if (scope.tenantId !== undefined && !(await sqlOne(trx, `select 1 from tenant where id = ?`, [scope.tenantId])))
    throw notFound('There is no such tenant')
}

const changesOf = (scope: Scope) =>
  narrower.filter((field) => scope[field] !== undefined).map((field) => ({ field, after: scope[field] }))

/**
 * Takes back dispatched jobs that have not begun; BullMQ's copies become ghosts. It waits for the relay's turn at the queue, so
 * that no job chosen before the pause goes out after it. A locked row is being worked on in one transaction, and is skipped.
 */
const takeBack = async (trx: PlatformTrx, { queue, kind, tenantId, provider }: Scope): Promise<void> => {
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('relay:' || ?, 0))`, [queue])
  await sql(
    trx,
    takeBackWhere(`status = 'dispatched' and queue = :queue and (cast(:kind as text) is null or kind = :kind)
      and (cast(:tenantId as uuid) is null or tenant_id = :tenantId)
      and (cast(:provider as text) is null or split_part(gate, ':', 1) = :provider)`),
    { queue, kind: kind ?? null, tenantId: tenantId ?? null, provider: provider ?? null },
  )
}

/**
 * Takes back what Redis has of all that is paused: a try that failed while the pause was made, rows that something held just then, and
 * what a provider is called for. Answers how many.
 */
export const takeBackPaused = async (trx: PlatformTrx): Promise<number> => {
  const of = { queue: 'jobs.queue', kind: 'jobs.kind', tenantId: 'jobs.tenant_id', gate: 'jobs.gate' }
  const back = await sql(trx, `${takeBackWhere(`status = 'dispatched' and ${pausedIn(of)}`)} returning id`)
  return back.length
}

/**
 * Pauses a queue or, within it, one kind, tenant or provider: no start begins after the commit. What runs already finishes. The same
 * pause again changes its reason and end. 404 for an unknown tenant.
 */
export const pauseQueue = async (trx: PlatformTrx, scope: Scope, { reason, until = null }: Why): Promise<void> => {
  await checkScope(trx, scope)
  if (scope.provider !== undefined) await checkProvider(trx, scope.provider)
  await pause(trx, scope, { reason, until })
  await takeBack(trx, scope)
  await audit(trx, {
    action: 'queue.pause',
    subjectType: 'Queue',
    subjectId: scope.queue,
    reason,
    changes: [...changesOf(scope), { field: 'until', after: until?.toISOString() ?? null }],
  })
}

/** Ends a pause of just this scope, also one of the kind, tenant or provider whatever its queue. False where there was none. */
export const resumeQueue = async (trx: PlatformTrx, scope: Scope, reason: string | null = null): Promise<boolean> => {
  await checkScope(trx, scope)
  const { queue: _, ...everywhere } = scope
  const ended = [await resume(trx, scope)]
  if (narrower.some((field) => scope[field] !== undefined)) ended.push(await resume(trx, everywhere))
  const wasPaused = ended.includes(true)
  await audit(trx, {
    action: 'queue.resume',
    subjectType: 'Queue',
    subjectId: scope.queue,
    reason,
    changes: [...changesOf(scope), { field: 'wasPaused', before: wasPaused, after: false }],
  })
  wakeAfterCommit(trx)
  return wasPaused
}

/** Pauses all that a provider is called for, in every queue. */
export const pauseProvider = async (
  trx: PlatformTrx,
  provider: string,
  { reason, until = null }: Why,
): Promise<void> => {
  await checkProvider(trx, provider)
  await pause(trx, { provider }, { reason, until })
  await audit(trx, { action: 'provider.pause', subjectType: 'Queue', subjectId: provider, reason })
}

/** Ends the pause of a provider in every queue. */
export const resumeProvider = async (trx: PlatformTrx, provider: string, reason: string): Promise<boolean> => {
  const ended = await resume(trx, { provider })
  await audit(trx, { action: 'provider.resume', subjectType: 'Queue', subjectId: provider, reason })
  wakeAfterCommit(trx)
  return ended
}

/** Lets jobs through a gate at once that its failures closed. False where it was open. */
export const reopenGate = async (trx: PlatformTrx, gate: string, reason: string): Promise<boolean> => {
  const opened = await openGate(trx, gate)
  await audit(trx, { action: 'provider.open', subjectType: 'Queue', subjectId: gate, reason })
  wakeAfterCommit(trx)
  return opened
}

/**
 * Lets at most so many jobs a second through the gate of an account, or of a kind (`kind:<name>`); null: as many as there are. 404 for
 * an account that was never called, and for a kind that is not declared.
 */
export const limitGate = async (
  trx: PlatformTrx,
  gate: string,
  perSecond: number | null,
  reason: string,
): Promise<void> => {
  const before = await readGate(trx, gate)
  if (!before && !declared.some((job) => kindGate(job.name) === gate)) throw notFound('There is no such gate')
  await setGateRate(trx, gate, perSecond)
  await audit(trx, {
    action: 'provider.rate',
    subjectType: 'Queue',
    subjectId: gate,
    reason,
    changes: [{ field: 'perSecond', before: before?.ratePerSecond ?? null, after: perSecond }],
  })
  wakeAfterCommit(trx)
}
