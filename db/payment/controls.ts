import type { ControlDeclaration, ItemDeclaration } from '../financial/index.ts'

const ofBook = (record: string) =>
  `join property p on p.tenant_id = ${record}.tenant_id and p.id = ${record}.property_id and p.book_id = :bookId where ${record}.tenant_id = :tenantId`

const ofGateway = (record: string) =>
  `join gateway_account g on g.tenant_id = ${record}.tenant_id and g.id = ${record}.gateway_account_id and g.book_id = :bookId where ${record}.tenant_id = :tenantId`

/** Balances that the control accounts should have by payments, refunds, disputes and payouts. */
export const paymentControls: ControlDeclaration[] = [
  {
    kind: 'unallocated',
    text: `select y.id as document_id, y.captured_amount - y.allocated_amount - y.refund_reserved + y.over_written_off as amount from payment y ${ofBook('y')}
      and y.status = 'captured'`,
  },
  {
    kind: 'refund',
    text: `select f.id as document_id, f.amount from refund f ${ofBook('f')} and f.status in ('requested', 'processing', 'unknown')`,
  },
  {
    // A dispute that went to appeal was lost first: its money is a loss until it comes back.
    kind: 'dispute',
    text: `select d.id as document_id, d.amount from dispute d ${ofBook('d')} and d.taken and d.phase <> 'appeal' and d.status not in ('won', 'lost')`,
  },
  {
    // Money at gateways: captures less what went back, was taken, was charged and was paid out, and differences that were written off. A dispute that
    // was won came back.
    kind: 'gateway',
    text: `select y.id as document_id, y.captured_amount as amount from payment y ${ofBook('y')} and y.status = 'captured' and y.gateway_account_id is not null
      union all
      select f.id, -f.amount from refund f ${ofBook('f')} and f.status = 'succeeded' and f.gateway_account_id is not null
      union all
      select d.payment_id, -d.amount from dispute d ${ofBook('d')} and d.taken and d.status <> 'won'
      union all
      select o.gateway_account_id, -o.amount from payout o ${ofGateway('o')} and o.status not in ('failed', 'cancelled')
      union all
      select b.gateway_account_id, case b.kind when 'gateway_fee' then b.net when 'platform_fee_refund' then b.net when 'adjustment' then b.net
        else -b.fee - b.platform_fee end from balance_transaction b ${ofGateway('b')}
      union all
      select e.gateway_account_id, case when e.kind in ('missing_here', 'payout_differs') then e.amount
        when e.kind = 'missing_there' then case e.subject_type when 'payment' then -e.amount else e.amount end
        else (e.amount - coalesce(e.expected_amount, 0)) * case e.subject_type when 'payment' then -1 else 1 end end
      from payment_exception e ${ofGateway('e')} and e.resolution = 'written_off'`,
  },
  {
    kind: 'transit',
    text: `select o.id as document_id, o.amount from payout o ${ofGateway('o')} and o.status not in ('failed', 'cancelled')`,
  },
]

/** Money that was taken up to the end of the period and pays for nothing. */
export const paymentChecklist: ItemDeclaration = {
  code: 'receipts_unallocated',
  blocking: false,
  text: `select y.id from payment y ${ofBook('y')} and y.status = 'captured' and y.allocated_amount + y.refund_reserved < y.captured_amount
    and y.business_date <= cast(:to as date)`,
}

/** Days of accounts at gateways that are not the sum of their transactions: for the integrity checks. */
export const gatewayDaysText = (): string => `
  select coalesce(d.gateway_account_id, t.gateway_account_id) as gateway_account_id, coalesce(d.day, t.day) as day, d.net, t.sum as by_transactions
  from (select x.gateway_account_id, x.day, x.net from gateway_balance_day x
    join gateway_account g on g.tenant_id = x.tenant_id and g.id = x.gateway_account_id and g.book_id = :bookId where x.tenant_id = :tenantId) d
  full join (select b.gateway_account_id, (b.occurred_at at time zone 'utc')::date as day, sum(b.net)::bigint as sum from balance_transaction b
    ${ofGateway('b')} group by 1, 2) t on t.gateway_account_id = d.gateway_account_id and t.day = d.day
  where d.net is distinct from t.sum`
