import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform, openDatabase, prepared, sqlOne } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { filling, leadQueue, lookForWork, walkIndexes } from '../../db/jobs/dispatch.ts'
import { pickFair } from '../../db/jobs/fair.ts'
import { lockFence, lockStart } from '../../db/jobs/fence.ts'
import { visitedIn } from '../lib/rows-visited.ts'
import { useDatabase } from '../support/database.ts'

const flooded = 5_000

describe('plans of statements that were made while the table of jobs was empty', () => {
  const held = useDatabase()
  const { now } = Date
  /** One connection, on which everything was planned over an empty table; then comes a flood, and nothing analyses it. */
  before(async () => {
    await openDatabase(settings.databaseUrl, 1)
    await held.database.admin.raw(`vacuum analyze jobs`)
    // Plans grow old when the test says so, however slow the machine is.
    const begun = now()
    Date.now = () => begun
    for (let n = 0; n < 10; n += 1) for (const work of [find, fill, begin]) await work(() => Promise.resolve(0))
    await held.database.admin.raw(
      `insert into jobs (id, tenant_id, queue, kind, payload, request_id, actor)
       select gen_random_uuid(), ('00000000-0000-4000-8000-' || lpad((n % 50)::text, 12, '0'))::uuid, 'inventory', 'inventory.assign', '{}', 'flood',
         '{"type": "system", "id": null}' from generate_series(1, ${flooded}) as n`,
    )
  })
  after(() => {
    Date.now = now
  })

  type Ask = (trx: PlatformTrx) => Promise<number>
  const find = (then: Ask) => inPlatform(then, {}, { first: lookForWork, local: walkIndexes })
  const fill = (then: Ask) =>
    inPlatform(
      async (trx) => {
        const look = await leadQueue(trx, 'inventory')
        if (!look) throw new Error('another relay fills the queue')
        await pickFair(trx, 'inventory', { ...look, due: 20, waiting: 0, depth: 20, readyClasses: ['normal'] })
        return then(trx)
      },
      {},
      { local: filling },
    )
  const begin = (then: Ask) =>
    inPlatform(then, {}, { first: lockStart({ jobId: randomUUID(), dispatchNo: 1, delivery: 1 }, 1_000) })
  const reads = async (trx: PlatformTrx): Promise<number> => {
    const row = await sqlOne<{ count: number }>(
      trx,
      `select coalesce(sum(seq_tup_read), 0)::int8 as count from pg_stat_xact_user_tables where relname = 'jobs'`,
    )
    return row?.count ?? 0
  }
  /** Rows that its transaction read without an index; what is counted of those before it goes with the one that says so. */
  const scanned = async (work: (then: Ask) => Promise<number>) => {
    await inPlatform((trx) => sqlOne(trx, `select pg_stat_force_next_flush()`))
    return work(reads)
  }

  it('do not make the relay read the flood', async () => {
    expect([await scanned(find), await scanned(fill)]).to.deep.equal([0, 0])
  })

  it('are made anew after ten seconds', async () => {
    expect(await scanned(begin), 'what is wrong with them').to.equal(flooded)
    const later = Date.now() + 11_000
    Date.now = () => later
    expect(await scanned(begin)).to.equal(0)
  })
})

describe('the lock of a job that runs', () => {
  const held = useDatabase()

  it('finds it by its key among thousands, also by a plan that was made while none ran', async () => {
    await openDatabase(settings.databaseUrl, 1)
    const { admin } = held.database
    await admin.raw(
      `insert into jobs (id, queue, kind, payload, request_id, actor)
       select gen_random_uuid(), 'inventory', 'inventory.assign', '{}', 'flood', '{"type": "system", "id": null}' from generate_series(1, ${flooded})`,
    )
    await admin.raw(`vacuum analyze jobs`)
    const lock = (jobId: string) =>
      visitedIn(null, 'jobs', (trx) => {
        const { text, bindings } = lockFence({ jobId, dispatchNo: 0, delivery: 0 })
        return prepared(trx, text, bindings)
      })
    for (let n = 0; n < 10; n += 1) await lock(randomUUID())
    await admin.raw(`update jobs set status = 'running'`)
    const one = await sqlOne<{ id: string }>(admin, `select id from jobs limit 1`)
    expect(await lock(one?.id ?? '')).to.be.within(1, 10)
  })
})
