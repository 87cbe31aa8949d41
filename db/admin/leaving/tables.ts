import { tenantData } from '../../../config/tenant-data/index.ts'
import type { TenantTable } from '../../../config/tenant-data/index.ts'
import { sql } from '../../lib/connection.ts'
import type { AnyTrx } from '../../lib/connection.ts'

type Link = { child: string; parent: string }

const registered = new Map(tenantData.map((entry) => [entry.table, entry]))

/** Every table of the database that has a tenant's rows, with what the registry says; one that it does not know has nothing to be opened. */
export const tenantTables = async (trx: AnyTrx): Promise<TenantTable[]> => {
  const found = await sql<{ table: string }>(
    trx,
    `select c.relname as "table" from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
       and not exists (select from unnest(array['one_time_token']) o where o = c.relname) order by 1`,
  )
  return found.map(({ table }) => registered.get(table) ?? { table })
}

/** Tables in an order in which each comes before those that it refers to, as far as there is one. */
export const inOrderOfPurge = async (trx: AnyTrx, tables: readonly string[]): Promise<string[]> => {
  const links = await sql<Link>(
    trx,
    `select c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent from pg_constraint c where c.contype = 'f' and c.conparentid = 0
       and c.conrelid <> c.confrelid`,
  )
  const left = new Set(tables)
  const ordered: string[] = []
  // Keys go first: from then on nothing that they sealed can be read, wherever the rest stands.
  for (const first of ['guest_key', 'tenant_key']) if (left.delete(first)) ordered.push(first)
  while (left.size > 0) {
    const free = [...left].filter((table) => !links.some(({ child, parent }) => parent === table && left.has(child)))
    const next = (free.length > 0 ? free : [[...left].toSorted()[0] ?? '']).toSorted()
    for (const table of next) {
      left.delete(table)
      ordered.push(table)
    }
  }
  return ordered
}
