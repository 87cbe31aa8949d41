import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import { drain } from '../../workers/drain.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { archived, ask, call, effects, makeEffects, newKey, note, rowOf } from './support.ts'

describe('a job through relay, Redis and worker', () => {
  const held = useDatabase()
  let relay: RunningRelay
  let workers: RunningWorkers
  before(async () => {
    await makeEffects(held.database.admin)
    relay = await startRelay()
    workers = await startWorkers({
      queues: { inventory: 5, payments: 5 },
      processors: [
        onDatabase(note, (trx, { key }) => sql(trx, `insert into effect (key) values (?)`, [key])),
        processor(call, async (context) => {
          await context.effect((trx) =>
            sql(trx, `insert into effect (key, detail) values (?, 'effect')`, [context.payload.key]),
          )
          await context.finish((trx) => enqueue(trx, note, { key: `after-${context.payload.key}` }))
        }),
      ],
    })
  })
  after(async () => {
    await workers.stop({ deadlineMs: 3_000 })
    await relay.stop()
  })

  it('a job on the database acts, ends and is archived, once', async () => {
    const key = newKey()
    const id = await ask(note, { key })
    await drain()
    expect(await effects(key)).to.deep.equal([key])
    expect(await rowOf(id)).to.equal(null)
    expect(await archived(id)).to.include({ outcome: 'done', attempts: 0, money: false })
  })

  it('a job that calls the outside acts under its fence, and its follow-up commits with its end', async () => {
    const key = newKey()
    const id = await ask(call, { key })
    await drain()
    expect(await effects(key)).to.deep.equal([key])
    expect(await effects(`after-${key}`)).to.deep.equal([`after-${key}`])
    expect(await archived(id)).to.include({ outcome: 'done', starts: 1, money: true })
  })

  it('a job of an aborted transaction never was', async () => {
    const key = newKey()
    await inPlatform(async (trx) => {
      await enqueue(trx, note, { key })
      throw new Error('rolled back')
    }).catch(() => {})
    await drain()
    expect(await effects(key)).to.deep.equal([])
  })

  it('500 jobs at once run once each', async () => {
    const keys = Array.from({ length: 500 }, newKey)
    await inPlatform(async (trx) => {
      for (const key of keys) await enqueue(trx, note, { key })
    })
    await drain()
    const seen = await effects()
    expect(seen.filter((key) => keys.includes(key))).to.have.lengthOf(500)
  })
})
