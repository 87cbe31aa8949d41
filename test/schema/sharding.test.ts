import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'

const page = readFileSync(new URL('../../docs/operations/scaling.md', import.meta.url), 'utf8')
const named = new Set([...page.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name))

/** Tables and unique indexes that a sharded PostgreSQL could not distribute by tenant. The page on growing must name each of them, or its table. */
describe('what a sharded PostgreSQL could not distribute by tenant', () => {
  const world = useDatabase()
  const lacking = async (text: string) => {
    const rows = await sql<{ tables: string; name: string }>(world.database.admin, text)
    return rows
      .filter((row) => !named.has(row.tables) && !named.has(row.name))
      .map((row) => `${row.tables} ${row.name}`)
  }
  const tenant = `a.attname = 'tenant_id' and not a.attisdropped`

  it('is named in the page on growing: tables without a tenant, or with rows of none', async () => {
    expect(
      await lacking(
        `select c.relname as tables, '' as name from pg_class c
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
           and not exists (select from pg_attribute a where a.attrelid = c.oid and ${tenant} and a.attnotnull)`,
      ),
    ).to.deep.equal([])
  })

  it('is named in the page on growing: what is unique across tenants', async () => {
    expect(
      await lacking(
        `select c.relname as tables, i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indrelid
         where i.indisunique and not c.relispartition and c.relnamespace = 'public'::regnamespace
           and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(i.indkey) and ${tenant})`,
      ),
    ).to.deep.equal([])
  })
})
