import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform, inTenant, lastly, onCommit, openDatabase, sql, sqlOne } from '../../db/lib/connection.ts'
import { completeJob } from '../../db/jobs/complete.ts'
import { FenceLost, lockStart } from '../../db/jobs/fence.ts'
import { useDatabase } from '../support/database.ts'
import { ask, effects, makeEffects, newKey, note, rowOf } from './support.ts'
import { dispatch } from './deliver.ts'

/** Everything on one connection, so that what a transaction left behind on it shows in the next one. */
describe('statements that go with the beginning and the end of a transaction', () => {
  const held = useDatabase()
  before(async () => {
    await makeEffects(held.database.admin)
    await held.database.admin.raw(
      `alter table effect add constraint effect_once unique (key) deferrable initially deferred`,
    )
    await openDatabase(settings.databaseUrl, 1)
  })
  const insert = (trx: Parameters<typeof sql>[0], key: string) => sql(trx, `insert into effect (key) values (?)`, [key])
  const ready = async () => {
    const id = await ask(note, { key: newKey() })
    await dispatch(id)
    return { jobId: id, dispatchNo: 1, delivery: 1 }
  }
  const done = { outcome: 'done', worker: 'test', ranMs: 1 } as const

  for (const round of ['before it is planned', 'once it is planned', 'once more'])
    it(`the job is locked, its effect written and its end filed: ${round}`, async () => {
      const fence = await ready()
      const kind = await inPlatform(
        async (trx, [start]: { kind: string; payload: object }[]) => {
          await insert(trx, fence.jobId)
          completeJob(trx, fence, done)
          return start?.kind
        },
        {},
        { first: lockStart(fence, 5_000) },
      )
      expect(kind).to.equal(note.name)
      expect([await rowOf(fence.jobId), await effects(fence.jobId)]).to.deep.equal([null, [fence.jobId]])
    })

  it('an end whose row is gone takes the effect with it', async () => {
    const fence = await ready()
    const ended = inPlatform(async (trx) => {
      await insert(trx, fence.jobId)
      await sql(trx, `delete from jobs where id = ?`, [fence.jobId])
      completeJob(trx, fence, done)
    })
    expect(await ended.catch((error: unknown) => error)).to.be.instanceOf(FenceLost)
    expect([(await rowOf(fence.jobId))?.status, await effects(fence.jobId)]).to.deep.equal(['dispatched', []])
  })

  it('a commit that a deferred constraint refuses leaves the job as it was', async () => {
    const fence = await ready()
    const ended = inPlatform(async (trx) => {
      await insert(trx, fence.jobId)
      await insert(trx, fence.jobId)
      completeJob(trx, fence, done)
    })
    expect(await ended.catch((error: unknown) => (error as { constraint: string }).constraint)).to.equal('effect_once')
    expect([(await rowOf(fence.jobId))?.status, await effects(fence.jobId)]).to.deep.equal(['dispatched', []])
  })

  it('a first statement that fails begins nothing, and leaves nothing on the connection', async () => {
    const first = { text: `select 1 / cast(:by as int) as one`, bindings: { by: 1 } }
    const works = async () => inPlatform((_, [row]: { one: number }[]) => Promise.resolve(row?.one), {}, { first })
    expect([await works(), await works()]).to.deep.equal([1, 1])
    let began = false
    const failing = inPlatform(() => Promise.resolve((began = true)), {}, { first: { ...first, bindings: { by: 0 } } })
    expect(await failing.catch((error: unknown) => (error as { code: string }).code)).to.equal('22012')
    expect([began, await works()]).to.deep.equal([false, 1])
  })

  it('values arrive as they are, also those that no text could hold', async () => {
    const kept = `select cast(:text as text) as text, cast(:list as text[]) as list, cast(:none as text) as none`
    for (const text of [`it's`, `a ? b`, `back\\slash \\? $1 :name`, `'; drop table effect; --`, 'ü 漢', ''])
      for (const list of [['a-b'], ['null', 'NULL'], [], [`o'x, "y"`, '{}']]) {
        const rows: unknown[] = []
        for (let n = 0; n < 2; n += 1)
          await inPlatform(
            (_, found: unknown[]) => Promise.resolve(rows.push(...found)),
            {},
            { first: { text: kept, bindings: { text, list, none: null } } },
          )
        expect(rows).to.deep.equal([1, 2].map(() => ({ text, list, none: null })))
      }
  })

  it('what is sent while the commit is under way is refused, not written after it', async () => {
    const last = { text: `select 1 as late`, bindings: {} }
    await inPlatform((trx) => Promise.resolve(lastly(trx, last)))
    for (const ends of [false, true]) {
      const key = newKey()
      const late: Promise<unknown>[] = []
      await inPlatform(async (trx) => {
        if (ends) lastly(trx, last)
        await insert(trx, key)
        setImmediate(() => late.push(insert(trx, `${key} late`).catch((error: unknown) => (error as Error).message)))
      })
      await new Promise(setImmediate)
      expect((await Promise.all(late)).map(String), `with a last statement: ${ends}`).to.match(/already complete/)
      expect([await effects(key), await effects(`${key} late`)]).to.deep.equal([[key], []])
    }
  })

  it('a transaction in which an error was passed over is not taken for committed', async () => {
    for (const ends of [false, true]) {
      const key = newKey()
      let told = false
      const ended = inPlatform(async (trx) => {
        if (ends) lastly(trx, { text: `select 2 as late`, bindings: {} })
        await insert(trx, key)
        await sql(trx, `select 1 / 0`).catch(() => null)
        onCommit(trx, () => {
          told = true
        })
      })
      expect(await ended.catch((error: unknown) => error), `with a last statement: ${ends}`).to.be.instanceOf(Error)
      expect([told, await effects(key)]).to.deep.equal([false, []])
    }
  })

  it('a transaction has one last statement, and a tenant has a name that is one', async () => {
    const last = { text: `select 1 as one`, bindings: {} }
    const twice = inPlatform(async (trx) => {
      lastly(trx, last)
      lastly(trx, last)
      await sqlOne(trx, `select 1`)
    })
    expect(await twice.catch((error: unknown) => (error as Error).message)).to.equal(
      'a transaction has one last statement',
    )
    const odd = inTenant(`'; reset role; --`, (trx) => sql(trx, `select 1`))
    expect(await Promise.resolve(odd).catch((error: unknown) => (error as Error).message)).to.equal(
      'a tenant is named by a uuid',
    )
  })
})
