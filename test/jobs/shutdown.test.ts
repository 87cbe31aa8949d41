import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { processor } from '../../workers/lib/processor.ts'
import type { Processor } from '../../workers/lib/processor.ts'
import { drain } from '../../workers/drain.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { processors } from './kinds.ts'
import { archived, ask, call, effects, makeEffects, mostRepeated, newKey, note, rowOf, send } from './support.ts'

describe('the end of a worker', function () {
  this.timeout(120_000)
  const held = useDatabase()
  let relay: RunningRelay
  before(async () => {
    await makeEffects(held.database.admin)
    relay = await startRelay()
  })
  let started: RunningProcess | null = null
  afterEach(async () => {
    await started?.stop()
    started = null
  })
  after(() => relay.stop())
  /** SIGTERM to the process itself, whose name holds its id. */
  const end = ({ lines }: RunningProcess) => {
    const { worker } = lines.find((line) => line.msg === 'working') ?? {}
    process.kill(Number(/-(\d+)-[0-9a-f]{8}$/.exec(String(worker))?.[1]), 'SIGTERM')
  }

  it('what finishes in time finishes; what does not goes back without counting a start, and runs once elsewhere', async () => {
    const quick = newKey()
    const stuck = newKey()
    let aborted = false
    let isOver = false
    const letGo = new Map<string, () => void>()
    const each: Processor = processor(call, async (context) => {
      const { key } = context.payload
      // Deaf to the signal, too.
      if (key === stuck) context.signal.addEventListener('abort', () => (aborted = true))
      await new Promise<void>((resolve) => letGo.set(key, resolve))
      await context
        .finish((trx) => sql(trx, `insert into effect (key) values (?)`, [key]))
        .finally(() => (isOver ||= key === stuck))
    })
    const first = await startWorkers({ queues: { payments: 5 }, processors: [each] })
    const [quickId, stuckId] = [await ask(call, { key: quick }), await ask(call, { key: stuck })]
    await until(() => letGo.has(quick) && letGo.has(stuck))
    for (const id of [quickId, stuckId]) expect((await rowOf(id))?.status).to.equal('running')
    const ended = first.stop({ deadlineMs: 2_500 })
    letGo.get(quick)?.()
    await ended
    // It was not waited for past the deadline: it is still there.
    expect(isOver).to.equal(false)
    expect(aborted).to.equal(true)
    expect(await archived(quickId)).to.include({ outcome: 'done' })
    expect(await rowOf(stuckId)).to.include({ starts: 0, attempts: 0 })
    const second = await startWorkers({ queues: { payments: 5 }, processors })
    await drain()
    letGo.get(stuck)?.()
    await until(() => isOver)
    await second.stop({ deadlineMs: 2_000 })
    expect(await effects(stuck)).to.have.lengthOf(1)
    expect(await archived(stuckId)).to.include({ outcome: 'done', attempts: 0 })
  })

  it('SIGTERM under load ends the process in order: nothing lost, nothing twice', async () => {
    const keys = Array.from({ length: 200 }, newKey)
    const worker = await startProcess('testJobs', { WORKER_QUEUES: 'inventory:5,messages:3' })
    started = worker
    for (const key of keys) await ask(note, { key })
    const slow = [`slow-${newKey()}`, `slow-${newKey()}`]
    for (const key of slow) await ask(send, { key })
    await sleep(150)
    await worker.stop()
    expect(await worker.exited).to.equal(0)
    const other = await startWorkers({ queues: { inventory: 5, messages: 3 }, processors })
    await drain()
    await other.stop({ deadlineMs: 3_000 })
    for (const key of slow) expect(await effects(key)).to.have.lengthOf(1)
    expect((await effects()).filter((key) => keys.includes(key))).to.have.lengthOf(200)
    expect(await mostRepeated()).to.equal(1)
  })

  it('a second signal ends the process at once, in the middle of a job', async () => {
    const worker = await startProcess('testJobs', { WORKER_QUEUES: 'messages:1', TEST_SLOW_MS: '60000' })
    const key = `slow-${newKey()}`
    const id = await ask(send, { key })
    await until(async () => (await rowOf(id))?.status === 'running')
    end(worker)
    await until(() => worker.lines.some((line) => line.msg === 'ending'), { everyMs: 5 })
    end(worker)
    expect(await worker.exited).to.equal(1)
    expect(worker.lines.map((line) => line.msg)).not.to.include('ended')
    expect(await effects(key)).to.deep.equal([])
    // As after a power cut: its lock lapses, and the next start counts this one.
    expect(await rowOf(id)).to.include({ status: 'running', starts: 1 })
    await held.database.admin.raw(`delete from jobs`)
  })

  it('SIGTERM while Redis does not answer: what is in hand ends, and so does the process', async () => {
    const direct = settings.redisUrl
    const proxy = await startTcpProxy(Number(new URL(direct).port))
    try {
      const url = new URL(direct)
      url.port = String(proxy.port)
      const worker = await startProcess('testJobs', { WORKER_QUEUES: 'messages:1', REDIS_URL: url.href })
      const key = `slow-${newKey()}`
      const id = await ask(send, { key })
      await until(async () => (await rowOf(id))?.status === 'running')
      proxy.freezeNew(true)
      proxy.freeze()
      end(worker)
      expect(await worker.exited).to.equal(0)
      expect(worker.lines.map((line) => line.msg)).to.include('ended')
      // It had the time to finish: Redis is told by nobody, and a start of the same delivery finds the job done.
      expect(await archived(id)).to.include({ outcome: 'done', starts: 1 })
      expect(await effects(key)).to.have.lengthOf(1)
    } finally {
      await proxy.stop()
    }
  })

  it('health, readiness and metrics are served on loopback while it works', async () => {
    const worker = await startProcess('testJobs', { WORKER_QUEUES: 'inventory:1' })
    started = worker
    const text = async (path: string) => (await fetch(`${worker.baseUrl}${path}`)).text()
    expect(await text('/healthz')).to.equal('alive\n')
    expect(await text('/readyz')).to.equal('ready\n')
    await ask(note, { key: newKey() })
    await until(async () => /job_started_total\{kind="inventory.test-note"\} 1/.test(await text('/metrics')))
  })
})
