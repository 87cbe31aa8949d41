import { createApiKey } from '../../db/auth/api-keys.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { makeBook, postPlain, randomEntries } from '../../test/reports/support.ts'
import type { BookOfYears } from '../../test/reports/support.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { Bench } from '../bench.ts'
import { exported } from '../exported.ts'
import { load } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { judge } from '../report.ts'
import { sized } from '../size.ts'

const few = sized(50_000, 10_000)
const many = sized(5_000_000, 50_000)
const atOnce = 4_000
const seconds = sized(5, 2)

type House = Awaited<ReturnType<typeof makeHouse>>

/** Posts entries until the book has so many lines. Entries have two to five. */
const fill = async (book: BookOfYears, lines: number): Promise<number> => {
  let made = 0
  for (let seed = 1; made < lines; seed += 1) {
    const entries = randomEntries(book, atOnce, seed)
    await postPlain(book, entries)
    made += entries.reduce((sum, entry) => sum + entry.lines.length, 0)
  }
  return made
}

const keysOf = (house: House) =>
  inTenant(house.tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 20; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read', 'write'] })).key)
    return made
  })

const read = async (baseUrl: string, keys: readonly string[], path: string): Promise<number> => {
  const shot = (index: number) => ({ path, headers: { 'x-api-key': keys[index % keys.length] ?? '' } })
  await load(baseUrl, shot, { inFlight: 1, expected: 200, seconds: 1 })
  return (await load(baseUrl, shot, { inFlight: 1, expected: 200, seconds })).p50Ms
}

/** Statements of a year, and pages of lines, beside how many lines the book has. */
export const bench: Bench = async ({ admin }) => {
  const house = await makeHouse({ units: 1 })
  const [small, large] = [await makeBook(house.tenantId), await makeBook(house.tenantId)]
  const fewLines = await fill(small, few)
  const manyLines = await fill(large, many)
  await sql(admin, `vacuum analyze`)
  const keys = await keysOf(house)
  const api = await startApi()
  const reports = `/api/tenants/${house.tenantId}/reports`
  const of = (book: BookOfYears, report: string, more = '') =>
    `${reports}/${report}?bookId=${book.bookId}&startDate=2025-01-01&endDate=2025-12-31${more}`
  const results = []
  for (const report of ['trial-balance', 'income-statement', 'cash-flow']) {
    const [one, other] = [
      await read(api.baseUrl, keys, of(small, report)),
      await read(api.baseUrl, keys, of(large, report)),
    ]
    results.push(
      judge({ name: `${report} of a year, p50`, unit: 'ms', ours: other, reference: one }, { most: 50 }),
      judge({ name: `${report}: growth`, unit: 'times', ours: other / one, reference: null }, { most: 1.5 }),
    )
  }
  const [account] = await sql<{ id: string }>(
    admin,
    `select account_id as id from account_balance where book_id = ? group by 1 order by sum(line_count) desc limit 1`,
    [large.bookId],
  )
  const lines = `/api/tenants/${house.tenantId}/financial/chart-of-accounts/${account?.id ?? ''}/lines?from=2025-06-01&to=2025-06-30&limit=50`
  results.push(
    judge(
      {
        name: 'a page of lines of the busiest account, p50',
        unit: 'ms',
        ours: await read(api.baseUrl, keys, lines),
        reference: null,
      },
      { most: 30 },
    ),
  )
  await api.stop()
  return {
    results: [...results, ...(await exported())],
    notes: [
      'Export: the general ledger of a year as CSV. Growth is what nothing can free while the job runs in this process; the api that hands the file out is a process of its own.',
      `Over HTTP, compiled, one process, one request after the other. The book measured has ${manyLines} lines over three years, the reference ${fewLines}; both have the accounts of the default chart, two properties and two cost centres.`,
      'Statements add the balances of periods; the lines that they read are those of at most two periods that are cut.',
    ],
  }
}
