import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import type { SessionRecord } from '../models.ts'
import type { Sight } from '../sight.ts'
import { sessionById } from './tell.ts'
import { totalsOf } from './totals.ts'

export type SessionFilter = Paging & {
  registerId?: string | undefined
  cashierId?: string | undefined
  propertyId?: string | undefined
  status?: string | undefined
  from?: string | undefined
  to?: string | undefined
  scope: Condition
}

const isHidden = ({ status, blind }: SessionRecord, { mayApprove }: Sight) => status === 'open' && blind && !mayApprove

/** Hides the expected balance of a blind drawer until it is counted (R8). */
const shown = (row: SessionRecord, sight: Sight) => {
  const { openedXid: _, closedXid: __, ...rest } = row
  return isHidden(row, sight) ? { ...rest, expected: null, difference: null } : rest
}

/** Sessions, latest first. */
export const listSessions = async (
  trx: Trx,
  { registerId, cashierId, propertyId, status, from, to, scope, ...paging }: SessionFilter,
  sight: Sight,
): Promise<Page<ReturnType<typeof shown>>> => {
  const { total, rows } = await readPage<SessionRecord>(
    trx,
    {
      columns: 's.*',
      from: 'cash_session s',
      conditions: [
        ...where('s.tenant_id = ?', contextOf(trx).tenantId),
        ...inScope(scope, { propertyId: 's.property_id', cashierId: 's.cashier_id' }),
        ...where('s.register_id = ?', registerId),
        ...where('s.cashier_id = ?', cashierId),
        ...where('s.property_id = ?', propertyId),
        ...where('s.status = ?', status),
      ],
      days: onDays('s.business_date', { from, to }),
      order: 's.opened_at desc, s.id',
    },
    paging,
  )
  return { total, rows: rows.map((row) => shown(row, sight)) }
}

type CountShown = {
  moment: 'opening' | 'closing'
  denominations: Record<string, number>
  total: number
  countedBy: string
}

/** A session with its totals and counts: once it is closed, the Z report of the register's day. 404. */
export const readSession = async (trx: Trx, id: string, sight: Sight) => {
  const row = await sessionById(trx, id)
  const hidden = isHidden(row, sight)
  const counts = await sql<CountShown>(
    trx,
    `select moment, denominations, total, counted_by from cash_count where tenant_id = ? and session_id = ? order by moment desc`,
    [contextOf(trx).tenantId, id],
  )
  const totals = await totalsOf(trx, id)
  const dropped = await sqlOne<{ amount: number }>(
    trx,
    `select amount from cash_transfer where tenant_id = ? and closing_session_id = ?`,
    [contextOf(trx).tenantId, id],
  )
  return {
    ...shown(row, sight),
    movementsCount: totals.filter(({ method }) => method === 'cash').reduce((sum, { count }) => sum + count, 0),
    totals: hidden ? null : totals,
    dropped: dropped?.amount ?? 0,
    counts,
  }
}
