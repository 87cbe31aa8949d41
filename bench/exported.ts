import { createHash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createApiKey } from '../db/auth/api-keys.ts'
import { sql } from '../db/lib/connection.ts'
import { makeBook, postPlain } from '../test/reports/support.ts'
import { makeHouse } from '../test/support/factories.ts'
import { runDue } from '../workers/lib/run-due.ts'
import { startApi } from './processes/start.ts'
import { judge } from './report.ts'
import type { Result } from './report.ts'

const MiB = 1024 * 1024
const entries = 1_000
const pairs = 50
const rows = entries * pairs * 2
/** Megabytes of heap that the api may have while it hands out the file eight times at once. */
const heapMiB = 160
const readers = 8

/** A book of 100,000 lines in a year. */
const fill = async (tenantId: string) => {
  const book = await makeBook(tenantId)
  for (let from = 0; from < entries; from += 200)
    await postPlain(
      book,
      Array.from({ length: 200 }, (_, at) => ({
        on: `2025-${String(1 + ((from + at) % 12)).padStart(2, '0')}-10`,
        description: `Entry ${from + at} of the book, for a customer of the house`,
        lines: Array.from({ length: pairs }, (__, pair) => [
          { code: '5.1.09', debit: 100 + pair },
          { code: '1.1.3.80', credit: 100 + pair },
        ]).flat(),
      })),
    )
  return book
}

/** The most that is held above the beginning while a piece of work is done: memory that nothing can free, and buffers outside of the heap. */
const growth = async (work: () => Promise<unknown>): Promise<number> => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  // Leftovers of earlier work are freed in more than one go.
  for (let round = 0; round < 5; round += 1) {
    held()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const before = held()
  let most = before
  const watch = setInterval(() => (most = Math.max(most, held())), 500)
  await work()
  clearInterval(watch)
  return (Math.max(most, held()) - before) / MiB
}

const download = async (url: string, key: string): Promise<{ bytes: number; sha256: string }> => {
  const reply = await fetch(url, { headers: { 'x-api-key': key } })
  if (reply.status !== 200 || !reply.body) throw new Error(`the file was answered with ${reply.status}`)
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of reply.body) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** An export of 100,000 rows on its whole way: the job that makes it, the parts that are kept, and downloads by an api with little memory. */
export const exported = async (): Promise<Result[]> => {
  const house = await makeHouse({ units: 1 })
  const { bookId } = await fill(house.tenantId)
  const { key } = await house.inHouse((trx) => createApiKey(trx, { name: 'export', scopes: ['read', 'write'] }))
  const api = await startApi({ NODE_OPTIONS: `--max-old-space-size=${heapMiB}` })
  const runs = `${api.baseUrl}/api/tenants/${house.tenantId}/reports/runs`
  const asked = await fetch(runs, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      report: 'general_ledger',
      format: 'csv',
      parameters: { bookId, startDate: '2025-01-01', endDate: '2025-12-31' },
    }),
  })
  const { id } = (await asked.json()) as { id?: string }
  if (id === undefined) throw new Error(`the run was answered with ${asked.status}`)
  const began = performance.now()
  const grown = await growth(() => runDue({ kinds: ['reports.run'] }))
  const ms = performance.now() - began
  const [run] = await house.inHouse((trx) =>
    sql<{ rows: number; bytes: number; sha256: string }>(
      trx,
      `select rows, bytes, sha256 from report_run where id = ?`,
      [id],
    ),
  )
  const files = await Promise.all(Array.from({ length: readers }, () => download(`${runs}/${id}/file`, key)))
  await api.stop()
  const whole = files.filter(({ bytes, sha256 }) => bytes === run?.bytes && sha256 === run.sha256).length
  return [
    judge(
      { name: `rows missing of ${rows} of an export`, unit: 'rows', ours: rows - (run?.rows ?? 0), reference: null },
      { most: 0 },
    ),
    judge({ name: 'the job that makes it', unit: 'ms', ours: ms, reference: null }, null),
    judge({ name: 'growth of memory meanwhile', unit: 'MB', ours: grown, reference: null }, { most: 40 }),
    judge(
      {
        name: `downloads of ${readers} at once that are not whole, with ${heapMiB} MB of heap`,
        unit: 'files',
        ours: readers - whole,
        reference: null,
      },
      { most: 0 },
    ),
  ]
}
