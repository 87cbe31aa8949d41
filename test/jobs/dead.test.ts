import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { lostStarts } from '../../db/jobs/fence.ts'
import { discardJobs, replayJobs } from '../../db/jobs/operate.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { deliver, dispatch, fine, ready, refused } from './deliver.ts'
import { archived, ask, call, newKey, note, once, pick, rowOf, takeStart } from './support.ts'

const replay = (id: string) => inPlatform((trx) => replayJobs(trx, { selection: { jobIds: [id] }, reason: 'mended' }))

describe('jobs that die', () => {
  useDatabase()

  it('a job whose process died three times is dead of poison, in both styles', async () => {
    const outside = await ready(call)
    const each = processor(call, () => Promise.resolve())
    // Three starts took it and wrote nothing more.
    await inPlatform((trx) =>
      sql(trx, `update jobs set starts = 3, delivery = 3, status = 'running' where id = ?`, [outside]),
    )
    expect(await deliver(each, outside, 4), 'starts 1 to 3 never came back').to.equal('given up: poison')
    const harmless = onDatabase(note, () => Promise.resolve())
    // The first start left no trace, the next two claimed the job because of it.
    const begun = `update jobs set starts = :starts, delivery = :starts, status = 'running' where id = :id`
    const inside = await ready(note)
    await inPlatform((trx) => sql(trx, begun, { id: inside, starts: 3 }))
    expect(await deliver(harmless, inside, 4)).to.equal('given up: poison')
    const twice = await ready(note)
    await inPlatform((trx) => sql(trx, begun, { id: twice, starts: 2 }))
    expect(await deliver(harmless, twice, 3)).to.equal('done')
  })

  it('three deaths poison a job on the database, of which the first leaves no trace and the others do', async () => {
    const id = await ready(note)
    const lost = (delivery: number) =>
      inPlatform((trx) => lostStarts(trx, { jobId: id, dispatchNo: 1, delivery }, 'database'))
    const take = (delivery: number, unseen: number) => takeStart({ jobId: id, dispatchNo: 1, delivery }, 'died', unseen)
    expect(await lost(1)).to.deep.equal({ begun: 0, unseen: 0 })
    expect(await lost(2)).to.deep.equal({ begun: 0, unseen: 1 })
    expect(await take(2, 1)).to.include({ starts: 2 })
    expect(await lost(3)).to.deep.equal({ begun: 2, unseen: 0 })
    expect(await take(3, 0)).to.include({ starts: 3 })
    expect(await fine(id, 4)).to.equal('given up: poison')
  })

  it('of two suspects in one process the second is not begun while the first runs', async () => {
    const [first, second] = [await ready(call), await ready(call)]
    for (const id of [first, second])
      await inPlatform((trx) =>
        sql(trx, `update jobs set starts = 2, delivery = 2, status = 'running' where id = ?`, [id]),
      )
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const began: string[] = []
    const each = processor(call, async (context) => {
      began.push(context.jobId)
      await finished
    })
    const both = [deliver(each, first, 3), deliver(each, second, 3)]
    await until(() => began.length > 0)
    // A third, of which nothing was lost, passes by them both.
    const other = await ready(note)
    expect(await fine(other)).to.equal('done')
    expect(began).to.have.lengthOf(1)
    const waiting = await rowOf(began[0] === first ? second : first)
    expect(waiting, 'nothing is held against who only waits').to.include({ starts: 2, delivery: 2 })
    finish()
    expect(await Promise.all(both)).to.deep.equal(['done', 'done'])
    expect(began.sort()).to.deep.equal([first, second].sort())
  })

  it('deliveries that reached no process are no deaths', async () => {
    const id = await ready(note)
    expect(await fine(id, 9)).to.equal('done')
  })

  it('failures that came back are no deaths', async () => {
    const id = await ready(note)
    const each = onDatabase(note, () => Promise.reject(new Error('no')))
    for (let delivery = 1; delivery <= 6; delivery += 1) expect(await deliver(each, id, delivery)).to.match(/^again/)
    expect(await rowOf(id)).to.include({ starts: 6, attempts: 6 })
  })

  it('ten poisoned jobs of a kind pause the kind, and no job of it is picked', async () => {
    const each = onDatabase(once, () => Promise.resolve())
    for (let n = 0; n < 10; n += 1) {
      const id = await ready(once)
      await inPlatform((trx) =>
        sql(trx, `update jobs set starts = 3, delivery = 3, status = 'running' where id = ?`, [id]),
      )
      expect(await deliver(each, id, 4)).to.equal('given up: poison')
    }
    await ask(once, { key: newKey() })
    await ask(call, { key: newKey() })
    const { jobs } = await inPlatform((trx) => pick(trx, 'payments'))
    expect(jobs.map((job) => job.kind))
      .to.include(call.name)
      .and.not.include(once.name)
  })

  it('dead jobs come back by replay with their counters anew, or are put away', async () => {
    const id = await ready(note)
    await refused(id)
    expect(await replay(id)).to.deep.equal({ count: 1, kept: 0 })
    expect(await rowOf(id)).to.include({ status: 'pending', attempts: 0, starts: 0 })
    await dispatch(id)
    expect(await fine(id, 1, 2)).to.equal('done')
    const [over] = await inPlatform((trx) =>
      sql<{ history: { what: string }[] }>(trx, `select history from job_archive where id = ?`, [id]),
    )
    expect(over?.history.map(({ what }) => what)).to.deep.equal(['died', 'replayed'])
    const other = await ready(note)
    await refused(other)
    expect(await inPlatform((trx) => discardJobs(trx, [other], 'obsolete'))).to.equal(1)
    expect(await archived(other)).to.include({ outcome: 'discarded', reason: 'obsolete' })
  })

  it('a dead job whose key a live one has stays dead', async () => {
    const first = await ask(note, { key: newKey() }, { uniqueKey: 'the-same' })
    await dispatch(first)
    await refused(first)
    await ask(note, { key: newKey() }, { uniqueKey: 'the-same' })
    expect(await replay(first)).to.deep.equal({ count: 0, kept: 1 })
    expect(await rowOf(first)).to.include({ status: 'dead' })
  })
})
