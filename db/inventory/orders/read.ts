import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import { byIds, idsLike, inLine } from '../../lib/words.ts'
import type { PosOrderLineRow, PosOrderRow, PosSettlementRow } from '../../rows.ts'
import { decimalOf } from '../rules/quantity.ts'

/** An order with its lines and what settles it. 404. */
export const readPosOrder = async (trx: Trx, id: string) => {
  const [order, lines, settlements] = await Promise.all([
    preparedOne<PosOrderRow>(trx, `select * from pos_order where id = ?`, [id]),
    prepared<PosOrderLineRow>(trx, `select * from pos_order_line where order_id = ? order by position`, [id]),
    prepared<PosSettlementRow>(trx, `select * from pos_settlement where order_id = ? order by position`, [id]),
  ])
  if (!order) throw notFound()
  return { ...order, lines: lines.map((line) => ({ ...line, quantity: decimalOf(line.quantity) })), settlements }
}

export const posOrderSorts = {
  businessDate: 'o.business_date',
  createdAt: 'o.created_at',
  number: 'o.number',
  total: 'o.total',
} as const
type Filter = Paging & {
  propertyId?: string | undefined
  outletId?: string | undefined
  businessDate?: string | undefined
  status?: string | undefined
  reservationId?: string | undefined
  unitId?: string | undefined
  /** Number or table. */
  q?: string | undefined
  sort: Sort<keyof typeof posOrderSorts>
  scope: Condition
}

export const listPosOrders = async (trx: Trx, filter: Filter) =>
  readPage<PosOrderRow>(
    trx,
    {
      columns: 'o.*',
      from: 'pos_order o',
      counted: { list: 'pos_order', as: 'o' },
      conditions: [
        ...inScope(filter.scope, 'o.property_id'),
        ...where('o.property_id = ?', filter.propertyId),
        ...where('o.outlet_id = ?', filter.outletId),
        ...where('o.business_date = ?', filter.businessDate),
        ...where('o.status = ?', filter.status),
        ...where('o.reservation_id = ?', filter.reservationId),
        ...where('o.unit_id = ?', filter.unitId),
        ...(filter.q === undefined
          ? []
          : [
              byIds(
                {
                  'o.id': await idsLike(trx, 'pos_order', inLine('', filter.q, '%\n%'), inLine('%\n', filter.q, '')),
                },
                {
                  text: `(starts_with(lower(o.number), lower(?)) or lower(o."table") = lower(?))`,
                  values: [filter.q, filter.q],
                },
              ),
            ]),
      ],
      order: orderBy(filter.sort, posOrderSorts, 'o.id', ['total']),
    },
    filter,
  )
