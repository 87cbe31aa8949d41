import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** The next number of a tenant's issues or lost items. Its row is locked until the commit, so it is asked for last. */
export const nextNumber = async (trx: Trx, kind: 'issue' | 'lost_item'): Promise<number> => {
  const row = await sqlOne<{ lastNumber: number }>(
    trx,
    `insert into issue_number (kind, last_number) values (?, 1)
     on conflict (tenant_id, kind) do update set last_number = issue_number.last_number + 1 returning last_number`,
    [kind],
  )
  if (!row) throw new Error('a number was not given')
  return row.lastNumber
}
