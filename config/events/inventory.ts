import { consumptionKinds, movementKinds } from '../inventory.ts'
import { Matching, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
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

export const inventoryEvents: Event[] = [
  itemCreated,
  itemChanged,
  itemArchived,
  stockMoved,
  stockRunLow,
  countStarted,
  countApproved,
  countCancelled,
  consumptionReversed,
]
