import type { Stock } from '../../accounts-payable/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { ItemFacts } from '../items/facts.ts'
import { fractionOf } from '../rules/quantity.ts'

/** The functions of stock that orders and bills call. */
export const stockForPayables: Stock = {
  async measuresOf(trx, items) {
    const found = await sql<Pick<ItemFacts, 'base' | 'packages'> & { id: string; name: string }>(
      trx,
      `select id, name, base, packages from inventory_item where id = any(?::uuid[]) and status = 'active'`,
      [[...new Set(items.map(({ inventoryItemId }) => inventoryItemId))]],
    )
    const byId = new Map(found.map((item) => [item.id, item]))
    return items.map(({ inventoryItemId, measure }) => {
      const item = byId.get(inventoryItemId)
      const fraction = item && fractionOf(item, measure)
      if (!item || !fraction) return null
      return { name: item.name, numerator: String(fraction[0]), denominator: String(fraction[1]) }
    })
  },
  async hasLocation(trx, { locationId, propertyId }) {
    const row = await sqlOne(
      trx,
      `select 1 from inventory_location where id = ? and property_id = ? and status = 'active'`,
      [locationId, propertyId],
    )
    return row !== null
  },
  async receivedValues(trx, movementLineIds) {
    const rows = await sql<{ id: string; value: number }>(
      trx,
      `select l.id, l.value from inventory_movement_line l join inventory_movement m on m.tenant_id = l.tenant_id and m.id = l.movement_id
       where l.id = any(?::uuid[]) and m.kind = 'receipt' and m.status = 'posted' and m.purchase_order_id is null`,
      [movementLineIds],
    )
    return new Map(rows.map(({ id, value }) => [id, value]))
  },
}
