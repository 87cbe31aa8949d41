import { consumptionReversed } from '../../../config/events/inventory.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { InventoryConsumptionRow } from '../../rows.ts'
import { countUse } from './consume.ts'

/** A part of a consumption that was short and has been settled since: it moves as the consumption's own lines do. */
export type Settled = {
  itemId: string
  locationId: string
  quantity: number
  value: number
  enteredQuantity: number
  enteredMeasure: string
  purchaseOrderLineId: null
  isSettled: true
}
export type HeldConsumption = InventoryConsumptionRow & { settled: Settled[] }

const settledOf = (trx: Trx, consumptionId: string) =>
  sql<Settled>(
    trx,
    `select h.item_id, h.location_id, -h.settled_quantity as quantity, -h.settled_value as value, h.settled_quantity as entered_quantity,
       i.base as entered_measure, null::uuid as purchase_order_line_id, true as is_settled
     from inventory_shortage h join inventory_item i on i.tenant_id = h.tenant_id and i.id = h.item_id
     where h.consumption_id = ? order by h.position`,
    [consumptionId],
  )

/** Locks the consumption of a movement, with the places of its shortages; null where it has none. */
export const lockConsumptionOf = async (trx: Trx, movementId: string): Promise<HeldConsumption | null> => {
  const row = await sqlOne<InventoryConsumptionRow>(
    trx,
    `select * from inventory_consumption where movement_id = ? for no key update`,
    [movementId],
  )
  return row && { ...row, settled: await settledOf(trx, row.id) }
}

/** Ends a consumption whose stock is locked: it is reversed, and what is short of it will not come. Answers what has been settled of it. */
export const endConsumption = async (trx: Trx, { id, ...row }: HeldConsumption): Promise<Settled[]> => {
  await sql(
    trx,
    `update inventory_shortage set status = 'absorbed', quantity = 0 where consumption_id = ? and status = 'open'`,
    [id],
  )
  const settled = await settledOf(trx, id)
  const lines = await sql<{ itemId: string; locationId: string; quantity: number }>(
    trx,
    `select item_id, location_id, quantity from inventory_consumption_line where consumption_id = ?`,
    [id],
  )
  await countUse(trx, row, lines, -1)
  const changed = await sqlOne<{ version: number }>(
    trx,
    `update inventory_consumption set status = 'reversed', version = version + 1 where id = ? returning version`,
    [id],
  )
  await emit(trx, consumptionReversed, {
    propertyId: row.propertyId,
    id,
    version: changed?.version ?? null,
    data: {
      inventoryConsumptionId: id,
      kind: row.kind,
      reservationId: row.reservationId,
      unitId: row.unitId,
    },
  })
  return settled.filter(({ quantity }) => quantity !== 0)
}
