import { Bool, Count, Decimal, Instant, List, Nullable, Obj, OneOf, Text } from '../../config/schema.ts'
import { checksOf, readHealth, statusOf } from '../../db/jobs/index.ts'
import { trailHealth } from '../../db/admin/index.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { superuser } from '../lib/access/kinds.ts'
import { quickly } from '../lib/redis.ts'
import { route } from '../lib/route.ts'

const Health = Obj(
  {
    status: OneOf(['ok', 'degraded', 'down']),
    version: Text(1, 40),
    migrations: Obj({ latest: Nullable(Text(1, 100)), isComplete: Bool }),
    database: Obj({
      latencyMs: Decimal,
      replicationLagSeconds: Nullable(Decimal),
      oldestTransactionSeconds: Decimal,
    }),
    redis: Obj({ isConnected: Bool, latencyMs: Nullable(Decimal), memoryShare: Nullable(Decimal) }),
    relay: Obj({ lagSeconds: Count, waiting: Count, lastBeatAt: Nullable(Instant) }),
    queues: Obj({ deadTotal: Count, oldestSeconds: Count }),
    workers: List(
      Obj({ name: Text(0, 200), queues: List(Text(1, 40), { max: 50 }), version: Text(1, 40), lastBeatAt: Instant }),
      { max: 500 },
    ),
    scheduler: Obj({ lastTickAt: Nullable(Instant) }),
    gateways: List(Obj({ provider: Text(1, 120), lastSuccessAt: Nullable(Instant), unknownPayments: Count }), {
      max: 100,
    }),
    audit: Obj({
      chainedThrough: Nullable(Instant),
      lastVerifiedAt: Nullable(Instant),
      ok: Nullable(Bool),
    }),
    checks: List(Obj({ name: Text(1, 60), ok: Bool, at: Instant, detail: Text(0, 1_000) }), { max: 100 }),
  },
  { title: 'Health' },
)

/** Health of Redis as the API sees it. No answer within 100 ms counts as away. */
export const redisHealth = async () => {
  const began = performance.now()
  const info = await quickly((redis) => redis.info('memory'))
  if (info === null) return { isConnected: false, latencyMs: null, memoryShare: null }
  const latencyMs = Math.round((performance.now() - began) * 10) / 10
  const most = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0)
  const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0)
  return { isConnected: true, latencyMs, memoryShare: most === 0 ? null : Math.round((used / most) * 1000) / 1000 }
}

/** Checks that fail and need an operator's look, by the rule of the overview. Empty while PostgreSQL cannot be asked. */
export const failingChecks = async (): Promise<{ name: string; detail: string }[]> => {
  try {
    const [health, redis] = [await inPlatform(readHealth), await redisHealth()]
    return checksOf(health, redis).flatMap(({ ok, name, detail }) => (ok ? [] : [{ name, detail }]))
  } catch {
    return []
  }
}

const newest = (instants: Date[]): Date | null =>
  instants.length === 0 ? null : new Date(Math.max(...instants.map((instant) => instant.getTime())))

const read = route({
  id: 'health.read',
  method: 'GET',
  path: '/superuser/health',
  summary: 'Read the health of every part',
  description:
    '`down`: without migrations, a relay or a worker for each queue jobs stand still. `degraded`: any other check fails. What is not measured is null.',
  access: superuser('N2', 'read', 'SystemHealth'),
  returns: Health,
  handle: async ({ trx }) => {
    const [health, redis, trail] = [await readHealth(trx), await redisHealth(), await trailHealth(trx)]
    const checks = checksOf(health, redis)
    const beats = (process: string) =>
      newest(health.processes.filter((each) => each.process === process).map((each) => each.beatAt))
    const sum = (of: 'pending' | 'dead') => health.queues.reduce((total, queue) => total + queue[of], 0)
    const waiting = health.queues.filter((queue) => queue.pending > 0)
    const oldest = (queues: typeof waiting) =>
      Math.round(Math.max(0, ...queues.map((queue) => queue.oldestPendingSeconds)))
    return {
      status: statusOf(checks),
      version: health.version,
      migrations: health.migrations,
      database: health.database,
      redis,
      relay: { lagSeconds: oldest(waiting), waiting: sum('pending'), lastBeatAt: beats('relay') },
      queues: { deadTotal: sum('dead'), oldestSeconds: oldest(health.queues) },
      workers: health.processes
        .filter((each) => each.process === 'worker')
        .map(({ name, queues, version, beatAt }) => ({
          name,
          queues: Object.keys(queues),
          version,
          lastBeatAt: beatAt,
        })),
      scheduler: { lastTickAt: beats('scheduler') },
      gateways: health.gateways,
      audit: { ...trail, ok: trail.lastVerifiedAt === null ? null : trail.ok },
      checks: checks.map((check) => ({ ...check, at: health.at })),
    }
  },
})

export const routes = [read]
