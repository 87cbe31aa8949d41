import { sampleId } from '../../config/samples.ts'
import { Currency, Day, List, Nullable, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { readStock } from '../../db/inventory/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Code, Held, path, Value } from './schemas.ts'
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

export const routes = [read]
