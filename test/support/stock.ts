import {
  createItem,
  createRecipe,
  readOutlets,
  recordArrival,
  replaceCategories,
  replaceLocations,
  replaceOutlets,
  replacePrices,
  startCount,
} from '../../db/inventory/index.ts'
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
  /** A bar with one price, `GIN`. */
  outletId: string
  recipeId: string
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
      const ids = await sqlOne<Pick<Store, 'itemCategoryId' | 'locationId' | 'toLocationId'>>(
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
      const recipeId = await createRecipe(trx, {
        code: `GIN-${propertyId.slice(0, 8).toUpperCase()}`,
        name: 'Gin',
        kind: 'drink',
        yield: '1',
        components: [{ itemId, quantity: '5', measure: 'cl' }],
      })
      await replaceOutlets(
        trx,
        propertyId,
        [
          {
            code: 'BAR',
            name: 'Bar',
            kind: 'bar',
            locationId: ids.locationId,
            roomCharge: true,
            serviceChargeRate: 1_000,
          },
        ],
        null,
      )
      const [outlet] = (await readOutlets(trx, propertyId)).data
      const outletId = outlet?.id ?? ''
      await replacePrices(trx, outletId, { entries: [price({ code: 'GIN', name: 'Gin', recipeId })] }, null)
      return { ...ids, itemId, recipeId, outletId, userId }
    },
    { actor: { type: 'user', id: userId } },
  )
}

/** A price that always holds. */
export const price = (given: { code: string; name: string; itemId?: string; recipeId?: string; amount?: number }) => ({
  itemId: null,
  recipeId: null,
  quantity: '1',
  amount: 2_500,
  revenueGroup: 'beverage' as const,
  locationId: null,
  validFrom: null,
  validTo: null,
  weekDays: null,
  timeFrom: null,
  timeTo: null,
  ...given,
})
