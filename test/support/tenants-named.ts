import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'

type Asked = { sql: string; bindings?: readonly unknown[]; __knexUid: string }

/** Texts sent outside a tenant, or within one: by the text, whether it was ever sent outside. */
export type Heard = ReadonlyMap<string, boolean>

const opens = /^\s*begin\b/i
const enters = /set_config\('app\.tenant_id', \$1/

/** Listens to a pool, and notes of each text whether some transaction sent it that had entered no tenant. */
export const hearTenants = (pool: Knex): Heard => {
  const tenants = new Map<string, boolean>()
  const isOutside = new Map<string, boolean>()
  pool.on('query', ({ sql: text, bindings = [], __knexUid: connection }: Asked) => {
    if (opens.test(text)) tenants.set(connection, false)
    else if (enters.test(text)) tenants.set(connection, typeof bindings[0] === 'string' && bindings[0] !== '')
    else if (isOutside.get(text) !== true) isOutside.set(text, tenants.get(connection) !== true)
  })
  return isOutside
}

/** Tables that a sharded PostgreSQL would distribute: the tenant is never missing, and first in the primary key. */
export const distributedTables = async (admin: Knex): Promise<Set<string>> => {
  const rows = await sql<{ name: string }>(
    admin,
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnotnull and not a.attisdropped
     join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indkey[0] = a.attnum
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Tables that a statement reads or writes. */
export const tablesIn = (text: string, known: ReadonlySet<string>): string[] => [
  ...new Set(
    [...text.matchAll(/\b(?:from|join|into|update|only)\s+"?([a-z_]+)"?/gi)]
      .map(([, name = '']) => name.toLowerCase())
      .filter((name) => known.has(name)),
  ),
]

/** Statements that go through the rows of all tenants on purpose: removals by age. */
const overAll: readonly RegExp[] = [/^with gone as \(delete from usage_event where /]

/** Throws where a statement touched a table of tenants outside any tenant and without naming one in its text. */
export const checkTenantsNamed = async (admin: Knex, heard: Heard): Promise<void> => {
  const known = await distributedTables(admin)
  const isMissing = (text: string) =>
    !/\btenant_id\b/.test(text) && !overAll.some((one) => one.test(text)) && tablesIn(text, known).length > 0
  const missing = [...heard].flatMap(([text, isOutside]) => (isOutside && isMissing(text) ? [text] : []))
  if (missing.length > 0) throw new Error(`statements outside a tenant that name none:\n${missing.join('\n\n')}`)
}
