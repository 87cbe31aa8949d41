import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, sqlOne } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { listJobs } from '../../db/jobs/list.ts'
import type { JobFilter } from '../../db/jobs/list.ts'
import { makeTenant } from '../auth/support.ts'
import { useDatabase } from '../support/database.ts'
import { archiveJobs, putJobs } from './support.ts'

const many = 2_000

describe('lists of jobs', () => {
  const held = useDatabase()
  let tenantId: string
  before(async () => {
    const others = await makeTenant()
    tenantId = await makeTenant()
    await putJobs(held, many, { tenantId: others })
    await putJobs(held, 7, { tenantId, code: 'declined' })
    await putJobs(held, 5, { tenantId, status: 'pending' })
    await archiveJobs(held, await putJobs(held, many, { status: 'pending', tenantId: others }))
    await archiveJobs(held, await putJobs(held, 3, { status: 'pending', tenantId: others }), 'discarded')
    await held.database.admin.raw(`vacuum analyze jobs`)
    await held.database.admin.raw(`vacuum analyze job_archive`)
  })

  const list = (filter: JobFilter, page = 1, limit = 25) =>
    inPlatform((trx) => listJobs(trx, { ...filter, page, limit }))
  const rowsRead = async (trx: PlatformTrx) =>
    (
      await sqlOne<{ count: number }>(
        trx,
        `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int8 as count from pg_stat_xact_user_tables
         where relname = 'jobs' or relname like 'job_archive%'`,
      )
    )?.count ?? 0
  /** Counts the rows that a list reads to find its entries. */
  const cost = async (filter: JobFilter) => {
    await inPlatform((trx) => sqlOne(trx, `select pg_stat_force_next_flush()`))
    return inPlatform(async (trx) => {
      const { total } = await listJobs(trx, { ...filter, page: 1, limit: 25 })
      return { total, read: await rowsRead(trx) }
    })
  }

  it('of one tenant, or of what ended in one unusual way, read few others', async () => {
    for (const [filter, found] of [
      [{ tenantId }, 12],
      [{ tenantId, status: 'dead' }, 7],
      [{ tenantId: randomUUID() }, 0],
      [{ status: 'discarded' }, 3],
      [{ status: 'missed' }, 0],
    ] as const) {
      const { total, read } = await cost(filter)
      expect(total, JSON.stringify(filter)).to.equal(found)
      expect(read, JSON.stringify(filter)).to.be.below(100)
    }
  })

  it('that no index knows read everything, and that once', async () => {
    const { total, read } = await cost({ status: 'dead', errorCode: 'declined' })
    expect(total).to.equal(7)
    expect(read).to.be.within(many, many + 100)
  })

  it('say how many there are, the same on each page and beyond the last', async () => {
    for (const [page, limit, shown] of [
      [1, 25, 12],
      [1, 12, 12],
      [2, 12, 0],
      [1, 5, 5],
      [2, 5, 5],
      [3, 5, 2],
      [4, 5, 0],
      [99, 100, 0],
    ] as const) {
      const { total, rows } = await list({ tenantId }, page, limit)
      expect([total, rows.length], `page ${page} of ${limit}`).to.deep.equal([12, shown])
    }
    expect((await list({ tenantId: randomUUID() }, 2, 5)).total).to.equal(0)
    expect((await list({}, 1, 100)).total).to.equal(2 * many + 15)
  })
})
