import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { onDatabase } from '../../workers/lib/processor.ts'
import { drain } from '../../workers/drain.ts'
import { startRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { effects, makeEffects, mostRepeated, note } from '../jobs/support.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { putJobs } from './support.ts'

type Queue = {
  queue: string
  pauses: { scope: string; kind: string | null; reason: string; until: string | null; by: { id: string } }[]
  pending: number
  dispatched: number
  running: number
  dead: number
  oldestPendingSeconds: number
  workers: number
  concurrency: number
  perMinute: { done: number; failed: number }
}

describe('the queues', () => {
  const world = useWorld()
  let token: string
  let userId: string
  before(async () => {
    await makeEffects(world.database.admin)
    const person = await makeSuperuser('N2')
    userId = person.userId
    token = (await signIn(world, person)).token
  })
  beforeEach(async () => {
    await forgetLimits(world)
    await world.database.admin.raw(`delete from jobs; delete from queue_control; delete from queue_total`)
  })

  const read = async (name = 'inventory'): Promise<Queue> => {
    const { status, body } = await world.request<Queue[]>('GET', '/superuser/queues', { token })
    expect(status).to.equal(200)
    const found = body.find(({ queue }) => queue === name)
    if (!found) throw new Error(`no queue ${name}`)
    return found
  }
  const act = (verb: 'pause' | 'resume', body: unknown, queue = 'inventory') =>
    world.request('POST', `/superuser/queues/${queue}/${verb}`, { token, body })
  const counted = () => world.database.admin.raw(`update queue_total set measured_at = now() - interval '2 minutes'`)
  const statuses = async () => {
    const rows = await sql<{ status: string; count: number }>(
      world.database.admin,
      `select status, count(*) as count from jobs where queue = 'inventory' group by status order by status`,
    )
    return rows.map(({ status, count }) => `${count} ${status}`)
  }

  it('are all listed, with what they hold; the rows are counted once for all who ask', async () => {
    await putJobs(world, 3, { queue: 'ledger', kind: 'ledger.post' })
    await putJobs(world, 4, { queue: 'ledger', kind: 'ledger.post', status: 'pending' })
    const ledger = await read('ledger')
    expect(ledger).to.deep.include({ pending: 4, dead: 3, dispatched: 0, running: 0, workers: 0, pauses: [] })
    expect(ledger.oldestPendingSeconds).to.be.greaterThan(60)
    await putJobs(world, 5, { queue: 'ledger', kind: 'ledger.post' })
    expect((await read('ledger')).dead).to.equal(3)
    await counted()
    expect((await read('ledger')).dead).to.equal(8)
    expect((await read('reports')).pending).to.equal(0)
  })

  it('paused, Redis emptied, resumed: nothing starts meanwhile, nothing is lost, nothing runs twice', async () => {
    let isPaused = false
    const slow = onDatabase(note, async (trx, { key }) => {
      await sleep(isPaused ? 1 : 40)
      await sql(trx, `insert into effect (key) values (?)`, [key])
    })
    const relay = await startRelay()
    const workers = await startWorkers({ queues: { inventory: 2 }, processors: [slow] })
    try {
      await inPlatform(async (trx) => {
        for (let n = 0; n < 200; n += 1) await enqueue(trx, note, { key: randomUUID() })
      })
      await until(async () => (await effects()).length > 20)
      const paused = await act('pause', { reason: 'the night audit is being looked at' })
      expect(paused.status).to.equal(200)
      isPaused = true
      await until(async () => (await statuses()).every((line) => line.endsWith(' pending')))
      const done = await effects()
      expect(done.length).to.be.lessThan(200)
      const keys = await world.redis.keys(`${settings.redisPrefix.replace(/[[\]*?\\]/g, '\\$&')}*`)
      if (keys.length > 0) await world.redis.del(keys)
      relay.wake()
      await sleep(600)
      expect(await effects(), 'a paused queue starts nothing').to.have.lengthOf(done.length)
      expect(await statuses()).to.deep.equal([`${200 - done.length} pending`])
      const { workers: alive, concurrency, pauses } = await read()
      expect([alive, concurrency]).to.deep.equal([1, 2])
      expect(pauses).to.have.lengthOf(1)
      expect(pauses[0]).to.deep.include({
        scope: 'queue',
        reason: 'the night audit is being looked at',
        until: null,
        by: { type: 'superuser', id: userId },
      })
      const resumed = await act('resume', { reason: 'looked at' })
      expect(resumed.body.pauses).to.deep.equal([])
      await drain()
      expect(await effects()).to.have.lengthOf(200)
      expect(await mostRepeated()).to.equal(1)
    } finally {
      await workers.stop({ deadlineMs: 3_000 })
      await relay.stop()
    }
    const minutes = await sql<{ done: number }>(
      world.database.admin,
      `select sum(done) as done from queue_minute where queue = 'inventory'`,
    )
    expect(Number(minutes[0]?.done), 'what was done is counted for the charts').to.be.at.least(200)
  })

  it('are paused in part by kind or tenant; a pause of the part is not one of the whole', async () => {
    const tenantId = await makeTenant()
    const given = { queue: 'inventory', kind: 'inventory.expire-hold', status: 'dispatched' }
    await putJobs(world, 2, given)
    await putJobs(world, 3, { ...given, tenantId })
    await putJobs(world, 4, { ...given, kind: 'inventory.assign' })
    await act('pause', { reason: 'one house floods us', tenantId })
    expect(await statuses()).to.deep.equal(['6 dispatched', '3 pending'])
    await act('pause', { reason: 'a wrong release', kind: 'inventory.expire-hold' })
    expect(await statuses()).to.deep.equal(['4 dispatched', '5 pending'])
    await act('resume', {})
    expect((await read()).pauses.map(({ scope }) => scope).toSorted()).to.deep.equal(['kind', 'tenant'])
    await act('resume', { kind: 'inventory.expire-hold' })
    await act('resume', { tenantId })
    expect((await read()).pauses).to.deep.equal([])
  })

  it('are paused at once while a job holds its row; what is in Redis afterwards all the same comes back', async () => {
    const held = await inPlatform(async (trx) => {
      await enqueue(trx, note, { key: randomUUID() })
      return enqueue(trx, note, { key: randomUUID() })
    })
    await world.database.admin.raw(
      `update jobs set status = 'dispatched', dispatch_no = 1, leased_until = now() + interval '1 hour'`,
    )
    await inPlatform(async (trx) => {
      await sql(trx, `select id from jobs where id = ? for update`, [held])
      expect((await act('pause', { reason: 'a house is looked at' })).status).to.equal(200)
    })
    expect(await statuses()).to.deep.equal(['1 dispatched', '1 pending'])
    const relay = await startRelay()
    try {
      await until(async () => (await statuses()).join() === '2 pending')
    } finally {
      await relay.stop()
    }
  })

  it('show a pause until its end, and its new reason when it is made again', async () => {
    const until = new Date(Date.now() + 60_000).toISOString()
    await act('pause', { reason: 'for a minute', until })
    await act('pause', { reason: 'for a minute more', until })
    expect((await read()).pauses.map(({ reason, until: end }) => [reason, end])).to.deep.equal([
      ['for a minute more', until],
    ])
    await world.database.admin.raw(`update queue_control set until = now() - interval '1 second'`)
    expect((await read()).pauses).to.deep.equal([])
  })

  it('are paused by who may, with a reason, within what there is', async () => {
    const owner = (await signIn(world, await makeUser({ [await makeTenant()]: 'owner' }))).token
    const refused = await world.request('POST', '/superuser/queues/inventory/pause', {
      token: owner,
      body: { reason: 'for fun' },
    })
    expect(refused.status).to.equal(403)
    for (const [body, status] of [
      [{}, 400],
      [{ reason: '  ' }, 400],
      [{ reason: 'x'.repeat(501) }, 400],
      [{ reason: 'a reason', kind: 'payments.submit' }, 400],
      [{ reason: 'a reason', kind: 'inventory.assign', provider: 'sandbox' }, 400],
      [{ reason: 'a reason', until: '2020-01-01T00:00:00Z' }, 400],
      [{ reason: 'a reason', tenantId: randomUUID() }, 404],
      [{ reason: 'a reason', provider: 'nobody' }, 422],
    ] as const)
      expect((await act('pause', body)).status, JSON.stringify(body)).to.equal(status)
    expect((await act('pause', { reason: 'a reason' }, 'nothing')).status).to.equal(400)
    expect(await sql(world.database.admin, `select 1 from queue_control`)).to.deep.equal([])
    await act('pause', { reason: 'a reason' })
    await act('resume', { reason: 'over' })
    const entries = await sql<{ action: string; reason: string; subjectId: string }>(
      world.database.admin,
      `select action, reason, subject_id from audit_entry where action in ('queue.pause', 'queue.resume') order by at desc limit 2`,
    )
    expect(entries).to.deep.equal([
      { action: 'queue.resume', reason: 'over', subjectId: 'inventory' },
      { action: 'queue.pause', reason: 'a reason', subjectId: 'inventory' },
    ])
  })
})
