import { expect } from 'chai'
import { inPlatform, inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { requestIntegrityRuns, sweepYears } from '../../db/financial/sweeps.ts'
import { createYear, ensureYears } from '../../db/financial/years.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse, post, raiseMany } from './support.ts'

describe('years and checks', () => {
  const held = useDatabase()

  it('start with the present and the next year, each with 12 months and a closing period', async () => {
    const house = await makeHouse()
    const year = Number(house.today.slice(0, 4))
    const years = await inTenant(house.tenantId, (trx) =>
      sql(
        trx,
        `select y.year, count(*) as periods, min(p.starts_on) as first, max(p.ends_on) as last from fiscal_year y join fiscal_period p on p.fiscal_year_id = y.id group by y.year order by 1`,
      ),
    )
    expect(years).to.deep.equal([
      { year, periods: 13, first: `${year}-01-01`, last: `${year}-12-31` },
      { year: year + 1, periods: 13, first: `${year + 1}-01-01`, last: `${year + 1}-12-31` },
    ])
  })

  it('gain the next year when the last one nears its end, once', async () => {
    const house = await makeHouse()
    expect(await inTenant(house.tenantId, (trx) => ensureYears(trx, house.bookId))).to.equal(0)
    // In place of its years one that ends with this month, whatever month it is.
    await sql(held.database.admin, `delete from fiscal_period where book_id = ?`, [house.bookId])
    await sql(held.database.admin, `delete from fiscal_year where book_id = ?`, [house.bookId])
    const [year = 0, month = 1] = house.today.split('-').map(Number)
    const lastYear = new Date(Date.UTC(year - 1, month, 1)).toISOString().slice(0, 10)
    await inTenant(house.tenantId, (trx) => createYear(trx, house.bookId, lastYear))
    expect(await inPlatform(sweepYears)).to.equal(1)
    expect(await inPlatform(sweepYears)).to.equal(0)
  })

  it('find what someone with the rights of the database changed', async () => {
    const house = await makeHouse()
    await raiseMany(house, 4)
    await post(house)
    type Result = { check: string; status: string; count: number }
    /** Findings of a nightly run; controls are left out, since these events have no records of a module behind them. */
    const found = async () => {
      await inPlatform(requestIntegrityRuns)
      await drain({ kinds: ['ledger.check-integrity'] })
      const run = await inTenant(house.tenantId, (trx) =>
        sqlOne<{ results: Result[] }>(
          trx,
          `select results from integrity_run where finished_at is not null order by finished_at desc limit 1`,
        ),
      )
      return (run?.results ?? []).flatMap(({ check, status, count }) =>
        status === 'failed' && !check.startsWith('control_') ? [[check, count]] : [],
      )
    }
    expect(await found()).to.deep.equal([])
    await held.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(`update journal_line set debit = debit + 1 where tenant_id = ? and debit = 100`, [house.tenantId])
    })
    expect(await found()).to.deep.equal([
      ['entries_balance', 1],
      ['balances_equal_lines', 1],
    ])
    const said = await inTenant(house.tenantId, (trx) =>
      sql<{ checks: string[] }>(
        trx,
        `select data->'checks' as checks from event where type = 'integrity_check.failed'`,
      ),
    )
    expect(said.at(-1)?.checks).to.include.members(['entries_balance', 'balances_equal_lines'])
  })
})
