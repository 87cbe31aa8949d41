import { notFound } from '../../../config/errors.ts'
import type { Base } from '../../../config/measures.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Condition } from '../../lib/conditions.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import type { InventoryCountLineRow, InventoryCountRow } from '../../rows.ts'
import { decimalOf } from '../rules/quantity.ts'

const columns = `c.*, (select count(*) from inventory_count_line l where l.tenant_id = c.tenant_id and l.count_id = c.id) as line_count,
  (select count(*) from inventory_count_line l where l.tenant_id = c.tenant_id and l.count_id = c.id and l.counted is not null) as counted_lines,
  case when c.status = 'approved' then (select coalesce(sum(l.value), 0)::bigint from inventory_count_line l where l.tenant_id = c.tenant_id and l.count_id = c.id) end as value`
type Row = InventoryCountRow & { lineCount: number; countedLines: number; value: number | null }

/** A count with its lines; a blind one says what was expected after its approval alone. 404. */
export const readCount = async (trx: Trx, id: string) => {
  const [row, lines] = await Promise.all([
    preparedOne<Row>(trx, `select ${columns} from inventory_count c where c.id = ?`, [id]),
    prepared<InventoryCountLineRow & { sku: string; name: string; base: Base }>(
      trx,
      `select l.*, i.sku, i.name, i.base from inventory_count_line l join inventory_item i on i.tenant_id = l.tenant_id and i.id = l.item_id
       where l.count_id = ? order by i.sku, l.item_id`,
      [id],
    ),
  ])
  if (!row) throw notFound()
  const hidden = row.blind && row.status !== 'approved'
  return {
    ...row,
    lines: lines.map(({ expected, counted, enteredQuantity, enteredMeasure, ...line }) => ({
      ...line,
      expected: hidden ? null : decimalOf(expected),
      counted: counted === null ? null : decimalOf(counted),
      entered:
        enteredQuantity === null || enteredMeasure === null
          ? null
          : { quantity: decimalOf(enteredQuantity), measure: enteredMeasure },
      difference: hidden || counted === null ? null : decimalOf(counted - expected),
    })),
  }
}
export type CountShown = Awaited<ReturnType<typeof readCount>>

export const countSorts = { createdAt: 'c.created_at' } as const

type Filter = Paging & {
  propertyId?: string | undefined
  locationId?: string | undefined
  status?: string | undefined
  sort: Sort<keyof typeof countSorts>
  scope: Condition
}

export const listCounts = (trx: Trx, filter: Filter) =>
  readPage<Row>(
    trx,
    {
      columns,
      from: 'inventory_count c',
      conditions: [
        ...inScope(filter.scope, 'c.property_id'),
        ...where('c.property_id = ?', filter.propertyId),
        ...where('c.location_id = ?', filter.locationId),
        ...where('c.status = ?', filter.status),
      ],
      order: orderBy(filter.sort, countSorts, 'c.id'),
    },
    filter,
  )
