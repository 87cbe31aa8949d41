import type { QueueName } from '../../config/queues.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { kindGate } from './gates.ts'
import { isAlive } from './heartbeat.ts'
import { listPauses } from './pauses.ts'
import type { Pause } from './pauses.ts'

/** One reason for which a job has not begun. Several may hold at once; each alone is enough. */
export type WaitCause =
  | { cause: 'not_due'; until: Date }
  | { cause: 'paused'; pause: Pause }
  | { cause: 'no_calls'; gate: string; reason: string | null; nextTryAt: Date | null }
  | { cause: 'rate'; gate: string; perSecond: number }
  | { cause: 'no_worker'; queue: string }
  /** Due jobs of the same tenant in the queue that were asked for earlier; `more` than the count. */
  | { cause: 'turn'; before: number; isMore: boolean; inRedis: number }
  /** It is in Redis, for the next free place of a worker. */
  | { cause: 'place'; running: number; atOnce: number }

type Row = {
  queue: QueueName
  kind: string
  tenantId: string | null
  gate: string
  status: string
  runAt: Date
  isLater: boolean
}
type GateRow = {
  gate: string
  state: string
  reason: string | null
  closedUntil: Date | null
  ratePerSecond: number | null
}

const mostBefore = 1_000

const holds = (pause: Pause, { queue, kind, tenantId, gate }: Row): boolean =>
  (pause.queue === null || pause.queue === queue) &&
  (pause.scope === 'queue' ||
    (pause.kind !== null && pause.kind === kind) ||
    (pause.tenantId !== null && pause.tenantId === tenantId) ||
    (pause.provider !== null && pause.provider === gate.split(':', 1)[0]))

/** Says why a job has not begun, by what the relay and the workers go by. Empty for one that runs or is over, or is about to be taken. */
export const whyWaits = async (trx: PlatformTrx, jobId: string): Promise<WaitCause[]> => {
  const job = await sqlOne<Row>(
    trx,
    `select queue, kind, tenant_id, gate, status, run_at, run_at > now() as is_later from jobs
     where id = ? and status in ('pending', 'dispatched')`,
    [jobId],
  )
  if (!job) return []
  const found: WaitCause[] = []
  if (job.isLater) found.push({ cause: 'not_due', until: job.runAt })
  for (const pause of await listPauses(trx)) if (holds(pause, job)) found.push({ cause: 'paused', pause })
  const gates = await sql<GateRow>(
    trx,
    `select gate, state, reason, closed_until, rate_per_second from provider_gate where gate in (?, ?) order by gate`,
    [job.gate, kindGate(job.kind)],
  )
  for (const { gate, state, reason, closedUntil, ratePerSecond } of gates) {
    if (state === 'closed') found.push({ cause: 'no_calls', gate, reason, nextTryAt: closedUntil })
    if (ratePerSecond !== null) found.push({ cause: 'rate', gate, perSecond: ratePerSecond })
  }
  const taken = await sqlOne<{ atOnce: number; running: number; inRedis: number; before: number }>(
    trx,
    `select (select coalesce(sum(coalesce((queues->>:queue)::int, 0)), 0)::int from worker_heartbeat where process = 'worker' and ${isAlive}) as at_once,
       (select count(*)::int from (select from jobs where queue = :queue and status = 'running' limit :most) as each) as running,
       (select count(*)::int from (select from jobs where queue = :queue and status = 'dispatched' limit :most) as each) as in_redis,
       (select count(*)::int from (select from jobs where queue = :queue and status = 'pending' and run_at <= now() and run_at < :runAt
          and tenant_id is not distinct from cast(:tenantId as uuid) limit :most) as each) as before`,
    { ...job, most: mostBefore },
  )
  if (!taken) return found
  if (taken.atOnce === 0) found.push({ cause: 'no_worker', queue: job.queue })
  else if (job.status === 'dispatched' && !job.isLater)
    found.push({ cause: 'place', running: taken.running, atOnce: taken.atOnce })
  else if (found.length === 0)
    found.push({ cause: 'turn', before: taken.before, isMore: taken.before === mostBefore, inRedis: taken.inRedis })
  return found
}

export type Held = { gate: string; reason: string | null; nextTryAt: Date | null; waiting: number }

/** Accounts that get no calls, with how many due jobs of the queue wait for each, up to a thousand. */
export const heldByGates = (trx: PlatformTrx, queue: QueueName): Promise<Held[]> =>
  sql<Held>(
    trx,
    `select g.gate, g.reason, g.closed_until as next_try_at, held.waiting from provider_gate g
     cross join lateral (select count(*)::int as waiting from (
       select from jobs j where j.queue = :queue and j.status = 'pending' and j.gate = g.gate and j.run_at <= now() limit 1000) as each) held
     where g.state = 'closed' and held.waiting > 0 order by held.waiting desc, g.gate limit 50`,
    { queue },
  )
