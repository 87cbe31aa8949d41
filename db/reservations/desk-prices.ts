import { conflict, forbidden } from '../../config/errors.ts'
import { nightsBelow } from '../properties/index.ts'
import type { DeskSale } from '../properties/index.ts'
import { blocker, isWaived } from './rules/blockers.ts'
import type { Blocker, Granted } from './rules/blockers.ts'
import type { NewRoom } from './take-rooms.ts'

/** Prices that the desk sets need a permission, and go no further below the plan's than the role allows (R17). */
export const judgePrices = (sale: DeskSale, rooms: readonly NewRoom[], override: Granted | null): Blocker[] => {
  const changed = rooms.flatMap(({ expectedTotal }, index) => {
    const total = sale.rooms[index]!.quoted.total
    return expectedTotal === undefined || expectedTotal === total
      ? []
      : [{ field: `rooms.${index}.expectedTotal`, message: String(total) }]
  })
  if (changed.length > 0) throw conflict('price_changed', 'The price is another by now', changed)
  const isManual = rooms.some(({ manualNights = [] }) => manualNights.length > 0)
  if (!isManual) return []
  refusePrices(
    rooms.flatMap(({ manualNights = [] }, index) =>
      nightsBelow(sale.rooms[index]!, manualNights, override?.priceCutBps ?? 10_000).map(
        (date) => `rooms.${index}.manualNights.${date}`,
      ),
    ),
    override,
  )
  return blocker(true, 'manual_price', 'A price set by hand needs the rule price', 'price')
}

/** 403 for nights whose price is lower than the caller's role may make it. */
export const refusePrices = (fields: readonly string[], override: Granted | null): void => {
  if (fields.length === 0 || !override || override.priceCutBps === null || !isWaived(override, 'price')) return
  const percent = override.priceCutBps / 100
  throw forbidden(
    'override_not_permitted',
    `Your role may go ${percent} % below the plan's price`,
    fields.map((field) => ({ field, message: 'price' })),
  )
}
