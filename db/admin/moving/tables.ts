import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { inOrderOfPurge, tenantTables } from '../leaving/tables.ts'
import { sql } from '../../lib/connection.ts'
import type { AnyTrx } from '../../lib/connection.ts'

/** Tables whose rows go along, those first to which others refer, and the tenant's own row and chain, which have no tenant_id. */
export const movedTables = async (trx: Knex): Promise<string[]> => {
  const all = (await tenantTables(trx as AnyTrx)).filter(({ stay }) => stay === undefined).map(({ table }) => table)
  return ['tenant', 'audit_chain', ...(await inOrderOfPurge(trx as AnyTrx, all)).toReversed()]
}

/** Names the state of the schema: every migration, in its order. */
export const schemaOf = async (trx: Knex): Promise<string> => {
  const rows = await sql<{ name: string }>(trx, `select name from schema_migration order by id`)
  const digest = createHash('sha256').update(rows.map(({ name }) => name).join('\n'))
  return `${rows.at(-1)?.name ?? 'nothing'} ${digest.digest('hex').slice(0, 16)}`
}
