import { stockDriftFound } from '../../../config/events/inventory.ts'
import type { Base } from '../../../config/measures.ts'
import { sql } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { decimalOf } from '../rules/quantity.ts'

/** Properties that keep stock, of every tenant; by id, beyond `after`. */
export const propertiesWithStock = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string; propertyId: string }>(trx, `select tenant_id, property_id from properties_with_stock(?, ?)`, [
    after,
    most,
  ])

type Drift = { itemId: string; locationId: string; base: Base; quantity: number }

/** Rows of stock that are not the sum of their lines: the difference, in ten-thousandths; of the value alone 0. */
const ofLines = (trx: Trx, propertyId: string) =>
  sql<Drift>(
    trx,
    `select s.item_id, s.location_id, i.base, (s.quantity - coalesce(l.quantity, 0))::bigint as quantity from inventory_stock s
     join inventory_location p on p.tenant_id = s.tenant_id and p.id = s.location_id and p.property_id = ?
     join inventory_item i on i.tenant_id = s.tenant_id and i.id = s.item_id
     left join lateral (select sum(m.quantity) as quantity, sum(m.value) as value from inventory_movement_line m
       where m.tenant_id = s.tenant_id and m.location_id = s.location_id and m.item_id = s.item_id) l on true
     where s.quantity <> coalesce(l.quantity, 0) or s.value <> coalesce(l.value, 0) order by 2, 1 limit 100`,
    [propertyId],
  )

/** Minor units by which stock and its accounts differ in the book of a property; none while postings of the book wait. */
const ofLedger = (trx: Trx, propertyId: string) =>
  sql<{ amount: number }>(
    trx,
    `select (v.value - j.value)::bigint as amount from property p
     cross join lateral (select coalesce(sum(s.value), 0) as value from inventory_stock s
       join inventory_location l on l.tenant_id = s.tenant_id and l.id = s.location_id
       join property o on o.tenant_id = l.tenant_id and o.id = l.property_id and o.book_id = p.book_id where s.tenant_id = p.tenant_id) v
     cross join lateral (select coalesce(sum(l.debit - l.credit), 0) as value from account a
       join journal_line l on l.tenant_id = a.tenant_id and l.account_id = a.id where a.tenant_id = p.tenant_id and a.book_id = p.book_id and a.control = 'stock') j
     where p.id = ? and v.value <> j.value
       and not exists (select from posting_event e where e.tenant_id = p.tenant_id and e.book_id = p.book_id and e.status in ('pending', 'failed', 'parked'))`,
    [propertyId],
  )

/** Minor units by which what settles orders differs from them: of closed ones their total, of open ones what was paid. */
const ofOrders = (trx: Trx, propertyId: string) =>
  sql<{ amount: number }>(
    trx,
    `select (case o.status when 'closed' then o.total else o.paid_amount end - coalesce(s.amount, 0))::bigint as amount from pos_order o
     left join lateral (select sum(x.amount) as amount from pos_settlement x where x.tenant_id = o.tenant_id and x.order_id = o.id) s on true
     where o.property_id = ? and o.status in ('open', 'closed') and coalesce(s.amount, 0) <> case o.status when 'closed' then o.total else o.paid_amount end
     order by o.id limit 100`,
    [propertyId],
  )

/** Compares stock with its lines, with the ledger, and orders with what settles them. Changes nothing; each difference is told of. Answers how many there are. */
export const verifyStockOf = async (trx: Trx, propertyId: string): Promise<number> => {
  const lines = await ofLines(trx, propertyId)
  const amounts = [...(await ofLedger(trx, propertyId)), ...(await ofOrders(trx, propertyId))]
  await emitAll(trx, stockDriftFound, [
    ...lines.map(({ itemId, locationId, base, quantity }) => ({
      propertyId,
      id: itemId,
      version: null,
      data: { inventoryItemId: itemId, inventoryLocationId: locationId, quantity: decimalOf(quantity), unit: base },
    })),
    ...amounts.map(({ amount }) => ({
      propertyId,
      id: propertyId,
      version: null,
      data: { inventoryItemId: null, inventoryLocationId: null, quantity: String(amount), unit: null },
    })),
  ])
  return lines.length + amounts.length
}
