import { unprocessable } from '../../../config/errors.ts'
import { mostDaysBack } from '../../../config/inventory.ts'
import { addDays } from '../../../config/time.ts'
import type { Held } from '../stock/hold.ts'

/** The date of a move: the business date, or up to 35 days before it (R11). 422 `date_out_of_range`. */
export const dateOf = (businessDate: string, asked: string | undefined): string => {
  const date = asked ?? businessDate
  if (date > businessDate || date < addDays(businessDate, -mostDaysBack))
    throw unprocessable('date_out_of_range', `Stock is moved from ${mostDaysBack} days before the business date on`, [
      { field: 'occurredOn', message: `must be from ${addDays(businessDate, -mostDaysBack)} to ${businessDate}` },
    ])
  return date
}

/** Refuses a date before the last approved count of an item and location. 422 `before_count`. */
export const refuseBeforeCount = (held: readonly Held[], date: string): void => {
  const last = held.reduce<string | null>(
    (latest, { lastCountedOn }) => (lastCountedOn !== null && lastCountedOn > (latest ?? '') ? lastCountedOn : latest),
    null,
  )
  if (last !== null && date < last)
    throw unprocessable('before_count', `The stock was counted on ${last}`, [
      { field: 'occurredOn', message: `must not be before ${last}` },
    ])
}
