import { shippedCategories } from '../../config/issues.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** The categories that a tenant starts with. Those that are there stay as they are. */
export const provisionIssues = async (trx: Trx): Promise<void> => {
  await sql(
    trx,
    `insert into issue_category (code, name, kind, team, targets, guest_facing)
     select c.code, c.name, c.kind, c.team, c.targets, c."guestFacing"
     from jsonb_to_recordset(?::jsonb) as c (code text, name jsonb, kind text, team text, targets jsonb, "guestFacing" boolean)
     on conflict do nothing`,
    [JSON.stringify(shippedCategories)],
  )
}
