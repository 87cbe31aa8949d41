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

export const recipeKinds = ['dish', 'drink', 'kit', 'preparation'] as const
export type RecipeKind = (typeof recipeKinds)[number]
/** Recipes stand in recipes so many deep at most; what a preparation has made is taken from stock. */
export const deepestRecipe = 5
/** Kinds of housekeeping tasks that may use up a kit. */
export const kitTaskKinds = [
  'departure',
  'stayover',
  'pickup',
  'deep',
  'inspection',
  'turndown',
  'maintenance',
  'other',
] as const
/** Plans that serve something. */
export const servedMealPlans = ['breakfast', 'half_board', 'full_board', 'all_inclusive'] as const

export const recordedUses = ['meal', 'kit', 'department', 'waste', 'staff'] as const
export const wasteReasons = ['spoiled', 'expired', 'broken', 'spilled', 'returned', 'other'] as const
export type WasteReason = (typeof wasteReasons)[number]

export const outletKinds = ['restaurant', 'bar', 'room_service', 'minibar', 'shop', 'events'] as const
export const revenueGroups = ['food', 'beverage', 'laundry', 'spa', 'parking', 'tours', 'other'] as const
export type RevenueGroup = (typeof revenueGroups)[number]
export const orderStatuses = ['open', 'closed', 'voided', 'cancelled'] as const
export const mostOrderLines = 200
export const mostPrices = 1_000
/** Days whose use says what the days to come will use. */
export const useDays = 28
