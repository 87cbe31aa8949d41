import { notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { itemArchived, itemChanged } from '../../../config/events/inventory.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { changeRow } from '../../lib/records.ts'
import type { InventoryItemRow } from '../../rows.ts'
import { InventoryItem } from '../models.ts'
import { holdSupplier } from '../suppliers.ts'
import { holdCategory, packagesOf, referenceOf } from './create.ts'
import type { NewItem } from './create.ts'
import { setLevels } from './levels.ts'

export type ItemChange = { [Field in keyof NewItem]?: NewItem[Field] | undefined }

const states = archivable('An item')

const lockItem = async (trx: Trx, id: string, expected: number | null): Promise<InventoryItemRow> => {
  const row = await sqlOne<InventoryItemRow>(trx, `select * from inventory_item where id = ? for update`, [id])
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

const tell = (trx: Trx, event: typeof itemChanged, { id, sku }: InventoryItemRow, version: number, sent: object = {}) =>
  emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { inventoryItemId: id, code: sku },
    changed: sentFields(sent),
  })

/**
 * Changes an item. Base and packages in use are fixed: 422 `locked_field`. 409 `duplicate_code`, and `invalid_transition` for one that is archived; 422
 * `reference_not_found`.
 */
export const changeItem = async (
  trx: Trx,
  id: string,
  change: ItemChange,
  expectedVersion: number | null = null,
): Promise<void> => {
  if (change.supplierId) await holdSupplier(trx, change.supplierId)
  const item = await lockItem(trx, id, expectedVersion)
  states.allow('changed', item.status)
  const { packages, levels, referenceCost, ...fields } = change
  if (fields.categoryId !== undefined && fields.categoryId !== item.categoryId)
    await holdCategory(trx, fields.categoryId)
  if (fields.base !== undefined && fields.base !== item.base) await refuseRecipes(trx, id)
  const version = await changeRow(trx, InventoryItem, id, {
    ...fields,
    ...(packages === undefined ? {} : { packages: packagesOf(packages) }),
    ...(referenceCost === undefined ? {} : referenceOf(referenceCost)),
    ...(levels === undefined ? {} : { leadDays: fields.leadDays ?? item.leadDays }),
  })
  if (levels !== undefined) await setLevels(trx, item, levels)
  if (version !== item.version) await tell(trx, itemChanged, { ...item, sku: fields.sku ?? item.sku }, version, change)
}

/** Components of recipes are kept in the base of their item. */
const refuseRecipes = async (trx: Trx, id: string): Promise<void> => {
  const used = await sqlOne(trx, `select 1 from recipe_component where item_id = ? limit 1`, [id])
  if (used)
    throw unprocessable('locked_field', 'The base of an item that a recipe uses is fixed', [
      { field: 'base', message: 'cannot change' },
    ])
}

type Uses = { stock: boolean; counted: boolean; recipe: string | null; price: string | null; ordered: boolean }

/** Retires an item that has no stock and that nothing active uses: 422 `in_use`. An item that is archived stays as it is. */
export const archiveItem = async (trx: Trx, id: string, expectedVersion: number | null = null): Promise<void> => {
  const item = await lockItem(trx, id, expectedVersion)
  if (!states.isDue('archived', item.status)) return
  const uses = await sqlOne<Uses>(
    trx,
    `select exists (select from inventory_stock s where s.item_id = i.id and s.quantity > 0) as stock,
       exists (select from inventory_count_line l where l.item_id = i.id and l.open) as counted,
       (select r.code from recipe r where r.status = 'active' and (r.output_item_id = i.id or exists (
          select from recipe_version v join recipe_component k on k.version_id = v.id
          where v.recipe_id = r.id and v.number = r.current_version and k.item_id = i.id)) limit 1) as recipe,
       (select p.code from outlet_price p where p.item_id = i.id and p.status = 'active' limit 1) as price,
       exists (select from pos_order_line k join pos_order o on o.id = k.order_id and o.status = 'open' where k.item_id = i.id) as ordered
     from inventory_item i where i.id = ?`,
    [id],
  )
  const errors = [
    ...(uses?.stock ? [{ field: 'stock', message: 'there is some left' }] : []),
    ...(uses?.counted ? [{ field: 'counts', message: 'an open count holds it' }] : []),
    ...(uses?.recipe ? [{ field: 'recipes', message: `${uses.recipe} uses it` }] : []),
    ...(uses?.ordered ? [{ field: 'orders', message: 'an open order sells it' }] : []),
    ...(uses?.price ? [{ field: 'prices', message: `${uses.price} sells it` }] : []),
  ]
  if (errors.length > 0) throw unprocessable('in_use', 'The item is in use', errors)
  const version = await changeRow(trx, InventoryItem, id, { status: 'archived' })
  await sqlOne(trx, `delete from inventory_level where item_id = ?`, [id])
  await tell(trx, itemArchived, item, version)
}
