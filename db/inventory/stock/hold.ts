import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { stockBusy } from '../busy.ts'
import type { ItemFacts } from '../items/facts.ts'
import type { Level } from '../rules/average.ts'

export type Spot = { locationId: string; itemId: string }

/** A locked row of stock, which commands move in memory before they write the lines that move it in the database. */
export type Held = Spot &
  Level & {
    propertyId: string
    bookId: string
    lastSeq: number
    minimum: number
    lowSince: Date | null
    lastCountedOn: string | null
    lastCostValue: number | null
    lastCostQuantity: number | null
    /** There are open shortages. */
    isShort: boolean
  }

const keyOf = ({ locationId, itemId }: Spot) => `${locationId} ${itemId}`

/** Rows of stock that a command has locked, and their items. */
export type Shelf = {
  at: (spot: Spot) => Held
  all: () => Held[]
  items: ReadonlyMap<string, ItemFacts>
}

type Row = Held & Omit<ItemFacts, 'id'>

/**
 * Locks rows of stock in the order (location, item) after their locations and items, the last locks of a command but posting events; rows that are missing are
 * made at 0. 409 `stock_busy` where a lock is not had within 2 s.
 */
export const holdStock = async (trx: Trx, spots: readonly Spot[]): Promise<Shelf> => {
  const wanted = [...new Map(spots.map((spot) => [keyOf(spot), spot])).values()].map(({ locationId, itemId }) => ({
    locationId,
    itemId,
  }))
  const rows = await stockBusy(() => prepared<Row>(trx, `select * from hold_stock(?::jsonb)`, [JSON.stringify(wanted)]))
  const held = new Map(rows.map((row) => [keyOf(row), row]))
  return {
    at: (spot) => {
      const row = held.get(keyOf(spot))
      if (!row) throw new Error('a row of stock was not locked')
      return row
    },
    all: () => [...held.values()],
    items: new Map(rows.map((row) => [row.itemId, { ...row, id: row.itemId }])),
  }
}
