import { consumptionKinds, movementKinds } from '../inventory.ts'
import { Amount, Currency, Int, Matching, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const item = {
  entity: 'inventory_item',
  subject: 'InventoryItem',
  data: Obj({ inventoryItemId: Uuid, code: Code }),
} as const
export const itemCreated = event({ type: 'item.created', ...item })
export const itemChanged = event({ type: 'item.changed', ...item })
export const itemArchived = event({ type: 'item.archived', ...item })

/** A decimal with up to 4 places, of the base measure `unit`. */
const quantity = Matching('^-?[0-9]{1,12}(\\.[0-9]{1,4})?$', 20)
const stockData = { inventoryItemId: Uuid, inventoryLocationId: Uuid, quantity, unit: OneOf(['g', 'ml', 'un']) }
const stock = { entity: 'inventory_stock', subject: 'InventoryStock', data: Obj(stockData) } as const
export const stockMoved = event({
  type: 'stock.moved',
  ...stock,
  data: Obj({ ...stockData, movementId: Uuid, kind: OneOf([...movementKinds]) }),
})
export const stockRunLow = event({ type: 'stock.run_low', ...stock })

export const stockRunShort = event({ type: 'stock.run_short', ...stock })
/** Stock, its lines, the ledger or the settlements of orders disagree: of a property, without item and location, `quantity` is in minor units. */
export const stockDriftFound = event({
  type: 'stock.drift_found',
  ...stock,
  data: Obj({
    inventoryItemId: Nullable(Uuid),
    inventoryLocationId: Nullable(Uuid),
    quantity,
    unit: Nullable(OneOf(['g', 'ml', 'un'])),
  }),
  listeners: ['issues'],
})

const count = {
  entity: 'inventory_count',
  subject: 'InventoryCount',
  data: Obj({ inventoryCountId: Uuid, inventoryLocationId: Uuid }),
} as const
export const countStarted = event({ type: 'count.started', ...count })
export const countApproved = event({ type: 'count.approved', ...count })
export const countCancelled = event({ type: 'count.cancelled', ...count })

const consumption = {
  entity: 'inventory_consumption',
  subject: 'InventoryConsumption',
  data: Obj({
    inventoryConsumptionId: Uuid,
    kind: OneOf([...consumptionKinds]),
    reservationId: Nullable(Uuid),
    unitId: Nullable(Uuid),
  }),
} as const
export const consumptionReversed = event({ type: 'consumption.reversed', ...consumption })

export const consumptionPosted = event({ type: 'consumption.posted', ...consumption })

const recipe = {
  entity: 'recipe',
  subject: 'Recipe',
  data: Obj({ recipeId: Uuid, code: Code, number: Int(1, 2_147_483_647) }),
} as const
export const recipeCreated = event({ type: 'recipe.created', ...recipe })
export const recipeVersionAdded = event({ type: 'recipe.version_added', ...recipe })
export const recipeArchived = event({ type: 'recipe.archived', ...recipe })

export const outletChanged = event({
  type: 'outlet.changed',
  entity: 'outlet',
  subject: 'Outlet',
  data: Obj({ outletId: Uuid }),
})
export const pricesReplaced = event({
  type: 'prices.replaced',
  entity: 'outlet',
  subject: 'PriceList',
  data: Obj({ outletId: Uuid }),
})

const order = {
  entity: 'pos_order',
  subject: 'PosOrder',
  data: Obj({
    posOrderId: Uuid,
    number: Code,
    outletId: Uuid,
    total: Amount,
    currency: Currency,
    folioId: Nullable(Uuid),
    reservationId: Nullable(Uuid),
  }),
} as const
export const orderOpened = event({ type: 'order.opened', ...order })
export const orderClosed = event({ type: 'order.closed', ...order })
export const orderVoided = event({ type: 'order.voided', ...order })
export const orderCancelled = event({ type: 'order.cancelled', ...order })

export const inventoryEvents: Event[] = [
  itemCreated,
  itemChanged,
  itemArchived,
  stockMoved,
  stockRunLow,
  stockRunShort,
  stockDriftFound,
  countStarted,
  countApproved,
  countCancelled,
  consumptionPosted,
  consumptionReversed,
  recipeCreated,
  recipeVersionAdded,
  recipeArchived,
  outletChanged,
  pricesReplaced,
  orderOpened,
  orderClosed,
  orderVoided,
  orderCancelled,
]
