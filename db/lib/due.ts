import { sql } from './connection.ts'
import type { Trx } from './connection.ts'

/**
 * Records that are read again until the other side's word on them is known: a table with `id` and `next_read_at`, which is null for
 * what is known. `columns` and `join` name what its jobs need, of `taken` and of other tables.
 */
export type ReadSchedule = { table: string; columns: string; join: string }

/** Takes records that are due off their schedule for two minutes; a read that ends sets the next one. Another sweep passes them over. */
export const takeDue = <Row>(
  trx: Trx,
  { table, columns, join }: ReadSchedule,
  ids: readonly string[],
): Promise<Row[]> =>
  sql<Row>(
    trx,
    `with taken as (
       update ?? set next_read_at = now() + interval '2 minutes'
       where id in (select id from ?? where id = any(?) and next_read_at <= now() order by id for update skip locked) returning *)
     select ${columns} from taken ${join} order by taken.id`,
    [table, table, ids],
  )

/** The next read of a record after a wait, null for never: no later than `end`, where that is still to come. */
export const nextReadAt = (waitMs: number | null, end: Date | null = null, now = Date.now()): Date | null => {
  if (waitMs === null) return null
  const next = now + waitMs
  return new Date(end !== null && end.getTime() > now ? Math.min(next, end.getTime()) : next)
}
