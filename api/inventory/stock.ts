import { sampleId } from '../../config/samples.ts'
import { Count, Currency, Day, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { readStock, suggestPurchases } from '../../db/inventory/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Code, Held, Measure, path, Value } from './schemas.ts'
import { seesValue } from './values.ts'

const read = route({
  id: 'inventoryStock.read',
  method: 'GET',
  path: `${path}/stock`,
  summary: 'Read quantities and value by item, location and date',
  description:
    'With `asOf` the stock at the end of that day. Quantities are told by item alone, in its base. The value is that of the stock accounts of the ledger.',
  access: can('read', 'InventoryStock'),
  query: Obj({
    propertyId: Uuid,
    locationId: Opt(Uuid),
    categoryId: Opt(Uuid),
    itemId: Opt(Uuid),
    asOf: Opt(Day),
    groupBy: Opt(OneOf(['item', 'location', 'category'])),
  }),
  example: { propertyId: sampleId('propertyId'), groupBy: 'item' },
  errors: ['not_found'],
  returns: Obj(
    {
      currency: Currency,
      asOf: Day,
      rows: List(
        Obj({
          itemId: Nullable(Uuid),
          locationId: Nullable(Uuid),
          categoryCode: Nullable(Code),
          quantity: Nullable(Held),
          base: Nullable(OneOf(['g', 'ml', 'un'])),
          value: Value,
          /** Used before it was there; told of today alone. */
          short: Nullable(Held),
        }),
        { max: 20_000 },
      ),
      value: Value,
    },
    { title: 'InventoryStock' },
  ),
  handle: async ({ trx, query, admission }) => {
    admission.check('read', 'InventoryStock', { propertyId: query.propertyId })
    const stock = await readStock(trx, query)
    if (seesValue(admission)) return stock
    return { ...stock, value: null, rows: stock.rows.map((row) => ({ ...row, value: null })) }
  },
})

const suggestions = route({
  id: 'inventoryStock.suggestPurchases',
  method: 'GET',
  path: `${path}/purchase-suggestions`,
  summary: 'List what to buy for the days ahead',
  description:
    'Items that would fall below their minimum by what the nights on the books will use at the rate of the last 28 days, until they are delivered and over the horizon. Whole purchase packages. `onOrder` is 0 without the feature `suppliers`, and that of the property for a location, too.',
  access: can('read', 'InventoryStock'),
  query: Obj({ propertyId: Uuid, locationId: Opt(Uuid), horizonDays: Opt(Int(1, 60)) }),
  example: { propertyId: sampleId('propertyId'), horizonDays: 14 },
  errors: ['not_found'],
  returns: Obj(
    {
      currency: Currency,
      asOf: Day,
      horizonDays: Int(1, 60),
      data: List(
        Obj({
          itemId: Uuid,
          sku: Text(1, 30),
          name: Text(1, 120),
          base: OneOf(['g', 'ml', 'un']),
          onHand: Held,
          onOrder: Held,
          short: Held,
          minimum: Held,
          maximum: Held,
          expectedUse: Held,
          suggested: Held,
          package: Nullable(Obj({ code: Measure, count: Count })),
          /** At the last cost, else the average, else the reference cost. */
          estimatedValue: Value,
          supplierId: Nullable(Uuid),
        }),
        { max: 5_000 },
      ),
    },
    { title: 'PurchaseSuggestions' },
  ),
  handle: async ({ trx, query, admission }) => {
    admission.check('read', 'InventoryStock', { propertyId: query.propertyId })
    const found = await suggestPurchases(trx, query)
    if (seesValue(admission)) return found
    return { ...found, data: found.data.map((one) => ({ ...one, estimatedValue: null })) }
  },
})

export const routes = [read, suggestions]
