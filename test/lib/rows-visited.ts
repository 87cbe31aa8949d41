import { database, makeKnex, sql } from '../../db/lib/connection.ts'
import type { Database } from '../support/database.ts'

type Asked = { sql: string; bindings: readonly unknown[] }
type Node = {
  'Node Type': string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

/** Statements that read, of all that this process sends while something is done. */
export const readsOf = async (work: () => Promise<unknown>): Promise<Asked[]> => {
  const seen: Asked[] = []
  const note = ({ sql: text, bindings }: Asked) => {
    if (/^\s*(select|with)\b/i.test(text) && !text.includes('set_config')) seen.push({ sql: text, bindings })
  }
  const pool = database()
  pool.on('query', note)
  try {
    await work()
  } finally {
    pool.off('query', note)
  }
  return seen
}

const visited = (node: Node): number => {
  const loops = node['Actual Loops'] ?? 0
  const own =
    node['Node Type'].endsWith('Scan') && !/^(Subquery|CTE|Function|Values|Bitmap Heap)/.test(node['Node Type'])
  const rows =
    (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return (own ? rows * loops : 0) + (node.Plans ?? []).reduce((sum, plan) => sum + visited(plan), 0)
}

/** Rows of tables and indexes that statements visit in a tenant, as PostgreSQL counts them while it runs their plans. */
export const rowsVisited = async (of: Database, tenantId: string, asked: readonly Asked[]): Promise<number> => {
  const service = makeKnex(of.url, 1)
  try {
    return await service.transaction(async (trx) => {
      await sql(trx, `select set_config('app.tenant_id', ?, true)`, [tenantId])
      let sum = 0
      for (const { sql: text, bindings } of asked) {
        const { rows } = await trx.raw<{ rows: { 'QUERY PLAN': { Plan: Node }[] }[] }>(
          // The placeholders are PostgreSQL's own here.
          `explain (analyze, timing off, format json) ${text}`.replaceAll(/\$\d+/g, '?').replaceAll('\\?', '?'),
          bindings as never,
        )
        sum += visited(rows[0]?.['QUERY PLAN'][0]?.Plan ?? { 'Node Type': '' })
      }
      return sum
    })
  } finally {
    await service.destroy()
  }
}
