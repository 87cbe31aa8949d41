import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { processors } from './kinds.ts'
import { archived, ask, call, effects, makeEffects, mostRepeated, newKey, note, rowOf, send } from './support.ts'

const markers = mkdtempSync(join(tmpdir(), 'pousada-crash-'))
const crashAt = (point: string) => `${point}@${join(markers, newKey())}`

describe('processes that end as in a power cut', function () {
  this.timeout(240_000)
  const held = useDatabase()
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null
  before(() => makeEffects(held.database.admin))
  after(() => rmSync(markers, { recursive: true, force: true }))
  afterEach(async () => {
    await workers?.stop({ deadlineMs: 3_000 })
    await relay?.stop()
    workers = null
    relay = null
  })

  it('workers killed after the claim, after the answer, after the commit, or frozen past their lock: each effect once', async () => {
    relay = await startRelay()
    const [afterCommit, afterAnswer, afterClaim, frozen] = await Promise.all([
      startProcess('testJobs', { WORKER_QUEUES: 'inventory:1', CRASH_AT: crashAt('job.committed') }),
      startProcess('testJobs', { WORKER_QUEUES: 'payments:1', CRASH_AT: crashAt('call.answered') }),
      startProcess('testJobs', { WORKER_QUEUES: 'messages:1', CRASH_AT: crashAt('job.claimed') }),
      startProcess('testJobs', { WORKER_QUEUES: 'channels:1', TEST_SLOW_MS: '10000' }),
    ])
    const keys = { committed: newKey(), answered: newKey(), claimed: newKey(), frozen: `slow-${newKey()}` }
    const committed = await ask(note, { key: keys.committed })
    const answered = await ask(call, { key: keys.answered })
    const claimed = await ask(send, { key: keys.claimed })
    const slow = await ask({ ...send, queue: 'channels' }, { key: keys.frozen })
    await until(async () => (await rowOf(slow))?.status === 'running')
    frozen.signal('SIGSTOP')
    await Promise.all([afterCommit.exited, afterAnswer.exited, afterClaim.exited])

    workers = await startWorkers({ queues: { inventory: 2, payments: 2, messages: 2, channels: 2 }, processors })
    for (const id of [committed, answered, claimed, slow])
      await until(async () => (await archived(id))?.outcome === 'done', { withinMs: 60_000, everyMs: 100 })
    frozen.signal('SIGCONT')
    // Frozen for longer than its queue gives a job, it ends out of time; else its effect is refused.
    await until(async () => {
      const metrics = await (await fetch(`${frozen.baseUrl}/metrics`)).text()
      return /^job_finished_total\{kind="messages.test-send",outcome="(fenced|ghost)"\} 1$/m.test(metrics)
    })
    await frozen.stop()

    for (const key of Object.values(keys)) expect(await effects(key), key).to.have.lengthOf(1)
    const details = await inPlatform((trx) =>
      sql<{ detail: string }>(trx, `select detail from effect where key = ?`, [keys.answered]),
    )
    expect(details[0]?.detail, 'the second start knows that the first may have acted').to.equal('started known')
    const calls = await inPlatform((trx) =>
      sql(trx, `select state, tries, answer_reference from external_call where idempotency_key = ?`, [keys.answered]),
    )
    expect(calls).to.deep.equal([{ state: 'succeeded', tries: 2, answerReference: 'reference-1' }])
    expect(await archived(claimed)).to.include({ starts: 2, attempts: 0 })
  })

  it('relays killed before and after their commit: each job once', async () => {
    workers = await startWorkers({ queues: { inventory: 5 }, processors })
    const keys = Array.from({ length: 30 }, newKey)
    for (const point of ['relay.added', 'relay.committed']) {
      // The second finds what the first one left, and may be dead before anybody has seen it ready.
      const dying = await startProcess('relay', { CRASH_AT: crashAt(point) }, { ready: false })
      for (const key of keys.splice(0, 15)) await ask(note, { key })
      await dying.exited
    }
    relay = await startRelay()
    await until(async () => (await effects()).length >= 30)
    await sleep(500)
    expect(await mostRepeated()).to.equal(1)
  })
})
