import { invalid, unprocessable } from '../../../config/errors.ts'
import { itemCreated } from '../../../config/events/inventory.ts'
import type { Base } from '../../../config/measures.ts'
import { measures } from '../../../config/measures.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { insertRow } from '../../lib/records.ts'
import { InventoryItem } from '../models.ts'
import type { Package } from '../models.ts'
import { largestQuantity, quantityOf } from '../rules/quantity.ts'
import { holdSupplier } from '../suppliers.ts'
import { setLevels } from './levels.ts'
import type { LevelEntry } from './levels.ts'

/** Quantities are decimals of the base. */
export type NewItem = {
  sku: string
  name: string
  barcode?: string | null | undefined
  categoryId: string
  base: Base
  packages?: { code: string; name: string; quantity: string; purchase: boolean }[] | undefined
  levels?: LevelEntry[] | undefined
  supplierId?: string | null | undefined
  leadDays?: number | undefined
  referenceCost?: { amount: number; quantity: string } | null | undefined
}

/** Packages with their quantities as they are stored. 400 for a code that stands twice, or that is a measure. */
export const packagesOf = (packages: NonNullable<NewItem['packages']>): Package[] =>
  packages.map(({ quantity, ...package_ }, index) => {
    const field = `packages.${index}`
    if (packages.findIndex(({ code }) => code === package_.code) !== index)
      throw invalid([{ field: `${field}.code`, message: 'stands twice' }])
    if (Object.hasOwn(measures, package_.code))
      throw invalid([{ field: `${field}.code`, message: 'is the name of a measure' }])
    const stored = quantityOf(quantity)
    if (stored < 1 || stored > largestQuantity)
      throw invalid([{ field: `${field}.quantity`, message: 'must be more than 0' }])
    return { ...package_, quantity: stored }
  })

/** Columns of a reference cost. */
export const referenceOf = (cost: NewItem['referenceCost']) => {
  if (!cost) return { referenceAmount: null, referenceQuantity: null }
  const referenceQuantity = quantityOf(cost.quantity)
  if (referenceQuantity < 1 || referenceQuantity > largestQuantity)
    throw invalid([{ field: 'referenceCost.quantity', message: 'must be more than 0' }])
  return { referenceAmount: cost.amount, referenceQuantity }
}

/** Holds an active category that an item is given. 422 `reference_not_found`. */
export const holdCategory = async (trx: Trx, categoryId: string): Promise<void> => {
  const found = await sqlOne(trx, `select 1 from inventory_category where id = ? and status = 'active' for key share`, [
    categoryId,
  ])
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such active category', [
      { field: 'categoryId', message: 'is no active category of the tenant' },
    ])
}

/** Adds an item of stock. 403 `feature_not_enabled` for a supplier; 409 `duplicate_code`; 422 `reference_not_found`. */
export const createItem = async (
  trx: Trx,
  { packages = [], levels = [], referenceCost, ...item }: NewItem,
): Promise<string> => {
  if (item.supplierId) await holdSupplier(trx, item.supplierId)
  await holdCategory(trx, item.categoryId)
  const row = await insertRow(trx, InventoryItem, {
    ...item,
    packages: packagesOf(packages),
    ...referenceOf(referenceCost),
  })
  await setLevels(trx, row, levels)
  await emit(trx, itemCreated, {
    propertyId: null,
    id: row.id,
    version: row.version,
    data: { inventoryItemId: row.id, code: row.sku },
  })
  return row.id
}
