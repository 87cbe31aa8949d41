import { createItem, recordArrival, replaceCategories, replaceLocations, startCount } from '../../db/inventory/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from './factories.ts'

/** Ids of what a house keeps in store. */
export type Store = {
  itemCategoryId: string
  itemId: string
  locationId: string
  /** Empty, and held by an open count without lines. */
  toLocationId: string
  userId: string
}

/** A bar with gin, a store without anything, and a person who keeps both. */
export const makeStore = async (house: House): Promise<Store> => {
  const { userId } = await makeUser({ [house.tenantId]: 'stock' })
  return inTenant(
    house.tenantId,
    async (trx) => {
      const { propertyId } = house
      const known = await sqlOne<{ id: string }>(trx, `select id from inventory_category where code = 'DRINKS'`)
      if (!known)
        await replaceCategories(
          trx,
          [
            {
              code: 'DRINKS',
              name: 'Drinks',
              parentCode: null,
              expenseGroup: 'beverage',
              stockAccountId: null,
              expenseAccountId: null,
            },
          ],
          null,
        )
      await replaceLocations(
        trx,
        propertyId,
        [
          { code: 'BAR', name: 'Bar', kind: 'bar' },
          { code: 'STORE', name: 'Store', kind: 'store' },
        ],
        null,
      )
      const ids = await sqlOne<Omit<Store, 'itemId' | 'userId'>>(
        trx,
        `select (select id from inventory_category where code = 'DRINKS' and status = 'active') as item_category_id,
           (select id from inventory_location where property_id = ? and code = 'BAR') as location_id,
           (select id from inventory_location where property_id = ? and code = 'STORE') as to_location_id`,
        [propertyId, propertyId],
      )
      if (!ids) throw new Error('nothing was made')
      const itemId = await createItem(trx, {
        sku: `TONIC-${propertyId.slice(0, 8).toUpperCase()}`,
        name: 'Tonic water',
        categoryId: ids.itemCategoryId,
        base: 'ml',
      })
      await recordArrival(trx, {
        kind: 'receipt',
        propertyId,
        locationId: ids.locationId,
        lines: [{ itemId, quantity: '100', measure: 'l', value: 50_000 }],
      })
      await startCount(trx, { locationId: ids.toLocationId })
      return { ...ids, itemId, userId }
    },
    { actor: { type: 'user', id: userId } },
  )
}
