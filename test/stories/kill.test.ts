import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { sol } from '../../db/demo/ids.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import type { Mailbox } from '../../scripts/services/mailbox.ts'
import { clientOf } from '../support/client.ts'
import { withoutPostgres, withoutRedis } from '../support/services.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { hold, outcomeOf, pay, settled, smtpOf } from './booking.ts'
import type { Outcome } from './booking.ts'

type Kind = 'api' | 'relay' | 'workers'

describe('a booking whose processes are killed', function () {
  this.timeout(240_000)
  const world = useDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'pousada-kill-'))
  const running = new Map<Kind, RunningProcess>()
  let mailbox: Mailbox
  let mailUrl: string
  let usual: Outcome
  let day = 20

  /** One process of a kind at a time: the one that runs is killed first. */
  const start = async (kind: Kind, environment: Record<string, string> = {}) => {
    await running.get(kind)?.kill()
    const started = await startProcess(kind, { ...smtpOf(mailbox), ...environment })
    running.set(kind, started)
    void started.exited.finally(() => {
      if (running.get(kind) === started) running.delete(kind)
    })
    return started
  }
  const lacking = async (...kinds: Kind[]) => {
    await Promise.all(kinds.filter((kind) => !running.has(kind)).map((kind) => start(kind)))
    const api = running.get('api')
    if (!api) throw new Error('the api does not run')
    return api
  }
  /** The process ends itself with SIGKILL at this point, once. */
  const crashAt = (point: string) => ({ CRASH_AT: `${point}@${join(folder, randomUUID())}` })
  const bookedAt = async (api: RunningProcess) => {
    day += 3
    const held = await hold(clientOf(api.baseUrl), day)
    await pay(clientOf(api.baseUrl), held)
    return held
  }
  const outcome = async (held: Parameters<typeof outcomeOf>[2]) => {
    await until(async () => (await outcomeOf(world.database, mailUrl, held)).booking === 'confirmed', {
      withinMs: 90_000,
      everyMs: 100,
      what: 'the confirmation',
    })
    await settled(world.database)
    return outcomeOf(world.database, mailUrl, held)
  }

  before(async () => {
    settings.sandboxSecondMs = 100
    mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file: null })
    mailUrl = `http://127.0.0.1:${mailbox.httpPort}`
    settings.smtpUrl = `smtp://127.0.0.1:${mailbox.smtpPort}`
    await seedDemo()
    const api = await lacking('api', 'relay', 'workers')
    const held = await bookedAt(api)
    usual = await outcome(held)
  })
  afterEach(function () {
    if (this.currentTest?.state !== 'failed') return
    for (const [kind, { lines }] of running)
      for (const line of lines.filter((each) => Number(each.level) >= 50)) console.error(kind, JSON.stringify(line))
  })
  after(async () => {
    settings.smtpUrl = null
    await Promise.all([...running.values()].map((each) => each.kill()))
    await mailbox.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('left alone is charged once, posted once and confirmed by mail once', () => {
    expect(usual).to.include({ booking: 'confirmed', charges: 1, captured: true, unposted: 0 })
    expect(usual.payments).to.deep.equal(['captured'])
    expect(new Set(usual.mails).size, usual.mails.join()).to.equal(usual.mails.length)
    expect(usual.mails).to.have.length.above(0)
    expect(usual.postings).to.have.length.above(0)
  })

  it('is charged once though the worker dies between the answer of the gateway and its commit', async () => {
    const [api, workers] = await Promise.all([lacking('api', 'relay'), start('workers', crashAt('call.answered'))])
    const held = await bookedAt(api)
    await workers.exited
    expect((await outcomeOf(world.database, mailUrl, held)).charges).to.equal(1)
    await start('workers')
    expect(await outcome(held)).to.deep.equal(usual)
  })

  it('is done once though the worker dies right after a commit that Redis has not heard of', async () => {
    const [api, workers] = await Promise.all([lacking('api', 'relay'), start('workers', crashAt('job.committed'))])
    const held = await bookedAt(api)
    await workers.exited
    await start('workers')
    expect(await outcome(held)).to.deep.equal(usual)
  })

  it('is done once though the relay dies between handing over and its commit', async () => {
    const [api, relay] = await Promise.all([lacking('api', 'workers'), start('relay', crashAt('relay.added'))])
    const held = await bookedAt(api)
    await relay.exited
    await start('relay')
    expect(await outcome(held)).to.deep.equal(usual)
  })

  it('is done once though the api dies after its commit, and the guest sends the request again', async () => {
    const api = await lacking('api', 'relay', 'workers')
    day += 3
    const held = await hold(clientOf(api.baseUrl), day)
    const key = randomUUID()
    const first = pay(clientOf(api.baseUrl), held, key).catch(() => null)
    await until(async () => (await outcomeOf(world.database, mailUrl, held)).payments.length > 0, {
      everyMs: 1,
      what: 'the payment',
    })
    await api.kill()
    const answered = await first
    const again = await start('api')
    const paymentId = await pay(clientOf(again.baseUrl), held, key)
    if (answered !== null) expect(paymentId).to.equal(answered)
    expect(await outcome(held)).to.deep.equal(usual)
  })

  it('is done once though Redis forgets everything while it is under way', async () => {
    const api = await lacking('api', 'relay')
    await running.get('workers')?.kill()
    const held = await bookedAt(api)
    await until(
      async () => {
        const rows = await sql(world.database.admin, `select 1 from jobs where status = 'dispatched'`)
        return rows.length > 0
      },
      { what: 'the hand-over' },
    )
    const redis = new Redis(settings.redisUrl)
    await redis.flushall()
    redis.disconnect()
    await start('workers')
    expect(await outcome(held)).to.deep.equal(usual)
  })

  it('is held and paid while Redis is stopped, and carried out when it returns', async () => {
    const api = await lacking('api', 'relay', 'workers')
    const held = await withoutRedis(async () => {
      const taken = await bookedAt(api)
      expect((await outcomeOf(world.database, mailUrl, taken)).payments).to.deep.equal(['created'])
      return taken
    })
    expect(await outcome(held)).to.deep.equal(usual)
  })

  it('is refused with 503 while PostgreSQL is stopped, and taken again without a restart', async () => {
    const api = await lacking('api', 'relay', 'workers')
    const request = clientOf(api.baseUrl)
    await withoutPostgres(async () => {
      const config = await request('GET', `/api/public/property/${sol.propertyId}/rooms`)
      expect(config.status).to.equal(503)
      expect(config.headers['retry-after']).to.match(/^\d+$/)
      expect(config.body).to.include({ statusCode: 503 })
      expect((await request('GET', '/healthz')).status).to.equal(200)
      expect((await request('GET', '/readyz')).status).to.equal(503)
    })
    await until(async () => (await request('GET', '/readyz')).status === 200, { what: 'readiness' })
    expect(await outcome(await bookedAt(api))).to.deep.equal(usual)
  })
})
