import { lasting } from '../../config/lasting.ts'
import { release } from '../../config/release.ts'
import { queueNames, queues } from '../../config/queues.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { isMigrated } from '../lib/migrations.ts'
import { isUnresolved } from './external-calls.ts'
import { credentialsRefused } from './gates.ts'
import { isAlive } from './heartbeat.ts'
import { calledProviders, listProcesses, listSchedules, queueStates } from './overview.ts'
import type { ProcessRow, QueueState, ScheduleRow } from './overview.ts'
import { listPauses } from './pauses.ts'
import type { Pause } from './pauses.ts'

export type DatabaseHealth = {
  latencyMs: number
  /** Lag of the replica that is furthest behind; null if there is none, or if this role may not see them. */
  replicationLagSeconds: number | null
  oldestTransactionSeconds: number
}
export type GatewayHealth = { provider: string; lastSuccessAt: Date | null; unknownPayments: number }

export type Health = {
  at: Date
  version: string
  migrations: { latest: string | null; isComplete: boolean }
  database: DatabaseHealth
  queues: QueueState[]
  processes: ProcessRow[]
  schedules: ScheduleRow[]
  gateways: GatewayHealth[]
  /** Accounts that get no calls now. */
  closed: ClosedAccount[]
  pauses: Pause[]
  /** Processes that fell silent without an end within a quarter of an hour. */
  deaths: number
}

type ClosedAccount = { gate: string; reason: string | null }

const readClosed = (trx: PlatformTrx): Promise<ClosedAccount[]> =>
  sql<ClosedAccount>(trx, `select gate, reason from provider_gate where state = 'closed' order by gate limit 100`)

const countDeaths = async (trx: PlatformTrx): Promise<number> => {
  const row = await sqlOne<{ count: number }>(
    trx,
    `select count(*)::int as count from worker_heartbeat where not (${isAlive}) and beat_at > now() - interval '15 minutes'`,
  )
  return row?.count ?? 0
}

const readDatabase = async (trx: PlatformTrx): Promise<DatabaseHealth> => {
  const began = performance.now()
  await sql(trx, `select 1`)
  const latencyMs = Math.round((performance.now() - began) * 10) / 10
  const row = await sqlOne<Omit<DatabaseHealth, 'latencyMs'>>(
    trx,
    `select (select extract(epoch from max(replay_lag))::float8 from pg_stat_replication) as replication_lag_seconds,
       coalesce((select greatest(0, extract(epoch from now() - min(xact_start)))::float8 from pg_stat_activity
         where datname = current_database() and xact_start is not null), 0) as oldest_transaction_seconds`,
  )
  return {
    latencyMs,
    replicationLagSeconds: row?.replicationLagSeconds ?? null,
    oldestTransactionSeconds: row?.oldestTransactionSeconds ?? 0,
  }
}

// A provider whose newest call sends a message is no gateway.
const readGateways = (trx: PlatformTrx): Promise<GatewayHealth[]> =>
  sql<GatewayHealth>(
    trx,
    `with recursive ${calledProviders}
     select provider,
       (select finished_at from external_call c where c.provider = named.provider and state = 'succeeded' order by started_at desc limit 1) as last_success_at,
       (select count(*) from external_call c where c.provider = named.provider and ${isUnresolved}) as unknown_payments
     from named where provider is not null
       and (select operation from external_call c where c.provider = named.provider order by started_at desc limit 1) <> 'send'
     order by provider`,
  )

/** The parts that PostgreSQL knows of. */
export const readHealth = async (trx: PlatformTrx): Promise<Health> => {
  const now = await sqlOne<{ at: Date; latest: string | null }>(
    trx,
    `select now() as at, (select max(name) from schema_migration) as latest`,
  )
  return {
    at: now?.at ?? new Date(),
    version: release,
    migrations: { latest: now?.latest ?? null, isComplete: await isMigrated(trx) },
    database: await readDatabase(trx),
    queues: await queueStates(trx),
    processes: await listProcesses(trx),
    schedules: await listSchedules(trx),
    gateways: await readGateways(trx),
    closed: await readClosed(trx),
    pauses: await listPauses(trx),
    deaths: await countDeaths(trx),
  }
}

export type Check = { name: CheckName; ok: boolean; detail: string }

export const checkNames = [
  'database',
  'transactions',
  'migrations',
  'redis',
  'redis_memory',
  'relay',
  'scheduler',
  'workers',
  'queues',
  'deaths',
  'pauses',
  'credentials',
  'accounts',
  'schedules',
  'dead_letters',
  'gateways',
] as const
export type CheckName = (typeof checkNames)[number]

/** Urgent work that waits longer is late; bulk work may wait. */
const mostSeconds = { bulk: 3_600, other: 60 }
const bulk = new Set(queueNames.filter((name) => queues[name].timeoutMs > 100_000))
const slowMs = 250
const longTransactionSeconds = 300
/** So many deaths within a quarter of an hour are no accident. */
const mostDeaths = 3

const list = (what: string, names: string[], otherwise: string) =>
  names.length === 0 ? otherwise : `${what} ${names.join(', ')}`

/**
 * Checks that an operator should look at first, each with its reason. This is the one rule for the overview, the health endpoint, readiness with its
 * reasons, the gauge `service_check_failing` and the alert on it.
 */
export const checksOf = (health: Health, redis: { isConnected: boolean; memoryShare: number | null }): Check[] => {
  const { database, migrations, processes, schedules, gateways } = health
  const alive = (process: string) => processes.filter((each) => each.process === process && each.isAlive)
  const check = (name: CheckName, ok: boolean, detail: string): Check => ({ name, ok, detail })
  const unattended = health.queues.filter((queue) => queue.workers === 0).map((queue) => queue.queue)
  const late = health.queues
    .filter((queue) => queue.pauses.every((pause) => pause.scope !== 'queue'))
    .filter(({ queue, oldestPendingSeconds }) => oldestPendingSeconds > mostSeconds[bulk.has(queue) ? 'bulk' : 'other'])
    .map(({ queue, oldestPendingSeconds }) => `${queue} ${lasting(oldestPendingSeconds)}`)
  const paused = health.pauses.map(
    ({ queue, kind, tenantId, provider }) => kind ?? tenantId ?? provider ?? queue ?? 'all',
  )
  const refusing = health.closed.filter(({ reason }) => reason === credentialsRefused).map(({ gate }) => gate)
  const resting = health.closed
    .filter(({ reason }) => reason !== credentialsRefused)
    .map(({ gate, reason }) => `${gate} (${reason ?? 'no answer'})`)
  const missed = schedules.filter(({ misses, isLate }) => misses >= 3 || isLate).map(({ kind }) => kind)
  const unknown = gateways
    .filter(({ unknownPayments }) => unknownPayments > 0)
    .map(({ provider, unknownPayments }) => `${provider} ${unknownPayments}`)
  const dead = health.queues.reduce((sum, queue) => sum + queue.dead, 0)
  return [
    check('database', database.latencyMs < slowMs, `answered in ${database.latencyMs} ms`),
    check(
      'transactions',
      database.oldestTransactionSeconds < longTransactionSeconds,
      `the oldest is ${lasting(database.oldestTransactionSeconds)} old`,
    ),
    check('migrations', migrations.isComplete, migrations.latest ?? 'none'),
    check('redis', redis.isConnected, redis.isConnected ? 'answers' : 'does not answer; jobs wait in PostgreSQL'),
    check(
      'redis_memory',
      (redis.memoryShare ?? 0) < 0.7,
      redis.memoryShare === null ? 'no limit, or not known' : `${Math.round(redis.memoryShare * 100)} % in use`,
    ),
    check('relay', alive('relay').length > 0, `${alive('relay').length} alive`),
    check('scheduler', alive('scheduler').length > 0, `${alive('scheduler').length} alive`),
    check('workers', unattended.length === 0, list('none takes', unattended, 'every queue has one')),
    check('queues', late.length === 0, list('due for too long:', late, 'nothing is late')),
    check(
      'deaths',
      health.deaths < mostDeaths,
      `${health.deaths} ${health.deaths === 1 ? 'process' : 'processes'} died within a quarter of an hour`,
    ),
    check('pauses', paused.length === 0, list('paused:', paused, 'nothing is paused')),
    check(
      'credentials',
      refusing.length === 0,
      list('refused, so that nothing is sent and jobs wait:', refusing, 'no account refuses ours'),
    ),
    check('accounts', resting.length === 0, list('get no calls now:', resting, 'all take calls')),
    check('schedules', missed.length === 0, list('failed three times, or late:', missed, 'none is missed')),
    check('dead_letters', dead === 0, dead === 0 ? 'none' : `${dead} wait for an operator`),
    check(
      'gateways',
      unknown.length === 0,
      list('calls without an outcome:', unknown, 'no call is without an outcome'),
    ),
  ]
}

/** Checks without which nothing works; all others mean degraded service. */
const vital = new Set<CheckName>(['migrations', 'relay', 'workers'])

export const statusOf = (checks: Check[]): 'ok' | 'degraded' | 'down' => {
  if (checks.every((check) => check.ok)) return 'ok'
  return checks.some((check) => !check.ok && vital.has(check.name)) ? 'down' : 'degraded'
}
