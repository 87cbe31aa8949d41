import { expenseGroups, locationKinds } from '../../config/inventory.ts'
import { sampleId } from '../../config/samples.ts'
import { List, Nullable, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { readCategories, readLocations, replaceCategories, replaceLocations } from '../../db/inventory/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Code, Name, path, version } from './schemas.ts'

const category = {
  code: Code,
  name: Name,
  parentCode: Nullable(Code),
  /** The group of expense accounts that its use is booked to. */
  expenseGroup: OneOf([...expenseGroups]),
}
const accounts = { stockAccountId: Nullable(Uuid), expenseAccountId: Nullable(Uuid) }
/** `version` is that of the set: 0 before it was first written. */
const Categories = Obj(
  { data: List(Obj({ id: Uuid, ...category, ...accounts }), { max: 500 }), version },
  { title: 'InventoryCategories' },
)

const listCategories = route({
  id: 'inventoryCategories.list',
  method: 'GET',
  path: `${path}/categories`,
  summary: 'List item categories',
  access: can('read', 'InventoryCategory'),
  returns: Categories,
  handle: ({ trx }) => readCategories(trx),
})

const replaceAll = route({
  id: 'inventoryCategories.replace',
  method: 'PUT',
  path: `${path}/categories`,
  summary: 'Replace the set of item categories',
  description:
    'An entry with an id is changed, one without is new, one that is left out is archived. Three levels at most. `If-Match` is the version of the set.',
  access: can('update', 'InventoryCategory'),
  errors: ['in_use', 'reference_not_found', 'account_not_usable', 'version_conflict', 'duplicate_code'],
  body: Obj({
    categories: List(
      Obj({
        id: Opt(Uuid),
        ...category,
        parentCode: Opt(Nullable(Code)),
        stockAccountId: Opt(Nullable(Uuid)),
        expenseAccountId: Opt(Nullable(Uuid)),
      }),
      { max: 500 },
    ),
  }),
  example: { categories: [{ id: sampleId('itemCategoryId'), code: 'FOOD', name: 'Food', expenseGroup: 'food' }] },
  returns: Categories,
  handle: async ({ trx, body, expectedVersion }) => {
    const entries = body.categories.map(
      ({ parentCode = null, stockAccountId = null, expenseAccountId = null, ...entry }) => ({
        ...entry,
        parentCode,
        stockAccountId,
        expenseAccountId,
      }),
    )
    await replaceCategories(trx, entries, expectedVersion)
    return readCategories(trx)
  },
})

const location = { code: Code, name: Name, kind: OneOf([...locationKinds]) }
const Locations = Obj(
  { data: List(Obj({ id: Uuid, ...location }), { max: 200 }), version },
  { title: 'InventoryLocations' },
)

const listLocations = route({
  id: 'inventoryLocations.list',
  method: 'GET',
  path: `${path}/locations`,
  summary: 'List stock locations',
  access: can('read', 'InventoryLocation'),
  query: Obj({ propertyId: Uuid }),
  example: { propertyId: sampleId('propertyId') },
  returns: Locations,
  errors: ['not_found'],
  handle: ({ trx, query: { propertyId }, admission }) => {
    admission.check('read', 'InventoryLocation', { propertyId })
    return readLocations(trx, propertyId)
  },
})

const replaceOfProperty = route({
  id: 'inventoryLocations.replace',
  method: 'PUT',
  path: `${path}/locations`,
  summary: 'Replace the set of stock locations of a property',
  description: 'As the set of categories. A location with stock, an open count or an outlet stays.',
  access: can('update', 'InventoryLocation'),
  errors: ['in_use', 'reference_not_found', 'version_conflict', 'duplicate_code', 'not_found', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, locations: List(Obj({ id: Opt(Uuid), ...location }), { max: 200 }) }),
  example: {
    propertyId: sampleId('propertyId'),
    locations: [
      { id: sampleId('locationId'), code: 'BAR', name: 'Bar', kind: 'bar' },
      { id: sampleId('toLocationId'), code: 'STORE', name: 'Store', kind: 'store' },
    ],
  },
  returns: Locations,
  handle: async ({ trx, body: { propertyId, locations }, expectedVersion, admission }) => {
    admission.check('update', 'InventoryLocation', { propertyId })
    await replaceLocations(trx, propertyId, locations, expectedVersion)
    return readLocations(trx, propertyId)
  },
})

export const routes = [listCategories, replaceAll, listLocations, replaceOfProperty]
