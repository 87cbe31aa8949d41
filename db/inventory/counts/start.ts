import { conflict, unprocessable } from '../../../config/errors.ts'
import { countStarted } from '../../../config/events/inventory.ts'
import { authorOf } from '../../lib/authors.ts'
import { nativeError, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { insertRow } from '../../lib/records.ts'
import { holdActiveItems } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import { InventoryCount } from '../models.ts'

export type NewCount = {
  locationId: string
  categoryId?: string | undefined
  itemIds?: string[] | undefined
  blind?: boolean | undefined
  note?: string | undefined
}

const mostLines = 5_000

/** Items to be counted: those named, else all that the location holds or has a level for, of a category and those below it. */
const itemsFor = async (trx: Trx, { locationId, categoryId, itemIds }: NewCount): Promise<string[]> => {
  if (itemIds !== undefined) {
    await holdActiveItems(
      trx,
      itemIds.map((id, index) => ({ id, field: `itemIds.${index}` })),
    )
    return [...new Set(itemIds)]
  }
  const rows = await sql<{ id: string }>(
    trx,
    `with recursive below as (
       select id, code from inventory_category where id = ?::uuid and status = 'active'
       union select c.id, c.code from inventory_category c join below b on c.parent_code = b.code where c.status = 'active')
     select i.id from inventory_item i where i.status = 'active'
       and (?::uuid is null or i.category_id in (select id from below))
       and (exists (select from inventory_stock s where s.item_id = i.id and s.location_id = ? and s.quantity > 0)
         or exists (select from inventory_level l where l.item_id = i.id and l.location_id = ?))
     order by i.id limit ${mostLines + 1}`,
    [categoryId ?? null, categoryId ?? null, locationId, locationId],
  )
  if (rows.length > mostLines)
    throw unprocessable('too_many', `A count has at most ${mostLines} lines; count one category at a time`)
  return rows.map(({ id }) => id)
}

const refuseCategory = async (trx: Trx, categoryId: string | undefined): Promise<void> => {
  if (categoryId === undefined) return
  const [found] = await sql(trx, `select 1 from inventory_category where id = ? and status = 'active' for key share`, [
    categoryId,
  ])
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such active category', [
      { field: 'categoryId', message: 'is no active category of the tenant' },
    ])
}

/** A line that another open count has already: the database lets one of them through. */
export const refusingCounted = async <Row>(work: () => Promise<Row>): Promise<Row> => {
  try {
    return await work()
  } catch (error) {
    const native = nativeError(error)
    if (native instanceof Error && 'constraint' in native && native.constraint === 'inventory_count_line_once')
      throw conflict('item_being_counted', 'Another open count holds an item of this location')
    throw error
  }
}

/** Starts a count of a location. 409 `item_being_counted`; 422 `reference_not_found`, `too_many`. Answers its id. */
export const startCount = async (trx: Trx, given: NewCount): Promise<string> => {
  const { locationId, categoryId, blind = true, note = '' } = given
  const place = (await holdLocations(trx, [{ id: locationId, field: 'locationId' }])).get(locationId)
  if (!place) throw new Error('a location was not held')
  await refuseArchived(trx, place.propertyId)
  await refuseCategory(trx, categoryId)
  const itemIds = await itemsFor(trx, given)
  const count = await insertRow(trx, InventoryCount, {
    propertyId: place.propertyId,
    locationId,
    categoryId: categoryId ?? null,
    blind,
    note,
    startedBy: await authorOf(trx),
  })
  await refusingCounted(() =>
    sql(
      trx,
      `insert into inventory_count_line (count_id, location_id, item_id, expected)
       select ?, ?, i.id, coalesce((select s.quantity from inventory_stock s where s.location_id = ? and s.item_id = i.id), 0)
       from unnest(?::uuid[]) as i (id) order by i.id`,
      [count.id, locationId, locationId, itemIds],
    ),
  )
  await emit(trx, countStarted, {
    propertyId: place.propertyId,
    id: count.id,
    version: count.version,
    data: { inventoryCountId: count.id, inventoryLocationId: locationId },
  })
  return count.id
}
