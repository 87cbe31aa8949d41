import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { blindIndexOf } from '../lib/sealing/index.ts'

const mostSubjects = 200
const mostTenants = 2_000

/**
 * Ids of records that a hotel speaks of: by the number of a booking, an e-mail address of a guest, or a gateway's reference of a payment. Those
 * that stand in payloads of jobs: bookings, reservations, payments, refunds and guests.
 */
export const subjectsOf = async (trx: PlatformTrx, said: string): Promise<string[]> => {
  const isAddress = said.includes('@')
  const tenants = isAddress
    ? await sql<{ id: string }>(trx, `select id from tenant where status <> 'deleted' order by id limit ?`, [
        mostTenants,
      ])
    : []
  const rows = await sql<{ id: string }>(
    trx,
    `select id from operators_subjects(:number, :reference, :tenants::uuid[], :indexes::bytea[], :most)`,
    {
      number: said.toUpperCase(),
      reference: said,
      tenants: tenants.map(({ id }) => id),
      indexes: tenants.map(({ id }) => blindIndexOf(id, 'email', said)),
      most: mostSubjects,
    },
  )
  return rows.map(({ id }) => id)
}
