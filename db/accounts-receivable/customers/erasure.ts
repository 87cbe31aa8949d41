import type { Blocker } from '../../guests/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'

/** Guests who owe something as customers, or whose money is here, are not erased yet. */
export const receivableErasureBlockers = async (trx: Trx, guestIds: readonly string[]): Promise<Blocker[]> => {
  const rows = await sql<{ id: string }>(
    trx,
    `select c.id from customer c where c.tenant_id = ? and c.guest_id = any(?::uuid[])
       and (c.exposure > 0 or exists (select from receipt r where r.tenant_id = c.tenant_id and r.customer_id = c.id and r.status = 'recorded' and r.available > 0))
     order by c.id limit 20`,
    [contextOf(trx).tenantId, guestIds],
  )
  return rows.map(({ id }) => ({ code: 'open_receivable', message: `customer ${id} has open business` }))
}
