import type { Knex } from 'knex'
import { unwrap } from './sealing/master.ts'
import type { WrappedKey } from './sealing/master.ts'

/** Tenants that came from another installation, with the keys of their blind indexes, as this process knows them. */
const known = new WeakMap<Knex, Map<string, Buffer>>()

export const indexKeyPlace = (tenantId: string): string => `${tenantId}|index_key`

/** Key of the blind indexes of a tenant that came from another installation; undefined for one that was made here. */
export const movedInKey = (knex: Knex, tenantId: string): Buffer | undefined => known.get(knex)?.get(tenantId)

/** Reads the tenants that came from elsewhere. An entry to one that this process does not know is refused until it has read them. */
export const readMovedIn = async (knex: Knex): Promise<void> => {
  const { rows } = await knex.raw<{ rows: (WrappedKey & { tenantId: string })[] }>(
    `select tenant_id, index_key as wrapped_key, master_key_id from tenant_move where index_key is not null`,
  )
  known.set(knex, new Map(rows.map((row) => [row.tenantId, unwrap(row, indexKeyPlace(row.tenantId))])))
}
