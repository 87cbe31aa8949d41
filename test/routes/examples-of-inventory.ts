import fc from 'fast-check'
import { recordArrival, startCount } from '../../db/inventory/index.ts'
import { inTenant } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'
import { makeStore } from '../support/stock.ts'
import type { Store } from '../support/stock.ts'
import type { Known } from './inputs.ts'

/** Stock with a movement to be reversed and counts to be entered, approved and cancelled. */
export const ofInventory = async (
  house: House,
  given?: Store,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const store = given ?? (await makeStore(house))
  const { itemId, locationId, toLocationId, itemCategoryId, userId } = store
  const { propertyId } = house
  const made = await inTenant(
    house.tenantId,
    async (trx) => ({
      movementId: await recordArrival(trx, {
        kind: 'receipt',
        propertyId,
        locationId,
        lines: [{ itemId, quantity: '1', measure: 'l', value: 500 }],
      }),
      countId: await startCount(trx, { locationId, itemIds: [itemId] }),
      empty: await startCount(trx, { locationId: toLocationId }),
      toCancel: await startCount(trx, { locationId: toLocationId }),
    }),
    { actor: { type: 'user', id: userId } },
  )
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    records: { itemId, movementId: made.movementId, countId: made.countId },
    known: {
      propertyId: one(propertyId),
      itemId: one(itemId),
      itemIds: one([itemId]),
      categoryId: one(itemCategoryId),
      parentCode: one(null),
      stockAccountId: one(null),
      expenseAccountId: one(null),
      supplierId: one(null),
      barcode: one(null, '78910001'),
      locationId: one(locationId, toLocationId),
      fromLocationId: one(locationId),
      toLocationId: one(toLocationId),
      movementId: one(made.movementId),
      countId: one(made.countId),
      base: one('ml'),
      measure: one('ml', 'l', 'cl'),
      quantity: one('0.5', '1', '2'),
      counted: one('0', '1.5'),
      occurredOn: one(house.day(0)),
      asOf: one(house.day(0)),
      'inventoryCounts.approve countId': one(made.empty),
      'inventoryCounts.cancel countId': one(made.toCancel),
    },
    examples: {
      'inventoryItems.list': [{}, { low: true }, { q: 'tonic' }],
      'inventoryItems.update': [{ name: 'Water' }, { leadDays: 4 }],
      'inventoryStock.read': [{ propertyId }, { propertyId, groupBy: 'category', asOf: house.day(0) }],
      'inventoryMovements.create': [
        {
          kind: 'transfer',
          propertyId,
          fromLocationId: locationId,
          toLocationId,
          lines: [{ itemId, quantity: '1', measure: 'cl' }],
        },
      ],
      'inventoryLocations.list': [{ propertyId }],
      'inventoryCounts.enter': [{ lines: [{ itemId, counted: '3', measure: 'l' }] }],
    },
  }
}
