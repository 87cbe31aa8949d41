import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform, openDatabase, sqlOne } from '../../db/connection.ts'
import type { PlatformTrx } from '../../db/connection.ts'
import { leadQueue, lookAt, queuesWithWork } from '../../db/jobs/dispatch.ts'
import { pickFair } from '../../db/jobs/fair.ts'
import { lockStart } from '../../db/jobs/fence.ts'
import { useDatabase } from '../support/database.ts'

const flooded = 5_000

describe('plans of statements that were made while the table of jobs was empty', () => {
  const held = useDatabase()
  const { now } = Date
  /** One connection, on which everything was planned over an empty table; then comes a flood, and nothing analyses it. */
  before(async () => {
    await openDatabase(settings.databaseUrl, 1)
    await held.database.admin.raw(`alter table jobs set (autovacuum_enabled = false)`)
    await held.database.admin.raw(`vacuum analyze jobs`)
    for (let n = 0; n < 10; n += 1)
      for (const work of [find, fill, begin]) await inPlatform((trx): Promise<unknown> => work(trx))
    await held.database.admin.raw(
      `insert into jobs (id, tenant_id, queue, kind, payload, request_id, actor)
       select gen_random_uuid(), ('00000000-0000-4000-8000-' || lpad((n % 50)::text, 12, '0'))::uuid, 'inventory', 'inventory.assign', '{}', 'flood',
         '{"type": "system", "id": null}' from generate_series(1, ${flooded}) as n`,
    )
  })
  after(() => {
    Date.now = now
  })

  const find = (trx: PlatformTrx) => queuesWithWork(trx)
  const fill = async (trx: PlatformTrx) => {
    await leadQueue(trx, 'inventory')
    const look = await lookAt(trx, 'inventory')
    await pickFair(trx, 'inventory', { ...look, due: 20, waiting: 0, depth: 20, readyClasses: ['normal'] })
  }
  const begin = (trx: PlatformTrx) => lockStart(trx, { jobId: randomUUID(), dispatchNo: 1, delivery: 1 }, 1_000)
  const reads = async (trx: PlatformTrx): Promise<number> => {
    const row = await sqlOne<{ count: number }>(
      trx,
      `select coalesce(sum(seq_tup_read), 0)::int8 as count from pg_stat_xact_user_tables where relname = 'jobs'`,
    )
    return row?.count ?? 0
  }
  /** Rows that it read without an index. */
  const scanned = (work: (trx: PlatformTrx) => Promise<unknown>) =>
    inPlatform(async (trx) => {
      const before = await reads(trx)
      await work(trx)
      return (await reads(trx)) - before
    })

  it('do not make the relay read the flood', async () => {
    expect([await scanned(find), await scanned(fill)]).to.deep.equal([0, 0])
  })

  it('are made anew after ten seconds', async () => {
    expect(await scanned(begin), 'what is wrong with them').to.equal(flooded)
    Date.now = () => now() + 11_000
    expect(await scanned(begin)).to.equal(0)
  })
})
