import { model } from '../lib/models.ts'
import type { KitRule } from './recipes/kit-rules.ts'

/** A package of an item; `quantity` in ten-thousandths of the base. */
export type Package = { code: string; name: string; quantity: number; purchase: boolean }

export const InventoryItem = model<'inventory_item', { packages: Package[] }>('inventory_item')
export const InventoryMovement = model('inventory_movement')
export const InventoryMovementLine = model('inventory_movement_line')
export const InventoryCount = model('inventory_count')
export const Recipe = model<'recipe', { rules: KitRule[] }>('recipe')
export const RecipeVersion = model('recipe_version')
export const RecipeComponent = model('recipe_component')
export const InventoryConsumption = model('inventory_consumption')
export const InventoryConsumptionLine = model('inventory_consumption_line')
export const InventoryShortage = model('inventory_shortage')
export const PosOrder = model('pos_order')
export const PosOrderLine = model('pos_order_line')
export const PosSettlement = model('pos_settlement')
