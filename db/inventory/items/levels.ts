import { invalid, unprocessable } from '../../../config/errors.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { largestQuantity, quantityOf } from '../rules/quantity.ts'

/** Decimals of the base of the item. */
export type LevelEntry = { locationId: string; minimum: string; maximum: string }

/** Replaces the levels of a locked item, and says of each location whether it is low by them. */
export const setLevels = async (trx: Trx, { id }: { id: string }, levels: readonly LevelEntry[]): Promise<void> => {
  const rows = levels.map(({ locationId, minimum, maximum }, index) => {
    const row = { locationId, minimum: quantityOf(minimum), maximum: quantityOf(maximum) }
    if (levels.findIndex((one) => one.locationId === locationId) !== index)
      throw invalid([{ field: `levels.${index}.locationId`, message: 'stands twice' }])
    if (row.minimum > row.maximum || row.maximum > largestQuantity)
      throw invalid([{ field: `levels.${index}.maximum`, message: 'must not be below minimum' }])
    return row
  })
  const known = await sql<{ id: string }>(
    trx,
    `select id from inventory_location where id = any(?::uuid[]) and status = 'active' order by id for key share`,
    [levels.map(({ locationId }) => locationId)],
  )
  const missing = levels.findIndex(({ locationId }) => !known.some((one) => one.id === locationId))
  if (missing >= 0)
    throw unprocessable('reference_not_found', 'There is no such active location', [
      { field: `levels.${missing}.locationId`, message: 'is no active location of the tenant' },
    ])
  await sql(trx, `delete from inventory_level where item_id = ?`, [id])
  await sql(
    trx,
    `insert into inventory_level (location_id, item_id, minimum, maximum)
     select l."locationId", ?, l.minimum, l.maximum from jsonb_to_recordset(?::jsonb) as l ("locationId" uuid, minimum bigint, maximum bigint)`,
    [id, JSON.stringify(rows)],
  )
  await sql(
    trx,
    `update inventory_stock s set low_since = case when s.quantity < coalesce(l.minimum, 0) then coalesce(s.low_since, now()) end
     from (select s.location_id, s.item_id from inventory_stock s where s.item_id = ? order by s.location_id for no key update) k
     left join inventory_level l on l.location_id = k.location_id and l.item_id = k.item_id
     where s.location_id = k.location_id and s.item_id = k.item_id`,
    [id],
  )
}
