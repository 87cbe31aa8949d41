import { sql } from '../../db/lib/connection.ts'
import type { GatewayDeed } from './gateway.ts'
import { none } from './evidence.ts'
import type { Check } from './evidence.ts'

/** Every one of the left is on the right with the same words, and the reverse. */
const differences = (
  left: readonly { key: string; words: string }[],
  right: readonly { key: string; words: string }[],
  [here, there]: readonly [string, string],
) => {
  const spell = (list: readonly { key: string; words: string }[]) => {
    const byKey = new Map<string, string[]>()
    for (const { key, words } of list) byKey.set(key, [...(byKey.get(key) ?? []), words].sort())
    return byKey
  }
  const [ours, theirs] = [spell(left), spell(right)]
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((key) => {
    const [a = [], b = []] = [ours.get(key), theirs.get(key)]
    return a.join() === b.join() ? [] : [{ key, [here]: a, [there]: b }]
  })
}

/** Captured money of the gateway by our payment: charged, and not closed before it was paid. */
const capturedAt = (deeds: readonly GatewayDeed[]) => {
  const closed = new Map(deeds.flatMap((one) => (one.deed === 'cancelled' ? [[one.id, one.at] as const] : [])))
  return deeds.flatMap((one) => {
    if (one.deed !== 'charged' || one.paidAt === null) return []
    const closedAt = closed.get(one.id)
    return closedAt !== undefined && closedAt < one.paidAt
      ? []
      : [{ key: one.ourId, words: `${one.amount} ${one.currency}` }]
  })
}

export const moneyChecks: Record<string, Check> = {
  'debits equal credits': none(
    `select e.id, e.total, coalesce(sum(l.debit), 0) as debit, coalesce(sum(l.credit), 0) as credit
     from journal_entry e left join journal_line l on l.tenant_id = e.tenant_id and l.entry_id = e.id
     group by e.tenant_id, e.id, e.total having coalesce(sum(l.debit), 0) <> e.total or coalesce(sum(l.credit), 0) <> e.total`,
  ),
  'balances equal their lines': none(
    `select coalesce(b.account_id, l.account_id) as account_id, b.debit, b.credit, l.debit as lines_debit, l.credit as lines_credit
     from account_balance b full join
       (select tenant_id, account_id, property_id, cost_center_id, period_id, sum(debit) as debit, sum(credit) as credit from journal_line group by 1, 2, 3, 4, 5) l
       on b.tenant_id = l.tenant_id and b.account_id = l.account_id and b.property_id is not distinct from l.property_id and b.period_id = l.period_id
         and b.cost_center_id is not distinct from l.cost_center_id
     where (b.debit, b.credit) is distinct from (l.debit::bigint, l.credit::bigint)`,
  ),
  'every posting event is posted': none(
    `select id, event, status, error_code from posting_event where status not in ('posted', 'dismissed')`,
  ),
  'every posting has one entry': none(
    `select e.event, e.source_id, count(distinct j.id) as entries from posting_event e
     left join journal_entry j on j.tenant_id = e.tenant_id and j.source_type = e.event and j.source_id = e.source_id and j.source_seq = e.source_seq
     where e.status = 'posted' group by e.tenant_id, e.event, e.source_id, e.source_seq, e.entry_id
     having count(distinct e.id) > 1 or count(distinct j.id) > 1 or (e.entry_id is not null and count(distinct j.id) <> 1)`,
  ),
  'every entry comes of a posting': none(
    `select j.id, j.source_type, j.source_id from journal_entry j
     where j.kind = 'standard' and j.source_type not like 'financial.%' and not exists (select from posting_event e where e.tenant_id = j.tenant_id and e.entry_id = j.id)`,
  ),
  'every capture is posted once': none(
    `select p.id, p.status, p.captured_amount, count(e.id) as postings, coalesce(sum((e.payload->'amounts'->>'amount')::bigint), 0) as amount
     from payment p left join posting_event e on e.tenant_id = p.tenant_id and e.source_id = p.id and e.event = 'payment.payment_captured'
     group by p.tenant_id, p.id having count(e.id) <> (p.captured_amount > 0)::int or coalesce(sum((e.payload->'amounts'->>'amount')::bigint), 0) <> p.captured_amount`,
  ),
  'every refund is posted once': none(
    `select r.id, r.status, r.amount, count(e.id) as postings from refund r
     left join posting_event e on e.tenant_id = r.tenant_id and e.source_id = r.id and e.event in ('payment.refund_succeeded', 'payment.refund_failed')
     group by r.tenant_id, r.id
     having count(e.id) filter (where e.event = 'payment.refund_failed') <> (r.status = 'failed')::int
       or count(e.id) filter (where e.event = 'payment.refund_succeeded') <> (r.succeeded_at is not null)::int
       or bool_or((e.payload->'amounts'->>'amount')::bigint <> r.amount)`,
  ),
  'payments stand at what their refunds say': none(
    `select p.id, p.refunded_amount, p.refund_reserved, coalesce(sum(r.amount) filter (where r.status = 'succeeded'), 0) as refunded from payment p
     left join refund r on r.tenant_id = p.tenant_id and r.payment_id = p.id group by p.tenant_id, p.id
     having p.refunded_amount <> coalesce(sum(r.amount) filter (where r.status = 'succeeded'), 0)
       or p.refund_reserved <> coalesce(sum(r.amount) filter (where r.status <> 'failed'), 0)`,
  ),
  'every charge at the gateway is a captured payment, and the reverse': async (database, { deeds }) => {
    const rows = await sql<{ id: string; capturedAmount: number; currency: string }>(
      database,
      `select id, captured_amount, currency from payment where origin = 'gateway' and captured_amount > 0`,
    )
    return differences(
      capturedAt(deeds),
      rows.map((row) => ({ key: row.id, words: `${row.capturedAmount} ${row.currency}` })),
      ['gateway', 'service'],
    )
  },
  'no payment is charged twice': (_database, { deeds }) => {
    const charged = new Map<string, number>()
    for (const one of deeds) if (one.deed === 'charged') charged.set(one.ourId, (charged.get(one.ourId) ?? 0) + 1)
    return Promise.resolve(
      [...charged].filter(([, count]) => count > 1).map(([payment, count]) => ({ payment, count })),
    )
  },
  'every refund at the gateway is a refund here, and the reverse': async (database, { deeds }) => {
    const rows = await sql<{ id: string; amount: number; status: string }>(
      database,
      `select id, amount, case when succeeded_at is not null and status = 'failed' then 'returned' else status end as status
       from refund where via = 'gateway' and external_id is not null`,
    )
    return differences(
      deeds.flatMap((one) =>
        one.deed === 'refunded'
          ? [{ key: one.ourId, words: `${one.amount} ${one.fails ? 'failed' : 'succeeded'}` }]
          : [],
      ),
      rows.map((row) => ({
        key: row.id,
        words: `${row.amount} ${row.status === 'returned' ? 'failed' : row.status}`,
      })),
      ['gateway', 'service'],
    )
  },
  'the last reconciliation finds no difference with the gateway': none(
    `select 'account' as what, a.id::text, a.status from gateway_account a where a.external_id is not null
       and not exists (select from reconciliation r where r.tenant_id = a.tenant_id and r.gateway_account_id = a.id and r.last_run_at is not null)
     union all select 'day', r.gateway_account_id::text || ' ' || r.date, r.status from reconciliation r
       where r.status <> 'balanced' or (r.counts->>'theirs')::int <> (r.counts->>'matched')::int
     union all select 'payment', p.id::text, p.status from payment p where p.origin = 'gateway' and p.captured_amount > 0
       and not exists (select from balance_transaction t where t.tenant_id = p.tenant_id and t.subject_id = p.id and t.kind = 'charge' and t.gross = p.captured_amount)
     union all select 'refund', r.id::text, r.status from refund r where r.via = 'gateway' and r.succeeded_at is not null
       and not exists (select from balance_transaction t where t.tenant_id = r.tenant_id and t.subject_id = r.id and t.kind = 'refund' and t.gross = -r.amount)
     union all select 'returned refund', r.id::text, r.status from refund r where r.via = 'gateway' and r.succeeded_at is not null and r.status = 'failed'
       and not exists (select from balance_transaction t where t.tenant_id = r.tenant_id and t.subject_id = r.id and t.kind = 'refund_failure')
     union all select 'exception', e.subject_id::text, e.kind from payment_exception e
       where e.status = 'open' and e.kind in ('missing_here', 'missing_there', 'currency_differs', 'fee_differs', 'payout_differs')`,
  ),
}
