import { createCashAccount } from '../../db/cash/index.ts'
import {
  createItem,
  createRecipe,
  openOrder,
  readOutlets,
  recordArrival,
  replaceCategories,
  replaceLocations,
  replaceOutlets,
  replacePrices,
} from '../../db/inventory/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { makeUser } from '../../test/auth/support.ts'
import type { House } from '../../test/support/factories.ts'
import { price } from '../../test/support/stock.ts'

const items = 40
const recipes = 10
const components = 10

export type Bar = { house: House; outletId: string; cardAccountId: string; byCashier: House['inHouse'] }

/** A bar with 40 items in stock, and 10 recipes of 10 of them. */
export const openBar = async (house: House): Promise<Bar> => {
  const { propertyId, tenantId } = house
  const { userId } = await makeUser({ [tenantId]: 'manager' })
  const byCashier = <T>(work: (trx: Trx) => Promise<T>) =>
    inTenant(tenantId, work, { actor: { type: 'user', id: userId } })
  return byCashier(async (trx) => {
    const category = {
      parentCode: null,
      expenseGroup: 'beverage' as const,
      stockAccountId: null,
      expenseAccountId: null,
    }
    await replaceCategories(trx, [{ code: 'PARTS', name: 'Parts', ...category }], null)
    await replaceLocations(trx, propertyId, [{ code: 'BAR', name: 'Bar', kind: 'bar' }], null)
    const ids = await sqlOne<{ categoryId: string; locationId: string }>(
      trx,
      `select (select id from inventory_category limit 1) as category_id, (select id from inventory_location where property_id = ?) as location_id`,
      [propertyId],
    )
    const { categoryId = '', locationId = '' } = ids ?? {}
    const itemIds: string[] = []
    for (let one = 0; one < items; one += 1)
      itemIds.push(await createItem(trx, { sku: `ITEM${one}`, name: `Item ${one}`, categoryId, base: 'g' }))
    await recordArrival(trx, {
      kind: 'receipt',
      propertyId,
      locationId,
      lines: itemIds.map((itemId, one) => ({ itemId, quantity: '5000', measure: 'kg', value: 5_000_000 + one })),
    })
    const outlet = {
      code: 'BAR',
      name: 'Bar',
      kind: 'bar' as const,
      locationId,
      roomCharge: true,
      serviceChargeRate: 1_000,
    }
    await replaceOutlets(trx, propertyId, [outlet], null)
    const outletId = (await readOutlets(trx, propertyId)).data[0]?.id ?? ''
    const entries = []
    for (let one = 0; one < recipes; one += 1) {
      const recipeId = await createRecipe(trx, {
        code: `DRINK${one}`,
        name: `Drink ${one}`,
        kind: 'drink',
        yield: '1',
        components: Array.from({ length: components }, (_, part) => ({
          itemId: itemIds[(one * 4 + part) % items] ?? '',
          quantity: `${part + 1}`,
          measure: 'g',
        })),
      })
      entries.push(price({ code: `DRINK${one}`, name: `Drink ${one}`, recipeId }))
    }
    await replacePrices(trx, outletId, { entries }, null)
    const cardAccountId = await createCashAccount(trx, { kind: 'bank', code: 'BANK', name: 'Bank', propertyId })
    return { house, outletId, cardAccountId, byCashier }
  })
}

/** Opens orders of a line of each recipe. Answers their ids. */
export const openOrders = async ({ byCashier, outletId }: Bar, count: number): Promise<string[]> => {
  const lines = Array.from({ length: recipes }, (_, one) => ({ priceCode: `DRINK${one}`, quantity: '1' }))
  const made: string[] = []
  for (let one = 0; one < count; one += 1) made.push((await byCashier((trx) => openOrder(trx, { outletId, lines }))).id)
  return made
}
