import type { Trx } from '../lib/connection.ts'

export type Measure = { name: string; numerator: string; denominator: string }

/** The functions of stock that orders and bills call. */
export type Stock = {
  /** So many of each item's base are one of its measure, as whole numbers; null where the item does not have the measure. In one statement. */
  measuresOf: (trx: Trx, items: readonly { inventoryItemId: string; measure: string }[]) => Promise<(Measure | null)[]>
  /** Tells whether a location is one of the property. */
  hasLocation: (trx: Trx, location: { locationId: string; propertyId: string }) => Promise<boolean>
  /** Lines of receipts that stand and named no order, with the value that they brought; others are left out. */
  receivedValues: (trx: Trx, movementLineIds: readonly string[]) => Promise<Map<string, number>>
}

const none: Stock = {
  measuresOf: (_, items) => Promise.resolve(items.map(() => null)),
  hasLocation: () => Promise.resolve(false),
  receivedValues: () => Promise.resolve(new Map()),
}
let registered: Stock = none

/** Says what is in stock; the module of the stock stands above this one. */
export const registerStock = (stock: Stock): void => {
  registered = stock
}
export const stock = (): Stock => registered
