import { inner, rows } from './table.ts'

export const unitsData = [
  ...rows(
    'unit_pool', 'unit_type', 'unit_type_pool', 'unit', 'unit_block', 'unit_assignment', 'unit_block_stay',
    'housekeeping_sheet', 'housekeeping_task',
  ), // oxfmt-ignore
  ...inner('follows from stays and blocks', 'pool_night', 'stranded_stay', 'unit_block_unit'),
]
