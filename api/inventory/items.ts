import { bases } from '../../config/measures.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import {
  archiveItem,
  changeItem,
  createItem,
  itemSeenIn,
  itemSorts,
  listItems,
  readItem,
} from '../../db/inventory/index.ts'
import type { ItemListed, ItemShown } from '../../db/inventory/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { Code, Cost, Held, Measure, Name, path, Quantity, Value } from './schemas.ts'
import { seesValue } from './values.ts'

/** A measure of this item alone; `quantity` in the base. */
const Package = Obj({ code: Measure, name: Name, quantity: Quantity, purchase: Bool })
const Level = Obj({ locationId: Uuid, minimum: Quantity, maximum: Quantity })
const sent = {
  sku: Code,
  name: Name,
  barcode: Nullable(Matching('^[0-9]{8,14}$', 14, { cardNumber: 'exempt' })),
  categoryId: Uuid,
  /** Fixed after the first movement. */
  base: OneOf([...bases]),
  packages: List(Package, { max: 10 }),
  levels: List(Level, { max: 200 }),
  supplierId: Nullable(Uuid),
  leadDays: Int(0, 60),
  /** Value of a gain of stock that has no cost yet. */
  referenceCost: Nullable(Obj({ amount: Cost, quantity: Quantity })),
}
const head = {
  id: Uuid,
  ...sent,
  packages: List(Obj({ ...Package.properties, quantity: Held }), { max: 10 }),
  levels: List(Obj({ locationId: Uuid, minimum: Held, maximum: Held }), { max: 200 }),
  referenceCost: Nullable(Obj({ amount: Amount, quantity: Held })),
  status: OneOf(['active', 'archived']),
  /** In all locations of the properties that the caller sees. */
  quantity: Held,
  /** Null for who may not see it, and where the locations have several currencies. */
  value: Value,
  /** Price of one base unit in minor units with 4 places, for display alone. */
  unitCost: Nullable(Text(1, 30)),
  lastCost: Nullable(Obj({ value: Amount, quantity: Held, at: Instant })),
  ...stamps,
}
const Item = Obj(
  {
    ...head,
    stock: List(
      Obj({
        locationId: Uuid,
        propertyId: Uuid,
        quantity: Held,
        value: Value,
        /** Used before it was there. */
        short: Held,
        lowSince: Nullable(Instant),
        lastCountedAt: Nullable(Instant),
      }),
      { max: 500 },
    ),
  },
  { title: 'InventoryItem' },
)

const listed = (item: ItemListed, admission: Admission) =>
  seesValue(admission) ? item : { ...item, value: null, unitCost: null, lastCost: null, referenceCost: null }
const show = (found: ItemShown, admission: Admission) => {
  const item = itemSeenIn(found, admission.propertyIds)
  return {
    ...item,
    ...listed(item, admission),
    stock: item.stock.map((row) => (seesValue(admission) ? row : { ...row, value: null })),
  }
}

const items = resource({
  name: 'inventoryItems',
  subject: 'InventoryItem',
  table: 'inventory_item',
  path: `${path}/items`,
  param: 'itemId',
  record: Item,
  lockedBy: 'command',
  read: (trx, id) => readItem(trx, id),
  show,
})

const list = items.list({
  summary: 'List items with quantity, value and level',
  description:
    '`low` asks for items below the minimum of a location, `locationId` for those with stock or a level there. `q` looks in SKU, name and barcode.',
  query: {
    categoryId: Opt(Uuid),
    locationId: Opt(Uuid),
    low: Opt(Bool),
    supplierId: Opt(Uuid),
    status: Opt(OneOf(['active', 'archived'])),
    q: Opt(Text(1, 120)),
  },
  sort: { by: Object.keys(itemSorts) as (keyof typeof itemSorts)[], usual: 'sku' },
  of: Obj(head, { title: 'InventoryItemListed' }),
  example: { low: true },
  find: async ({ trx, filter, admission }) => {
    const { total, rows } = await listItems(trx, filter, admission.propertyIds)
    return { total, rows: rows.map((row) => listed(row, admission)) }
  },
})

const { sku, name, categoryId, base, ...optional } = sent
const create = items.create({
  summary: 'Create a stock item',
  description: 'Quantities are decimals of the base: grams, millilitres or units.',
  errors: ['duplicate_code', 'reference_not_found'],
  body: Obj({ sku, name, categoryId, base, ...Sparse(Obj(optional)).properties }),
  example: { sku: 'GIN', name: 'Gin', categoryId: sampleId('itemCategoryId'), base: 'ml' },
  command: ({ trx, body }) => createItem(trx, body),
})

const read = items.read({ summary: 'Read an item with stock by location' })

const change = items.change({
  summary: 'Change texts, category, packages, levels or supplier',
  description: 'The base is fixed after the first movement, and the quantity of a package after its first use.',
  errors: ['duplicate_code', 'reference_not_found', 'locked_field', 'invalid_transition'],
  body: Sparse(Obj(sent)),
  example: { name: 'London dry gin', leadDays: 3 },
  command: ({ trx, id, body, expectedVersion }) => changeItem(trx, id, body, expectedVersion),
})

const archive = items.act('archive', {
  summary: 'Retire an item without stock',
  action: 'delete',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id, expectedVersion }) => archiveItem(trx, id, expectedVersion),
})

export const routes = [list, create, read, change, archive]
