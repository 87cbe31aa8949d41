import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { putBack } from '../../db/jobs/fail.ts'
import { FenceLost } from '../../db/jobs/fence.ts'
import { GivenUp } from '../../workers/lib/failure.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import type { JobContext } from '../../workers/lib/processor.ts'
import { runStart } from '../../workers/lib/run-job.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { dispatch, handed, testWorker as worker } from './deliver.ts'
import { archived, ask, call, effects, inTenantJob, makeEffects, newKey, note, rowOf, takeStart } from './support.ts'

const take = (jobId: string, dispatchNo: number, delivery: number) => takeStart({ jobId, dispatchNo, delivery })
const insert = (trx: Parameters<typeof sql>[0], key: string) => sql(trx, `insert into effect (key) values (?)`, [key])

describe('the fence of a job', () => {
  const held = useDatabase()
  before(() => makeEffects(held.database.admin))

  it('a start whose pair is not newer is a ghost', async () => {
    const id = await ask(note, { key: newKey() })
    await dispatch(id)
    expect(await take(id, 1, 2), 'the delivery before it never began').to.include({ id, starts: 1 })
    expect(await take(id, 1, 2), 'the same delivery').to.equal(null)
    expect(await take(id, 1, 1), 'an older delivery').to.equal(null)
    expect(await take(id, 1, 3), 'a newer delivery').to.include({ id })
    expect(await take(id, 2, 1), 'a newer dispatch').to.include({ id })
    expect(await take(id, 1, 9), 'an older dispatch').to.equal(null)
  })

  it('of 20 simultaneous starts of one delivery one acts', async () => {
    const key = newKey()
    const id = await ask(note, { key })
    await dispatch(id)
    const each = onDatabase(note, (trx) => insert(trx, key))
    const delivery = { fence: { jobId: id, dispatchNo: 1, delivery: 1 }, kind: note.name, handed }
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => runStart(each, delivery, worker)))
    expect(outcomes.filter((outcome) => outcome === 'done')).to.have.lengthOf(1)
    expect(outcomes.filter((outcome) => outcome === 'ghost')).to.have.lengthOf(19)
    expect(await effects(key)).to.deep.equal([key])
  })

  it('an overtaken start cannot commit an effect, nor end the job', async () => {
    const key = newKey()
    const id = await ask(call, { key })
    await dispatch(id)
    let overtake: () => void = () => {}
    const overtaken = new Promise<void>((resolve) => (overtake = resolve))
    let seen: unknown
    const slow = processor(call, async (context) => {
      await overtaken
      await context
        .finish((trx) => insert(trx, 'never'))
        .catch((error: unknown) => {
          seen = error
          throw error
        })
    })
    const first = runStart(slow, { fence: { jobId: id, dispatchNo: 1, delivery: 1 }, kind: call.name, handed }, worker)
    await until(async () => (await rowOf(id))?.status === 'running')
    const fast = processor(call, (context) => context.finish((trx) => insert(trx, key)))
    expect(
      await runStart(fast, { fence: { jobId: id, dispatchNo: 1, delivery: 2 }, kind: call.name, handed }, worker),
    ).to.equal('done')
    overtake()
    expect(await first).to.equal('fenced')
    expect(seen).to.be.instanceOf(FenceLost)
    expect(await effects('never')).to.deep.equal([])
    expect(await effects(key)).to.deep.equal([key])
    expect(await archived(id)).to.include({ outcome: 'done' })
  })

  it('a start is overtaken as soon as a newer one runs, whatever it would write', async () => {
    const key = newKey()
    const id = await ask(call, { key })
    await dispatch(id)
    let overtake: () => void = () => {}
    const overtaken = new Promise<void>((resolve) => (overtake = resolve))
    const refused: unknown[] = []
    const slow = processor(call, async (context) => {
      await overtaken
      for (const write of [context.effect, context.finish])
        await write((trx) => insert(trx, key)).catch((error: unknown) => refused.push(error))
      throw refused[0]
    })
    const first = runStart(slow, { fence: { jobId: id, dispatchNo: 1, delivery: 1 }, kind: call.name, handed }, worker)
    await until(async () => (await rowOf(id))?.status === 'running')
    const fast = processor(call, async (context) => {
      overtake()
      expect(await first).to.equal('fenced')
      await context.finish((trx) => insert(trx, key))
    })
    expect(
      await runStart(fast, { fence: { jobId: id, dispatchNo: 1, delivery: 2 }, kind: call.name, handed }, worker),
    ).to.equal('done')
    expect(refused.map((error) => error instanceof FenceLost)).to.deep.equal([true, true])
    expect(await effects(key)).to.deep.equal([key])
  })

  it('a redelivery of a job that is over does nothing', async () => {
    const key = newKey()
    const id = await ask(note, { key })
    await dispatch(id)
    const each = onDatabase(note, (trx) => insert(trx, key))
    expect(
      await runStart(each, { fence: { jobId: id, dispatchNo: 1, delivery: 1 }, kind: note.name, handed }, worker),
    ).to.equal('done')
    expect(
      await runStart(each, { fence: { jobId: id, dispatchNo: 1, delivery: 2 }, kind: note.name, handed }, worker),
    ).to.equal('ghost')
    expect(await effects(key)).to.deep.equal([key])
  })

  it('a hand-over whose relay died before its commit may start, and the row knows it', async () => {
    const key = newKey()
    const id = await ask(note, { key })
    expect(await take(id, 1, 1), 'pending, dispatch 0').to.include({ id })
    expect(await rowOf(id)).to.include({ status: 'running', dispatchNo: 1, delivery: 1 })
  })

  it('a job that was put back starts by its next dispatch alone, and the start does not count', async () => {
    const id = await ask(note, { key: newKey() })
    await dispatch(id)
    await take(id, 1, 1)
    expect(await inPlatform((trx) => putBack(trx, { jobId: id, dispatchNo: 1, delivery: 1 }, 0))).to.equal(true)
    expect(await rowOf(id)).to.include({ status: 'pending', starts: 0, attempts: 0 })
    expect(await take(id, 1, 2), 'the old dispatch').to.equal(null)
    await dispatch(id)
    expect(await take(id, 2, 1)).to.include({ id, starts: 1 })
  })

  it('effects, follow-up jobs and the end commit together or not at all', async () => {
    const key = newKey()
    const id = await ask(call, { key })
    await dispatch(id)
    const failing = processor(call, (context) =>
      context.finish(async (trx) => {
        await insert(trx, key)
        await enqueue(trx, note, { key: `after-${key}` })
        throw new GivenUp('test', 'after the effect')
      }),
    )
    const delivery = { fence: { jobId: id, dispatchNo: 1, delivery: 1 }, kind: call.name, handed }
    await runStart(failing, delivery, worker).catch(() => {})
    expect(await effects(key)).to.deep.equal([])
    const rows = await inPlatform((trx) => sql(trx, `select id from jobs where payload->>'key' = ?`, [`after-${key}`]))
    expect(rows).to.deep.equal([])
    expect(await rowOf(id)).to.include({ status: 'dead' })
  })

  it('nothing follows finish()', async () => {
    const id = await ask(call, { key: newKey() })
    await dispatch(id)
    let problem = ''
    const twice = processor(call, async (context: JobContext<{ key: string }>) => {
      await context.finish()
      await context.effect((trx) => insert(trx, 'late')).catch((error: Error) => (problem = error.message))
    })
    const outcome = await runStart(
      twice,
      { fence: { jobId: id, dispatchNo: 1, delivery: 1 }, kind: call.name, handed },
      worker,
    )
    expect(outcome).to.equal('done')
    expect(problem).to.match(/nothing can follow finish/)
    expect(await effects('late')).to.deep.equal([])
  })

  it('a payload with a tenant is worked on inside that tenant, whose row no other tenant sees', async () => {
    const tenantId = randomUUID()
    const id = await inTenant(tenantId, (trx) => enqueue(trx, inTenantJob, { tenantId, number: 1 }))
    if (id === null) throw new Error('not made')
    await dispatch(id)
    let tenant: unknown
    const each = onDatabase(inTenantJob, async (trx) => {
      const [row] = await sql<{ tenant: string }>(trx, `select current_setting('app.tenant_id') as tenant`)
      tenant = row?.tenant
    })
    const fence = { jobId: id, dispatchNo: 1, delivery: 1 }
    const foreign = { ...handed, tenantId: randomUUID() }
    expect(await runStart(each, { fence, kind: inTenantJob.name, handed: foreign }, worker)).to.equal('ghost')
    expect(await runStart(each, { fence, kind: inTenantJob.name, handed: { ...handed, tenantId } }, worker)).to.equal(
      'done',
    )
    expect(tenant).to.equal(tenantId)
  })
})
