import type { ControlDeclaration, ItemDeclaration } from '../financial/index.ts'

/** Stock is worth what its lines say, and a receipt is owed for until it is billed or taken back. The clearing account holds what was paid for open orders, and what went back of closed ones. */
export const inventoryControls: ControlDeclaration[] = [
  {
    kind: 'stock',
    text: `select m.id as document_id, sum(l.value)::bigint as amount from inventory_movement m
      join inventory_movement_line l on l.tenant_id = m.tenant_id and l.movement_id = m.id
      join inventory_location k on k.tenant_id = l.tenant_id and k.id = l.location_id
      join property p on p.tenant_id = k.tenant_id and p.id = k.property_id and p.book_id = :bookId
      where m.tenant_id = :tenantId group by m.id`,
  },
  {
    // Bills of receipts are the part of accounts payable.
    kind: 'received',
    text: `select m.id as document_id, sum(case m.kind when 'receipt' then l.value else -l.value end)::bigint as amount
      from inventory_movement m
      left join inventory_movement o on o.tenant_id = m.tenant_id and o.id = m.reverses_id
      join inventory_movement_line l on l.tenant_id = m.tenant_id and l.movement_id = case when o.id is null then m.id else o.id end
      join property p on p.tenant_id = m.tenant_id and p.id = m.property_id and p.book_id = :bookId
      where m.tenant_id = :tenantId and coalesce(o.kind, m.kind) = 'receipt' group by m.id`,
  },
  {
    kind: 'pos',
    text: `select o.id as document_id, (case o.status when 'closed' then coalesce((select sum(s.amount) from pos_settlement s
        where s.tenant_id = o.tenant_id and s.order_id = o.id and s.type = 'payment'), 0) else 0 end - o.paid_amount)::bigint as amount
      from pos_order o join property p on p.tenant_id = o.tenant_id and p.id = o.property_id and p.book_id = :bookId where o.tenant_id = :tenantId`,
  },
]

/** Counts that began in a month or before and are still open are told before it closes. */
export const inventoryChecklist: ItemDeclaration = {
  code: 'counts_open',
  blocking: false,
  text: `select c.id from inventory_count c join property p on p.tenant_id = c.tenant_id and p.id = c.property_id and p.book_id = :bookId
    where c.tenant_id = :tenantId and c.status = 'open' and cast(c.created_at at time zone p.timezone as date) <= cast(:to as date)`,
}

/** Stock whose quantity or value, or the value of its months, is not the sum of its lines: for the integrity checks of the book of its property. */
export const stockSumsText = (): string => `
  select s.item_id, s.location_id, s.quantity, l.quantity as by_lines, s.value, l.value as value_of_lines, m.value as value_of_months from inventory_stock s
  join inventory_location k on k.tenant_id = s.tenant_id and k.id = s.location_id
  join property p on p.tenant_id = k.tenant_id and p.id = k.property_id and p.book_id = :bookId
  cross join lateral (select coalesce(sum(m.quantity), 0) as quantity, coalesce(sum(m.value), 0) as value from inventory_movement_line m
    where m.tenant_id = s.tenant_id and m.location_id = s.location_id and m.item_id = s.item_id) l
  left join (select m.location_id, m.item_id, sum(m.value) as value from inventory_stock_month m where m.tenant_id = :tenantId group by 1, 2) m
    on m.location_id = s.location_id and m.item_id = s.item_id
  where s.tenant_id = :tenantId and (s.quantity, s.value, coalesce(m.value, 0)) is distinct from (l.quantity, l.value, l.value)`
