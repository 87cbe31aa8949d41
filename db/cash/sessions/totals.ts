import { contextOf, prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'

/** Money in and out of a session, in minor units, by method and purpose. */
export type SessionTotal = { method: string; kind: string; in: number; out: number; count: number }

/** Selects `method`, `kind` and signed `amount` of what is paid in a session by anything but cash; `:tenantId` and `:sessionId` are bound. */
const declared: string[] = []

/** Adds money of a module that passes a register without lying in its drawer, such as cards. */
export const registerSessionMoney = (text: string): void => {
  if (!declared.includes(text)) declared.push(text)
}

const ofDrawer = `select 'cash' as method, m.kind, m.amount from cash_movement m
  join cash_session s on s.tenant_id = m.tenant_id and s.id = m.session_id
  where m.tenant_id = :tenantId and m.session_id = :sessionId and m.cash_account_id = s.register_id`

/** Totals of a session by method and kind. */
export const totalsOf = (trx: Trx, sessionId: string): Promise<SessionTotal[]> =>
  prepared<SessionTotal>(
    trx,
    `select t.method, t.kind, coalesce(sum(t.amount) filter (where t.amount > 0), 0)::bigint as in,
       coalesce(-sum(t.amount) filter (where t.amount < 0), 0)::bigint as out, count(*) as count
     from (${[ofDrawer, ...declared].map((text) => `(${text})`).join(' union all ')}) t group by 1, 2 order by 1, 2`,
    { tenantId: contextOf(trx).tenantId, sessionId },
  )
