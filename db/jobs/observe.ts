import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { isUnresolved } from './external-calls.ts'
import { credentialsRefused } from './gates.ts'
import { isAlive } from './heartbeat.ts'

export type Pause = { scope: string; queue: string | null; kind: string | null; seconds: number }

/** Pauses in force, and for how long they stand. */
export const pauses = (trx: PlatformTrx): Promise<Pause[]> =>
  sql<Pause>(
    trx,
    `select scope, queue, kind, max(extract(epoch from now() - created_at))::float8 as seconds
     from queue_control where paused and (until is null or until > now()) group by scope, queue, kind`,
  )

export type ScheduleState = { kind: string; misses: number; lateSeconds: number }

/** The number of failures in a row of each schedule, and the time that its slot has waited for a scheduler. */
export const scheduleStates = (trx: PlatformTrx): Promise<ScheduleState[]> =>
  sql<ScheduleState>(
    trx,
    `select kind, misses, greatest(0, extract(epoch from now() - next_at))::float8 as late_seconds from schedule`,
  )

export const liveProcesses = (trx: PlatformTrx): Promise<{ process: string; count: number }[]> =>
  sql<{ process: string; count: number }>(
    trx,
    `select kinds.process, count(worker_heartbeat.id) as count from (values ('worker'), ('relay'), ('scheduler')) as kinds (process)
     left join worker_heartbeat on worker_heartbeat.process = kinds.process and ${isAlive} group by kinds.process`,
  )

/** The number of jobs of each queue that all live workers together may run at once. */
export const liveConcurrency = (trx: PlatformTrx): Promise<{ queue: string; concurrency: number }[]> =>
  sql<{ queue: string; concurrency: number }>(
    trx,
    `select taken.queue, sum(taken.concurrency::int) as concurrency
     from worker_heartbeat, lateral jsonb_each_text(queues) as taken (queue, concurrency)
     where process = 'worker' and ${isAlive} group by taken.queue`,
  )

/** Counts calls whose outcome is still unknown after minutes, by provider. */
export const unresolvedCalls = (trx: PlatformTrx): Promise<{ provider: string; count: number }[]> =>
  sql<{ provider: string; count: number }>(
    trx,
    `select provider, count(*) as count from external_call where ${isUnresolved} group by provider`,
  )

export type UnresolvedCall = {
  id: string
  provider: string
  operation: string
  state: 'started' | 'unknown'
  code: string | null
  startedAt: Date
  tries: number
  jobId: string
}

const mostShown = 50

/** The oldest of them. Their jobs may be over, and lead to the record all the same. */
export const listUnresolvedCalls = (trx: PlatformTrx): Promise<UnresolvedCall[]> =>
  sql<UnresolvedCall>(
    trx,
    `select id, provider, operation, state, code, started_at, tries, job_id from external_call where ${isUnresolved}
     order by started_at, id limit ${mostShown}`,
  )

export type ClosedGates = { provider: string; outage: number; credentials: number }

/** The number of accounts of each provider that get no calls now, by what an operator must do: wait for the provider, or mend the credentials. */
export const closedGates = (trx: PlatformTrx): Promise<ClosedGates[]> =>
  sql<ClosedGates>(
    trx,
    `select provider, count(*) filter (where state = 'closed' and reason is distinct from :credentialsRefused) as outage,
       count(*) filter (where state = 'closed' and reason = :credentialsRefused) as credentials
     from provider_gate group by provider`,
    { credentialsRefused },
  )
