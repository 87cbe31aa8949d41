import { model } from '../lib/models.ts'

/** A package of an item; `quantity` in ten-thousandths of the base. */
export type Package = { code: string; name: string; quantity: number; purchase: boolean }

export const InventoryItem = model<'inventory_item', { packages: Package[] }>('inventory_item')
export const InventoryMovement = model('inventory_movement')
export const InventoryMovementLine = model('inventory_movement_line')
export const InventoryCount = model('inventory_count')
