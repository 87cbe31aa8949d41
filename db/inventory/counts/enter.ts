import { invalid, notFound, versionConflict } from '../../../config/errors.ts'
import { authorOf } from '../../lib/authors.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { changeRow } from '../../lib/records.ts'
import type { InventoryCountRow } from '../../rows.ts'
import { holdActiveItems } from '../items/facts.ts'
import { InventoryCount } from '../models.ts'
import { entered } from '../rules/quantity.ts'
import { holdStock } from '../stock/hold.ts'
import { refusingCounted } from './start.ts'

export const countStates = lifecycle<InventoryCountRow['status']>('A count')({
  counted: { from: ['open'] },
  approved: { from: ['open'], to: 'approved' },
  cancelled: { from: ['open'], to: 'cancelled' },
})

/** Locks a count. 404; 409 `version_conflict`. */
export const lockCount = async (trx: Trx, id: string, expected: number | null): Promise<InventoryCountRow> => {
  const row = await sqlOne<InventoryCountRow>(trx, `select * from inventory_count where id = ? for no key update`, [id])
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

/** A quantity as a person counts it: a decimal of the measure. */
export type CountedLine = { itemId: string; counted: string; measure: string }

/**
 * Enters counted quantities; the last entry of a line counts, and an item that the count does not have is added. What is expected is the stock of this
 * moment, under its lock. 409 `invalid_transition`, `item_being_counted`.
 */
export const enterLines = async (
  trx: Trx,
  id: string,
  lines: readonly CountedLine[],
  expectedVersion: number | null,
): Promise<void> => {
  const count = await lockCount(trx, id, expectedVersion)
  countStates.allow('counted', count.status)
  const twice = lines.findIndex(({ itemId }, index) => lines.findIndex((one) => one.itemId === itemId) !== index)
  if (twice >= 0) throw invalid([{ field: `lines.${twice}.itemId`, message: 'stands twice' }])
  const items = await holdActiveItems(
    trx,
    lines.map(({ itemId }, index) => ({ id: itemId, field: `lines.${index}.itemId` })),
  )
  const { locationId } = count
  const read = lines.map(({ itemId, counted, measure }, index) => {
    const item = items.get(itemId)
    if (!item) throw new Error('an item was not held')
    return { itemId, locationId, ...entered(item, counted, measure, `lines.${index}`) }
  })
  const shelf = await holdStock(trx, read)
  const countedBy = await authorOf(trx)
  const rows = read.map((line) => ({ ...line, expected: shelf.at(line).quantity }))
  await refusingCounted(() =>
    sql(
      trx,
      `insert into inventory_count_line (count_id, location_id, item_id, expected, counted, entered_quantity, entered_measure, counted_by, counted_at, last_shortage)
       select ?, ?, l."itemId", l.expected, l.quantity, l.entered, l.measure, ?, now(),
         coalesce((select max(h.position) from inventory_shortage h where h.location_id = ? and h.item_id = l."itemId" and h.status = 'open'), 0)
       from jsonb_to_recordset(?::jsonb) as l ("itemId" uuid, expected bigint, quantity bigint, entered bigint, measure text) order by l."itemId"
       on conflict (tenant_id, count_id, item_id) do update set expected = excluded.expected, counted = excluded.counted,
         entered_quantity = excluded.entered_quantity, entered_measure = excluded.entered_measure, counted_by = excluded.counted_by, counted_at = excluded.counted_at,
         last_shortage = excluded.last_shortage`,
      [id, locationId, countedBy, locationId, JSON.stringify(rows)],
    ),
  )
  // Whoever counted may not approve, even where another person has counted the line again.
  await sql(trx, `insert into inventory_count_counter (count_id, user_id) values (?, ?) on conflict do nothing`, [
    id,
    countedBy,
  ])
  await changeRow(trx, InventoryCount, id, { note: count.note })
}
