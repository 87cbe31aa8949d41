import { randomUUID } from 'node:crypto'
import { createCashAccount, openSession } from '../../db/cash/index.ts'
import {
  createItem,
  createRecipe,
  readOutlets,
  recordArrival,
  replaceCategories,
  replaceLocations,
  replaceOutlets,
  replacePrices,
} from '../../db/inventory/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from '../support/factories.ts'
import { price } from '../support/stock.ts'
import type { StockGround } from './stock-acts.ts'

/** Gives a house a bar and a store with three things in both, prices of each and of a mixture, an open register, and two people who work there. */
export const furnishStock = async (house: House): Promise<StockGround> => {
  const { propertyId, tenantId } = house
  const people = [await makeUser({ [tenantId]: 'stock' }), await makeUser({ [tenantId]: 'manager' })]
  const userIds = people.map(({ userId }) => userId)
  return inTenant(
    tenantId,
    async (trx) => {
      const category = { parentCode: null, expenseGroup: 'food' as const, stockAccountId: null, expenseAccountId: null }
      await replaceCategories(trx, [{ code: 'PARTS', name: 'Parts', ...category }], null)
      await replaceLocations(
        trx,
        propertyId,
        [
          { code: 'BAR', name: 'Bar', kind: 'bar' },
          { code: 'STORE', name: 'Store', kind: 'store' },
        ],
        null,
      )
      const places = await sql<{ id: string }>(
        trx,
        `select id from inventory_location where property_id = ? order by position`,
        [propertyId],
      )
      const [barId = '', storeId = ''] = places.map(({ id }) => id)
      const [made] = await sql<{ id: string }>(trx, `select id from inventory_category where code = 'PARTS'`)
      const itemIds: string[] = []
      for (const sku of ['LIME', 'MINT', 'SUGAR'])
        itemIds.push(
          await createItem(trx, {
            sku,
            name: sku,
            categoryId: made?.id ?? '',
            base: 'g',
            levels: [{ locationId: barId, minimum: '10', maximum: '100' }],
            referenceCost: { amount: 7, quantity: '3' },
          }),
        )
      for (const locationId of [barId, storeId])
        await recordArrival(trx, {
          kind: 'receipt',
          propertyId,
          locationId,
          lines: itemIds.map((itemId, index) => ({ itemId, quantity: '300', measure: 'g', value: 1_000 + index })),
        })
      const recipeId = await createRecipe(trx, {
        code: 'MIXED',
        name: 'Mixed',
        kind: 'drink',
        yield: '3',
        components: itemIds.map((itemId) => ({ itemId, quantity: '10', measure: 'g', lossRate: 700 })),
      })
      const outlet = { code: 'BAR', name: 'Bar', kind: 'bar' as const, locationId: barId }
      await replaceOutlets(trx, propertyId, [{ ...outlet, roomCharge: true, serviceChargeRate: 1_000 }], null)
      const outletId = (await readOutlets(trx, propertyId)).data[0]?.id ?? ''
      const parts = itemIds.map((itemId, index) => price({ code: `PART${index}`, name: 'Part', itemId, amount: 333 }))
      const mixed = price({ code: 'MIXED', name: 'Mixed', recipeId, amount: 1_999 })
      await replacePrices(trx, outletId, { entries: [...parts, mixed] }, null)
      const registerId = await createCashAccount(trx, {
        kind: 'register',
        code: randomUUID().slice(0, 6).toUpperCase(),
        name: 'Bar',
        propertyId,
        opening: { amount: 0, on: house.today },
      })
      return { outletId, barId, storeId, itemIds, userIds, cashSessionId: await openSession(trx, registerId, {}) }
    },
    { actor: { type: 'user', id: userIds[0] ?? '' } },
  )
}
