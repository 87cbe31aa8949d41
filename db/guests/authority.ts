import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { seal, unseal } from '../lib/sealing/index.ts'

const place = (propertyId: string) => ({ table: 'registration_secret', rowId: propertyId, purpose: 'credentials' })

/** Keeps the secret that a house shares with its authority, sealed; null takes it away. */
export const keepAuthoritySecret = async (trx: Trx, propertyId: string, secret: string | null): Promise<void> => {
  if (secret === null) {
    await sql(trx, `delete from registration_secret where property_id = ?`, [propertyId])
    return
  }
  await sql(
    trx,
    `insert into registration_secret (property_id, sealed) values (?, ?)
     on conflict (tenant_id, property_id) do update set sealed = excluded.sealed, updated_at = now()`,
    [propertyId, await seal(trx, 'tenant', place(propertyId), secret)],
  )
}

/** The secret that a house shares with its authority; null where it has none. */
export const authoritySecret = async (trx: Trx, propertyId: string): Promise<string | null> => {
  const row = await sqlOne<{ sealed: Buffer }>(trx, `select sealed from registration_secret where property_id = ?`, [
    propertyId,
  ])
  return row ? unseal<string>(trx, 'tenant', place(propertyId), row.sealed) : null
}

export const hasAuthoritySecret = async (trx: Trx, propertyId: string): Promise<boolean> =>
  (await sqlOne(trx, `select property_id from registration_secret where property_id = ?`, [propertyId])) !== null
