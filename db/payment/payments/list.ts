import type { Condition } from '../../lib/conditions.ts'
import type { Trx } from '../../lib/connection.ts'
import { withinTimes } from '../../lib/days.ts'
import { fact, inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import type { PaymentRow } from '../../rows.ts'
import { summary } from './summary.ts'
import type { PaymentSummary } from './summary.ts'

type Filter = Paging & {
  status?: string | undefined
  origin?: string | undefined
  channel?: string | undefined
  method?: string | undefined
  targetType?: string | undefined
  targetId?: string | undefined
  propertyId?: string | undefined
  gatewayAccountId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  unallocated?: boolean | undefined
  late?: boolean | undefined
  q?: string | undefined
  scope: Condition
}

const isUnallocated = `p.status = 'captured' and p.allocated_amount + p.refund_reserved < p.captured_amount`

/** A page of payments, newest first. */
export const listPayments = async (trx: Trx, { scope, ...filter }: Filter): Promise<Page<PaymentSummary>> => {
  const { total, rows } = await readPage<PaymentRow>(
    trx,
    {
      columns: 'p.*',
      from: 'payment p',
      conditions: [
        ...inScope(scope, { propertyId: 'p.property_id', targetType: 'p.target_type' }),
        ...where('p.status = ?', filter.status),
        ...where('p.origin = ?', filter.origin),
        ...where('p.channel = ?', filter.channel),
        ...where('p.method = ?', filter.method),
        ...where('p.target_type = ?', filter.targetType),
        ...where('p.target_id = ?', filter.targetId),
        ...where('p.property_id = ?', filter.propertyId),
        ...where('p.gateway_account_id = ?', filter.gatewayAccountId),
        ...(filter.q === undefined
          ? []
          : [
              {
                text: '(p.external_id = ? or p.reference = ? or p.link_id = ?)',
                values: [filter.q, filter.q, filter.q],
              },
            ]),
      ],
      days: withinTimes('p.created_at', filter, '<'),
      facts: [
        ...fact(filter.unallocated, isUnallocated, { counted: 'payment_unallocated' }),
        ...fact(filter.late, 'p.late', { counted: 'payment_late' }),
      ],
      order: 'p.created_at desc, p.id',
    },
    filter,
  )
  return { total, rows: rows.map(summary) }
}
