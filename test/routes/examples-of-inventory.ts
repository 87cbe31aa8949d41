import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import {
  createItem,
  createRecipe,
  openOrder,
  readOutlets,
  recordArrival,
  replaceOutlets,
  replacePrices,
  startCount,
} from '../../db/inventory/index.ts'
import { inTenant } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'
import { makeStore, price } from '../support/stock.ts'
import type { Store } from '../support/stock.ts'
import type { Known } from './inputs.ts'

/** Stock with a movement to be reversed, counts to be entered, approved and cancelled, and orders to be changed, closed and cancelled. */
const outletsOf = async (trx: Trx, { outletId, locationId }: Store, propertyId: string) => {
  const bar = { code: 'BAR', name: 'Bar', kind: 'bar' as const, locationId, roomCharge: true, serviceChargeRate: 1_000 }
  const other = { ...bar, code: 'OTHER', name: 'Other bar' }
  await replaceOutlets(trx, propertyId, [{ id: outletId, ...bar }, other], null)
  const otherOutletId = (await readOutlets(trx, propertyId)).data.find(({ code }) => code === 'OTHER')?.id ?? ''
  await replacePrices(trx, otherOutletId, { entries: [price({ code: 'TOUR', name: 'Tour' })] }, null)
  const open = async (of: string, priceCode: string) =>
    (await openOrder(trx, { outletId: of, lines: [{ priceCode, quantity: '1' }] })).id
  return {
    otherOutletId,
    // It keeps the other outlet where it is.
    held: await open(otherOutletId, 'TOUR'),
    orderId: await open(outletId, 'GIN'),
    toClose: await open(outletId, 'GIN'),
    toVoid: await open(outletId, 'GIN'),
    bar: { id: outletId, ...bar },
    other: { id: otherOutletId, ...other },
  }
}

export const ofInventory = async (
  house: House,
  given?: Store,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const store = given ?? (await makeStore(house))
  const { itemId, locationId, toLocationId, itemCategoryId, outletId, recipeId, userId } = store
  const { propertyId } = house
  const newItem = (trx: Trx, sku: string) =>
    createItem(trx, {
      sku: `${sku}-${propertyId.slice(0, 8).toUpperCase()}`,
      name: sku,
      categoryId: itemCategoryId,
      base: 'ml',
    })
  const made = await inTenant(
    house.tenantId,
    async (trx) => ({
      unused: await newItem(trx, 'UNUSED'),
      counted: await newItem(trx, 'COUNTED'),
      ...(await outletsOf(trx, store, propertyId)),
      unsold: await createRecipe(trx, {
        code: `OLD-${propertyId.slice(0, 8).toUpperCase()}`,
        name: 'Old',
        kind: 'dish',
        yield: '2',
        components: [{ itemId, quantity: '1' }],
      }),
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
    records: { itemId, recipeId, outletId, orderId: made.orderId, movementId: made.movementId, countId: made.countId },
    known: {
      propertyId: one(propertyId),
      itemId: one(itemId),
      itemIds: one([itemId], [made.counted]),
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
      'inventoryItems.archive itemId': one(made.unused),
      recipeId: one(recipeId),
      outputItemId: one(itemId),
      'recipes.archive recipeId': one(made.unsold),
      rules: one([]),
      yield: one('1', '4'),
      batches: one(1),
      purchaseOrderId: one(randomUUID()),
      costCenterId: one(randomUUID()),
      outletId: one(outletId),
      copyFromOutletId: one(made.otherOutletId),
      'prices.replace outletId': one(made.otherOutletId),
      priceCode: one('GIN'),
      weekDays: one(null, [1, 2]),
      validFrom: one(null),
      validTo: one(null),
      timeFrom: one(null),
      timeTo: one(null),
      orderId: one(made.orderId),
      'posOrders.close orderId': one(made.toClose),
      'posOrders.cancel orderId': one(made.toVoid),
      unitId: one(house.unitIds[0] ?? ''),
      discount: one(0, 100),
      settlements: one([{ type: 'house', reason: 'Tasting' }], [{ type: 'folio' }]),
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
      'inventoryStock.suggestPurchases': [{ propertyId }, { propertyId, horizonDays: 30 }],
      'recipes.list': [{}, { kind: 'drink', itemId }],
      'recipes.update': [{ name: 'Another' }, { yield: '2' }],
      'inventoryConsumptions.create': [
        { propertyId, kind: 'staff', locationId, lines: [{ recipeId, quantity: '1' }] },
        { propertyId, kind: 'department', locationId, lines: [{ itemId, quantity: '1', measure: 'cl' }] },
      ],
      'outlets.list': [{ propertyId }],
      'outlets.replace': [{ propertyId, outlets: [made.bar, made.other] }],
      'posOrders.update': [{ covers: 4 }, { addLines: [{ priceCode: 'GIN', quantity: '1' }] }],
      'posOrders.close': [{ settlements: [{ type: 'house', reason: 'Tasting' }] }],
      'inventoryLocations.list': [{ propertyId }],
      'inventoryCounts.enter': [{ lines: [{ itemId, counted: '3', measure: 'l' }] }],
    },
  }
}
