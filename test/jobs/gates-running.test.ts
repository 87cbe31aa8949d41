import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { openGate } from '../../db/jobs/gates.ts'
import { externalCall } from '../../workers/lib/external-call.ts'
import type { CallOutcome } from '../../workers/lib/external-call.ts'
import { processor } from '../../workers/lib/processor.ts'
import { startRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { ask, gateOf, mine, other } from './gates.ts'
import { archived, call, openRedis, rowOf, wipe } from './support.ts'

describe('gates through relay, Redis and worker', () => {
  const held = useDatabase()
  const admin = (text: string) => held.database.admin.raw(text)
  let redis: Redis
  before(() => {
    redis = openRedis()
  })
  after(async () => {
    await wipe(redis)
    redis.disconnect()
  })

  it('jobs that Redis has when their gate closes go back, and no start of theirs counts; open again, they run once', async () => {
    const calls: string[] = []
    let sign: CallOutcome = { kind: 'not_sent', code: 'busy', httpStatus: 429, afterMs: 60_000 }
    const calling = processor(call, async (context) => {
      const name = { provider: 'sandbox', operation: 'test', key: `${context.payload.key}-${context.attempt}` }
      const { outcome } = await externalCall(context, name, () => {
        calls.push(context.gate)
        return Promise.resolve<CallOutcome>(context.gate === mine ? sign : { kind: 'known' })
      })
      if (outcome.kind === 'not_sent') context.retryLater('busy')
      await context.finish()
    })
    // All are in Redis before anybody works: one at a time then meets the closed gate.
    const relay = await startRelay()
    const ids = await ask(mine, 5)
    const [neighbour = ''] = await ask(other)
    await until(
      async () => (await inPlatform((trx) => sql(trx, `select 1 from jobs where status = 'pending'`))).length === 0,
    )
    const workers = await startWorkers({ queues: { payments: 1 }, processors: [calling] })
    const states = async () =>
      (await Promise.all(ids.map(rowOf))).map((row) => `${row?.status} ${row?.starts} ${row?.attempts}`)
    await until(async () => (await states()).filter((state) => state === 'pending 0 0').length === 4)
    expect(calls.filter((gate) => gate === mine)).to.have.lengthOf(1)
    await until(async () => (await archived(neighbour))?.outcome === 'done')
    sign = { kind: 'known' }
    await inPlatform((trx) => openGate(trx, mine))
    await admin(`update jobs set run_at = now(), status = 'pending'`)
    relay.wake()
    await until(async () => (await Promise.all(ids.map(archived))).every((job) => job?.outcome === 'done'))
    expect((await gateOf(mine))?.state).to.equal('open')
    await workers.stop({ deadlineMs: 2_000 })
    await relay.stop()
  })

  it('a relay that stops in the middle of a hand-over is relieved, though it never lets go', async () => {
    let release = () => {}
    const stuck = new Promise<void>((resolve) => {
      release = resolve
    })
    let isStuck = false
    const first = await startRelay({
      afterAdd: () => {
        isStuck = true
        return stuck
      },
    })
    const [id = ''] = await ask(mine)
    await until(() => Promise.resolve(isStuck))
    const second = await startRelay()
    await until(async () => (await rowOf(id))?.status === 'dispatched').finally(release)
    await Promise.all([first.stop(), second.stop()])
  })
})
