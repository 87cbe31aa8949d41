import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { randomUUID } from 'node:crypto'
import { foreign } from '../../workers/lib/metrics.ts'
import { openQueue } from '../../workers/lib/queues.ts'
import { startWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { processors } from './kinds.ts'
import { effects, makeEffects, note, openRedis, wipe } from './support.ts'

describe('a job in Redis that nobody asked for', () => {
  const held = useDatabase()
  let redis: Redis
  before(async () => {
    await makeEffects(held.database.admin)
    redis = openRedis()
  })
  after(async () => {
    await wipe(redis)
    redis.disconnect()
  })

  const count = async () => (await foreign.get()).values.find(({ labels }) => labels.queue === note.queue)?.value ?? 0

  it('is counted for the alert and not run, whether its id is strange or names a row that is not there', async () => {
    const queue = openQueue(note.queue, redis)
    const workers = await startWorkers({ queues: [note.queue], processors })
    const data = { tenantId: null, requestId: 'r', traceparent: null }
    await queue.add(note.name, data, { jobId: 'of-another-installation' })
    await until(async () => (await count()) === 1, { what: 'the count of a strange id' })
    await queue.add(note.name, data, { jobId: `j-${randomUUID()}-1` })
    await until(async () => (await queue.getCompletedCount()) === 2, { what: 'the end of both' })
    expect(await effects()).to.deep.equal([])
    await workers.stop({ deadlineMs: 2_000 })
    await queue.close()
  })
})
