import { sql } from '../../db/lib/connection.ts'
import { countAnew } from '../support/counts.ts'
import type { Database } from '../support/database.ts'
import { makeRows, uncheck } from './made-rows.ts'
import { changed, grow, originals } from './made-tables.ts'

type Grown = { tenantId: string; propertyId: string; bookId: string }

/** Makes so many rows in every table that grows, of one house and its book, and counts them: what it takes to make them is not measured. */
export const growTables = (
  { admin }: Database,
  { tenantId, propertyId, bookId }: Grown,
  { from, until }: { from: number; until: number },
): Promise<void> =>
  admin.transaction(async (trx) => {
    await sql(trx, `set local session_replication_role = replica`)
    await uncheck(trx)
    for (const table of grow)
      await makeRows(trx, table, {
        tenantId,
        from,
        until,
        growing: grow,
        of: { property_id: propertyId, book_id: bookId },
        ...(changed[table] ? { changed: changed[table] } : {}),
        ...(originals[table] ? { original: originals[table] } : {}),
      })
    await countAnew(trx)
  })
