import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
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
      'paused for over 15 minutes: payments',
    )
    expect(health.checks.find((check) => check.name === 'gateways')?.detail).to.equal(
      'calls without an outcome: sandbox 1',
    )
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
