import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** Money of the tenant that is still on its way, by what it is; empty where all is settled. */
export const liveMoney = async (trx: Trx): Promise<{ what: string; count: number }[]> => {
  const rows = await sql<{ what: string; count: number }>(
    trx,
    `select 'payments' as what, count(*) as count from payment
       where origin = 'gateway' and status in ('created', 'unknown', 'requires_action', 'processing', 'authorised')
     union all select 'refunds', count(*) from refund where status in ('requested', 'processing', 'unknown')
     union all select 'disputes', count(*) from dispute where status in ('needs_response', 'submitted', 'under_review')
     union all select 'payouts', count(*) from payout where status in ('pending', 'in_transit')`,
  )
  return rows.filter(({ count }) => count > 0)
}
