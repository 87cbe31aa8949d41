import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { stockBusy } from '../busy.ts'
import type { Level } from '../rules/average.ts'

export type Spot = { locationId: string; itemId: string }

/** A locked row of stock, which commands move in memory before they write the lines that move it in the database. */
export type Held = Spot &
  Level & {
    propertyId: string
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

/** Rows of stock that a command has locked. */
export type Shelf = { at: (spot: Spot) => Held; all: () => Held[] }

/**
 * Locks rows of stock in the order (location, item), the last locks of a command but posting events; rows that are missing are made at 0. 409 `stock_busy`
 * where a lock is not had within 2 s.
 */
export const holdStock = async (trx: Trx, spots: readonly Spot[]): Promise<Shelf> => {
  const wanted = JSON.stringify([...new Map(spots.map((spot) => [keyOf(spot), spot])).values()])
  const rows = await stockBusy(async () => {
    const [, locked] = await Promise.all([
      prepared(
        trx,
        `insert into inventory_stock (location_id, item_id)
       select w."locationId", w."itemId" from jsonb_to_recordset(?::jsonb) as w ("locationId" uuid, "itemId" uuid)
       where not exists (select from inventory_stock s where s.location_id = w."locationId" and s.item_id = w."itemId")
       order by 1, 2 on conflict do nothing`,
        [wanted],
      ),
      prepared<Held>(
        trx,
        `with held as materialized (
         select s.* from inventory_stock s
         where (s.location_id, s.item_id) in (select w."locationId", w."itemId" from jsonb_to_recordset(?::jsonb) as w ("locationId" uuid, "itemId" uuid))
         order by s.location_id, s.item_id for no key update)
       select h.location_id, p.property_id, h.item_id, h.quantity, h.value, h.last_seq, h.low_since, h.last_counted_on, h.last_cost_value, h.last_cost_quantity,
         coalesce(l.minimum, 0)::bigint as minimum,
         exists (select from inventory_shortage x where x.location_id = h.location_id and x.item_id = h.item_id and x.status = 'open') as is_short
       from held h join inventory_location p on p.tenant_id = h.tenant_id and p.id = h.location_id
       left join inventory_level l on l.location_id = h.location_id and l.item_id = h.item_id`,
        [wanted],
      ),
    ])
    return locked
  })
  const held = new Map(rows.map((row) => [keyOf(row), row]))
  return {
    at: (spot) => {
      const row = held.get(keyOf(spot))
      if (!row) throw new Error('a row of stock was not locked')
      return row
    },
    all: () => [...held.values()],
  }
}
