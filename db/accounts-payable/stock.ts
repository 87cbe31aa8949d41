import type { Trx } from '../lib/connection.ts'

/** The functions of stock that orders and bills call. */
export type Stock = {
  /** So many of the item's base are one of a measure, as whole numbers; null where the item does not have the measure. */
  measureOf: (
    trx: Trx,
    item: { inventoryItemId: string; measure: string },
  ) => Promise<{ name: string; numerator: string; denominator: string } | null>
  /** Tells whether a location is one of the property. */
  hasLocation: (trx: Trx, location: { locationId: string; propertyId: string }) => Promise<boolean>
  /** Lines of receipts that stand and named no order, with the value that they brought; others are left out. */
  receivedValues: (trx: Trx, movementLineIds: readonly string[]) => Promise<Map<string, number>>
}

const none: Stock = {
  measureOf: () => Promise.resolve(null),
  hasLocation: () => Promise.resolve(false),
  receivedValues: () => Promise.resolve(new Map()),
}
let registered: Stock = none

/** Says what is in stock; the module of the stock stands above this one. */
export const registerStock = (stock: Stock): void => {
  registered = stock
}
export const stock = (): Stock => registered
