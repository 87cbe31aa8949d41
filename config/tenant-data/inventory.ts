import { inner, rows } from './table.ts'

export const inventoryData = [
  ...rows(
    'inventory_category',
    'inventory_location',
    'inventory_item',
    'inventory_level',
    'inventory_stock',
    'inventory_movement',
    'inventory_movement_line',
    'inventory_count',
    'inventory_count_line',
    'inventory_count_counter',
    'recipe',
    'recipe_version',
    'recipe_component',
    'inventory_consumption',
    'inventory_consumption_line',
    'inventory_shortage',
  ),
  ...inner('versions of sets', 'inventory_set'),
  ...inner('sums of what movements say', 'inventory_use'),
]
