import type { Knex } from 'knex'
import { sqlOne } from '../../lib/connection.ts'

/** The tenant of a property, outside any tenant; null where there is no such property. */
export const tenantOfProperty = async (knex: Knex, propertyId: string): Promise<string | null> => {
  const row = await sqlOne<{ tenantId: string }>(
    knex,
    `select tenant_id from property_directory where property_id = ?`,
    [propertyId],
  )
  return row?.tenantId ?? null
}
