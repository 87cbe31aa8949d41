import { expect } from 'chai'
import { failingChecks } from '../../api/admin/health.ts'
import { registry } from '../../config/metrics.ts'
import { checkNames, reportCall } from '../../db/jobs/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { startMeasuring } from '../../workers/lib/measure.ts'
import { closeRedis } from '../../api/lib/redis.ts'
import { startRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import { makeSuperuser, signIn } from '../auth/support.ts'
import { connectRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { putJobs } from './support.ts'

type Health = {
  status: string
  relay: { lastBeatAt: string | null; waiting: number; lagSeconds: number }
  queues: { deadTotal: number }
  workers: { queues: string[] }[]
  audit: { chainedThrough: null; ok: null }
  redis: { isConnected: boolean }
  gateways: { provider: string; unknownPayments: number }[]
  checks: { name: string; ok: boolean; detail: string }[]
}

describe('the health of every part', () => {
  const world = useWorld()
  let token: string
  before(async () => {
    token = (await signIn(world, await makeSuperuser('N2'))).token
  })
  const read = async (): Promise<Health> => {
    const { status, body } = await world.request<Health>('GET', '/superuser/health', { token })
    expect(status).to.equal(200)
    return body
  }
  const failing = (health: Health) => health.checks.filter((check) => !check.ok).map((check) => check.name)

  it('is down without relay and workers, and degraded while only the scheduler is missing', async () => {
    const dead = await read()
    expect(dead.status).to.equal('down')
    expect(failing(dead)).to.include.members(['relay', 'scheduler', 'workers'])
    expect(dead.audit).to.deep.equal({ chainedThrough: null, lastVerifiedAt: null, ok: null })
    const relay = await startRelay()
    const workers = await startWorkers()
    try {
      const alive = await until(async () => {
        const health = await read()
        return health.workers.length > 0 && health.relay.lastBeatAt !== null && health
      })
      expect(failing(alive)).to.deep.equal(['scheduler'])
      expect(alive.status).to.equal('degraded')
      expect(alive.workers[0]?.queues).to.include('payments')
    } finally {
      await workers.stop({ deadlineMs: 3_000 })
      await relay.stop()
    }
  })

  it('names what an operator must look at', async () => {
    await putJobs(world, 3)
    await putJobs(world, 2, { queue: 'payments', kind: 'payments.read', status: 'pending' })
    await world.database.admin.raw(`update queue_total set measured_at = now() - interval '2 minutes'`)
    await sql(
      world.database.admin,
      `insert into external_call (job_id, provider, operation, idempotency_key, state, started_at) values
         (gen_random_uuid(), 'sandbox', 'submit', 'one', 'unknown', now() - interval '10 minutes'),
         (gen_random_uuid(), 'smtp', 'send', 'two', 'unknown', now() - interval '10 minutes')`,
    )
    await sql(
      world.database.admin,
      `insert into queue_control (scope, queue, reason, actor, created_at)
       values ('queue', 'payments', 'looking', '{"type": "system", "id": null}', now() - interval '16 minutes')`,
    )
    await sql(
      world.database.admin,
      `insert into queue_control (scope, kind, reason, actor, created_at)
       values ('kind', 'messages.deliver', 'poison, which names no queue', '{"type": "system", "id": null}', now() - interval '16 minutes')`,
    )
    const health = await read()
    expect(health.queues.deadTotal).to.equal(3)
    expect(health.relay.waiting).to.equal(2)
    expect(health.gateways).to.deep.equal([{ provider: 'sandbox', lastSuccessAt: null, unknownPayments: 1 }])
    expect(failing(health)).to.include.members(['dead_letters', 'pauses', 'gateways'])
    expect(health.checks.find((check) => check.name === 'pauses')?.detail).to.equal(
      'paused: payments, messages.deliver',
    )
    expect(health.checks.find((check) => check.name === 'gateways')?.detail).to.equal(
      'calls without an outcome: sandbox 1',
    )
  })

  it('knows at once of refused credentials, closed gates, pauses and processes that keep dying, and every reader goes by it', async () => {
    const { admin } = world.database
    const before = await read()
    expect(failing(before)).not.to.include.members(['credentials', 'accounts', 'deaths'])
    const report = (gate: string, sign: 'credentials' | 'busy') =>
      inPlatform((trx) =>
        reportCall(trx, gate, sign, { tenantId: null, reason: sign === 'busy' ? 'http_429' : 'credentials_refused' }),
      )
    await report('twilio', 'credentials')
    await report('sandbox:acct_2', 'busy')
    await admin.raw(
      `insert into worker_heartbeat (id, process, name, host, pid, version, queues, running, loop_lag_ms, current, beat_at)
       select gen_random_uuid(), 'worker', 'dead-' || n, 'host', n, '0', '{}', 0, 0, '[]', now() - interval '5 minutes' from generate_series(1, 3) n`,
    )
    const health = await read()
    const said = (name: string) => health.checks.find((check) => check.name === name)
    expect(said('credentials')).to.include({ ok: false })
    expect(said('credentials')?.detail).to.contain('twilio')
    expect(said('accounts')?.detail).to.equal('get no calls now: sandbox:acct_2 (http_429)')
    expect(said('deaths')?.detail).to.equal('3 processes died within a quarter of an hour')
    expect((await failingChecks()).map(({ name }) => name).sort()).to.deep.equal(failing(health).sort())
    const running = startMeasuring()
    try {
      const gauge = await until(
        async () => {
          const { values } = await registry.getSingleMetric('service_check_failing')!.get()
          return values.some(({ labels, value }) => labels.check === 'credentials' && value === 1) && values
        },
        { withinMs: 20_000, what: 'the measure' },
      )
      const measured = gauge.filter(({ value }) => value === 1).map(({ labels }) => String(labels.check))
      expect(measured).to.include.members(['credentials', 'accounts', 'deaths', 'pauses', 'dead_letters'])
      expect(gauge.map(({ labels }) => labels.check)).to.have.members([...checkNames])
    } finally {
      await running.stop()
      await admin.raw(`delete from provider_gate; delete from worker_heartbeat where name like 'dead-%'`)
    }
  })

  it('is read without Redis too, which it tells', async () => {
    closeRedis()
    try {
      const health = await read()
      expect(health.redis.isConnected).to.equal(false)
      expect(failing(health)).to.include('redis')
    } finally {
      await connectRedis()
    }
  })
})
