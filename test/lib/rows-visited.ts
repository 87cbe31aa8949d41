import { Client } from 'pg'
import { database, inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import type { AnyTrx } from '../../db/lib/connection.ts'
import type { Database } from '../support/database.ts'

export type Asked = { sql: string; bindings?: readonly unknown[] | undefined }
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
    // The sandbox of the gateway has a clock of its own, and asks in between.
    if (/^\s*(select|with)\b/i.test(text) && !/set_config|sandbox_object/.test(text)) seen.push({ sql: text, bindings })
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

export const visited = (node: Node): number => {
  const loops = node['Actual Loops'] ?? 0
  const own =
    node['Node Type'].endsWith('Scan') && !/^(Subquery|CTE|Function|Values|Bitmap Heap)/.test(node['Node Type'])
  const rows =
    (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return (own ? rows * loops : 0) + (node.Plans ?? []).reduce((sum, plan) => sum + visited(plan), 0)
}

export type Visits = {
  of: (tenantId: string | null, asked: readonly Asked[]) => Promise<number>
  /** The number of rows that the statement of a page of so many finds without its limit; null where none of the statements is one. */
  found: (tenantId: string | null, asked: readonly Asked[], limit: number) => Promise<number | null>
  end: () => Promise<void>
}

/**
 * Counts the rows of tables and indexes that a statement visits in a tenant, or in the platform, as PostgreSQL counts them while it runs its plan: the most that one of
 * several visits. Plans that read a whole table are taken only where no other can be made, as they would be of a table that is large; of the platform, the
 * lesser of a plan that may sort and one in the order of an index counts: PostgreSQL takes few of some thousand rows to be seen, and the index of more.
 */
export const rowsVisited = async (of: Database): Promise<Visits> => {
  const service = new Client({ connectionString: of.url })
  await service.connect()
  const known = new Map<string, number>()
  const begin = async (tenantId: string | null) => {
    await service.query('begin')
    await service.query(`select set_config('app.tenant_id', $1, true), set_config('app.scope', $2, true)`, [
      tenantId ?? '',
      tenantId === null ? 'platform' : '',
    ])
  }
  const visit = async (tenantId: string | null, { sql, bindings }: Asked, sort: 'on' | 'off'): Promise<number> => {
    await begin(tenantId)
    await service.query(
      `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
         set_config('enable_mergejoin', 'off', true), set_config('enable_sort', $1, true)`,
      [sort],
    )
    const { rows } = await service.query<{ 'QUERY PLAN': { Plan: Node }[] }>(
      `explain (analyze, timing off, format json) ${sql}`,
      [...(bindings ?? [])],
    )
    await service.query('rollback')
    return visited(rows[0]?.['QUERY PLAN'][0]?.Plan ?? { 'Node Type': '' })
  }
  const least = async (tenantId: string | null, one: Asked): Promise<number> => {
    const visits = await visit(tenantId, one, 'on')
    return tenantId === null ? Math.min(visits, await visit(tenantId, one, 'off')) : visits
  }
  return {
    of: async (tenantId, asked) => {
      let most = 0
      for (const one of asked) {
        const key = JSON.stringify([tenantId, one.sql, one.bindings])
        const visits = known.get(key) ?? (await least(tenantId, one))
        known.set(key, visits)
        most = Math.max(most, visits)
      }
      return most
    },
    found: async (tenantId, asked, limit) => {
      const end = new RegExp(`limit ${limit}$`)
      const [page, ...others] = asked.filter((one) => end.test(one.sql))
      if (page === undefined || others.length > 0) return null
      await begin(tenantId)
      const text = `select count(*)::int as n from (${page.sql.replace(end, '')}) x`
      const { rows } = await service.query<{ n: number }>(text, [...(page.bindings ?? [])])
      await service.query('rollback')
      return rows[0]?.n ?? 0
    },
    end: () => service.end(),
  }
}

/** Counts the rows of one table that are read while something is done in a tenant or the platform, also inside functions, whose plans are not shown. */
export const visitedIn = (tenantId: string | null, table: string, work: (trx: AnyTrx) => Promise<unknown>) => {
  const count = async (trx: AnyTrx) => {
    const [row] = await sql<{ n: number }>(
      trx,
      `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_xact_user_tables where relname = ?`,
      [table],
    )
    return row?.n ?? 0
  }
  const measure = async (trx: AnyTrx) => {
    const before = await count(trx)
    await work(trx)
    return (await count(trx)) - before
  }
  return tenantId === null ? inPlatform(measure) : inTenant(tenantId, measure)
}
