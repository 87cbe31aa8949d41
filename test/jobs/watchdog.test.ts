import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { rebuilds } from '../../workers/lib/metrics.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import type { TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { processors } from './kinds.ts'
import { ask, effects, makeEffects, mostRepeated, newKey, note, send } from './support.ts'

const patience = { everyMs: 60, looks: 6 }

describe('a worker whose connections to Redis are dead without a word', function () {
  this.timeout(120_000)
  const held = useDatabase()
  let direct = ''
  let proxy: TcpProxy
  let relay: RunningRelay
  let workers: RunningWorkers | null = null
  /** REDIS_URL by way of the proxy. */
  const through = () => {
    const url = new URL(direct)
    url.port = String(proxy.port)
    return url.href
  }
  before(async () => {
    direct = settings.redisUrl
    await makeEffects(held.database.admin)
    relay = await startRelay()
  })
  beforeEach(async () => {
    proxy = await startTcpProxy(Number(new URL(direct).port))
    settings.redisUrl = through()
    workers = await startWorkers({ queues: { inventory: 2, messages: 2 }, processors, patience })
  })
  afterEach(async () => {
    await workers?.stop({ deadlineMs: 1_000 })
    workers = null
    settings.redisUrl = direct
    await proxy.stop()
  })
  after(() => relay.stop())
  const rebuilt = async () =>
    (await rebuilds.get()).values.reduce((sum: number, { value }: { value: number }) => sum + value, 0)
  const ran = async (key: string) => (await effects(key)).length === 1

  it('is rebuilt once jobs wait and none starts, and works on', async () => {
    const first = newKey()
    await ask(note, { key: first })
    await until(() => ran(first))
    proxy.freeze()
    const keys = Array.from({ length: 20 }, newKey)
    for (const key of keys) await ask(note, { key })
    await until(() => ran(keys[19] ?? ''))
    expect(await mostRepeated()).to.equal(1)
  })

  it('is left alone while nothing waits, and while all that it may hold is in hand', async () => {
    const before = await rebuilt()
    const keys = [`slow-${newKey()}`, `slow-${newKey()}`, newKey()]
    for (const key of keys) await ask(send, { key })
    let failed = false
    void workers?.failed.then(() => (failed = true))
    await until(() => ran(keys[2] ?? ''))
    expect(failed).to.equal(false)
    expect(await rebuilt()).to.equal(before)
  })

  it('is left alone while Redis itself is away', async () => {
    let failed = false
    void workers?.failed.then(() => (failed = true))
    const before = await rebuilt()
    await ask(note, { key: newKey() })
    proxy.freezeNew(true)
    proxy.freeze()
    const key = newKey()
    await ask(note, { key })
    await new Promise((resolve) => setTimeout(resolve, patience.everyMs * patience.looks * 3))
    expect(failed).to.equal(false)
    expect(await rebuilt()).to.equal(before)
    proxy.freezeNew(false)
    proxy.cut()
    await until(() => ran(key))
  })

  it('ends its process as failed where rebuilding did not help', async () => {
    await workers?.stop({ deadlineMs: 1_000 })
    const process = await startProcess('testJobs', { WORKER_QUEUES: 'inventory:1', TEST_WATCHDOG_MS: '50' })
    const first = newKey()
    await ask(note, { key: first })
    await until(() => ran(first))
    // The watchdog's own questions get through; the scripts of any worker do not.
    proxy.freezeOn('eval')
    proxy.freeze()
    await ask(note, { key: newKey() })
    expect(await process.exited).to.equal(1)
    expect(process.lines.map((line) => line.msg)).to.include('ends, to be started anew')
  })
})
