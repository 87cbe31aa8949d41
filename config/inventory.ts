export const expenseGroups = [
  'food',
  'beverage',
  'guest_supplies',
  'cleaning_supplies',
  'operating_supplies',
  'other',
] as const
export type ExpenseGroup = (typeof expenseGroups)[number]

const stockGroups: Partial<Record<ExpenseGroup, string>> = { food: 'food', beverage: 'beverage', other: 'other' }
/** The group of stock accounts that items of an expense group are kept in. */
export const stockGroupOf = (group: ExpenseGroup): string => stockGroups[group] ?? 'supplies'

export const locationKinds = ['store', 'kitchen', 'bar', 'housekeeping', 'minibar', 'shop'] as const
export const movementKinds = [
  'opening',
  'receipt',
  'transfer',
  'production',
  'consumption',
  'count',
  'shortage',
  'reversal',
] as const
export type MovementKind = (typeof movementKinds)[number]
export const consumptionKinds = [
  'sale',
  'minibar',
  'meal',
  'kit',
  'department',
  'waste',
  'staff',
  'complimentary',
] as const
export const countStatuses = ['open', 'approved', 'cancelled'] as const

/** Movements are dated so many days before the business date at most. */
export const mostDaysBack = 35
/** Open shortages of one item and location that are settled with what has come; the rest by a job. */
export const settledAtOnce = 500
