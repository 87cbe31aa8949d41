import {
  createItem,
  createRecipe,
  openOrder,
  readCategories,
  readLocations,
  readOutlets,
  recordArrival,
  replaceCategories,
  replaceLocations,
  replaceOutlets,
  replacePrices,
} from '../inventory/index.ts'
import type { Trx } from '../lib/connection.ts'
import { sol } from './ids.ts'

const { propertyId } = sol

const idIn = async (found: Promise<{ data: { id: string; code: string }[] }>, code: string): Promise<string> => {
  const one = (await found).data.find((entry) => entry.code === code)
  if (!one) throw new Error(`the demo has no ${code}`)
  return one.id
}

const buildStore = async (trx: Trx): Promise<{ bar: string; drinks: string; food: string }> => {
  const accounts = { parentCode: null, stockAccountId: null, expenseAccountId: null }
  await replaceCategories(
    trx,
    [
      { code: 'DRINKS', name: 'Bebidas', expenseGroup: 'beverage', ...accounts },
      { code: 'FOOD', name: 'Alimentos', expenseGroup: 'food', ...accounts },
    ],
    null,
  )
  await replaceLocations(
    trx,
    propertyId,
    [
      { code: 'BAR', name: 'Bar da piscina', kind: 'bar' },
      { code: 'COPA', name: 'Copa', kind: 'store' },
    ],
    null,
  )
  return {
    bar: await idIn(readLocations(trx, propertyId), 'BAR'),
    drinks: await idIn(readCategories(trx), 'DRINKS'),
    food: await idIn(readCategories(trx), 'FOOD'),
  }
}

const price = {
  itemId: null,
  recipeId: null,
  quantity: '1',
  locationId: null,
  validFrom: null,
  validTo: null,
  weekDays: null,
  timeFrom: null,
  timeTo: null,
}

/** The bar by the pool: cachaça and lime in store, caipirinhas on the list, with a happy hour, and a table that still sits. */
export const buildBar = async (trx: Trx): Promise<void> => {
  const { bar, drinks, food } = await buildStore(trx)
  const level = (minimum: string, maximum: string) => [{ locationId: bar, minimum, maximum }]
  const cachaca = await createItem(trx, {
    sku: 'CACHACA',
    name: 'Cachaça envelhecida',
    categoryId: drinks,
    base: 'ml',
    packages: [{ code: 'GARRAFA', name: 'Garrafa de 700 ml', quantity: '700', purchase: true }],
    levels: level('1400', '7000'),
  })
  const lime = await createItem(trx, {
    sku: 'LIMAO',
    name: 'Limão taiti',
    categoryId: food,
    base: 'un',
    levels: level('10', '60'),
  })
  const water = await createItem(trx, {
    sku: 'AGUA',
    name: 'Água mineral',
    categoryId: drinks,
    base: 'un',
    levels: level('12', '72'),
  })
  await recordArrival(trx, {
    kind: 'opening',
    propertyId,
    locationId: bar,
    lines: [
      { itemId: cachaca, quantity: '6', measure: 'GARRAFA', value: 27_000 },
      { itemId: lime, quantity: '40', measure: 'un', value: 2_000 },
      { itemId: water, quantity: '48', measure: 'un', value: 9_600 },
    ],
  })
  const recipeId = await createRecipe(trx, {
    code: 'CAIPIRINHA',
    name: 'Caipirinha',
    kind: 'drink',
    yield: '1',
    components: [
      { itemId: cachaca, quantity: '50', measure: 'ml' },
      { itemId: lime, quantity: '1', lossRate: 500 },
    ],
  })
  await replaceOutlets(
    trx,
    propertyId,
    [
      {
        code: 'BAR',
        name: 'Bar da piscina',
        kind: 'bar',
        locationId: bar,
        roomCharge: true,
        serviceChargeRate: 1_000,
      },
    ],
    null,
  )
  const outletId = await idIn(readOutlets(trx, propertyId), 'BAR')
  const caipirinha = { ...price, code: 'CAIPIRINHA', name: 'Caipirinha', recipeId, revenueGroup: 'beverage' as const }
  await replacePrices(
    trx,
    outletId,
    {
      entries: [
        { ...caipirinha, amount: 2_800 },
        { ...caipirinha, name: 'Caipirinha, happy hour', amount: 2_000, timeFrom: '17:00', timeTo: '19:00' },
        { ...price, code: 'AGUA', name: 'Água mineral', itemId: water, amount: 700, revenueGroup: 'beverage' },
      ],
    },
    null,
  )
  await openOrder(trx, {
    outletId,
    table: '4',
    covers: 2,
    lines: [
      { priceCode: 'CAIPIRINHA', quantity: '2' },
      { priceCode: 'AGUA', quantity: '1' },
    ],
  })
}
