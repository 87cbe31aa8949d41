import { notFound } from '../../../config/errors.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Condition } from '../../lib/conditions.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import type { InventoryMovementLineRow, InventoryMovementRow } from '../../rows.ts'
import { decimalOf } from '../rules/quantity.ts'

const columns = `m.*, (select r.id from inventory_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id) as reversed_by_id,
  coalesce((select sum(l.value) from inventory_movement_line l where l.tenant_id = m.tenant_id and l.movement_id = m.id
    and (l.quantity > 0 or m.kind <> 'transfer')), 0)::bigint as value`
type Row = InventoryMovementRow & { reversedById: string | null; value: number }

/** A movement with its lines. 404. */
export const readMovement = async (trx: Trx, id: string) => {
  const [row, lines] = await Promise.all([
    preparedOne<Row>(trx, `select ${columns} from inventory_movement m where m.id = ?`, [id]),
    prepared<InventoryMovementLineRow & { sku: string }>(
      trx,
      `select l.*, i.sku from inventory_movement_line l join inventory_item i on i.tenant_id = l.tenant_id and i.id = l.item_id
       where l.movement_id = ? order by l.position`,
      [id],
    ),
  ])
  if (!row) throw notFound()
  return {
    ...row,
    lines: lines.map(({ quantity, enteredQuantity, enteredMeasure, ...line }) => ({
      ...line,
      quantity: decimalOf(quantity),
      entered: { quantity: decimalOf(enteredQuantity), measure: enteredMeasure },
    })),
  }
}

export const movementSorts = { occurredOn: 'm.occurred_on', createdAt: 'm.created_at' } as const

type Filter = Paging & {
  propertyId?: string | undefined
  kind?: string | undefined
  itemId?: string | undefined
  locationId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  purchaseOrderId?: string | undefined
  sort: Sort<keyof typeof movementSorts>
  scope: Condition
}

const withLine = (column: string, value: string | undefined) =>
  where(
    `exists (select from inventory_movement_line l where l.tenant_id = m.tenant_id and l.movement_id = m.id and l.${column} = ?)`,
    value,
  )

export const listMovements = (trx: Trx, filter: Filter) =>
  readPage<Row>(
    trx,
    {
      columns,
      from: 'inventory_movement m',
      counted: { list: 'inventory_movement', as: 'm' },
      conditions: [
        ...inScope(filter.scope, 'm.property_id'),
        ...where('m.property_id = ?', filter.propertyId),
        ...where('m.kind = ?', filter.kind),
        ...withLine('item_id', filter.itemId),
        ...withLine('location_id', filter.locationId),
        ...where('m.purchase_order_id = ?', filter.purchaseOrderId),
      ],
      days: onDays('m.occurred_on', filter),
      order: orderBy(filter.sort, movementSorts, 'm.id'),
    },
    filter,
  )
