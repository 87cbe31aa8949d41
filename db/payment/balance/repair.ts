import { readDispute, readPayment, readRefund } from '../../../jobs/payment.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import type { GatewayAccountRow } from '../../rows.ts'
import { gateOf } from '../accounts.ts'

/** SQL for a transaction `t` and its record: the record does not know yet what the transaction proves. */
export const contradictions = {
  payment: `p.status not in ('captured', 'reversed')`,
  refund: `case t.kind when 'refund' then r.status in ('requested', 'unknown', 'processing') when 'refund_failure' then r.status <> 'failed' else false end`,
  dispute: `case t.kind when 'dispute' then not d.taken when 'dispute_reversal' then d.status <> 'won' else false end`,
}

type Contradiction = { type: 'payment' | 'refund' | 'dispute'; id: string; reference: string }

const found = (trx: Trx, account: Pick<GatewayAccountRow, 'id'>, since: Date) =>
  sql<Contradiction>(
    trx,
    `select distinct 'payment' as type, p.id, '' as reference from balance_transaction t join payment p on p.tenant_id = t.tenant_id and p.id = t.subject_id
       where t.gateway_account_id = :account and t.subject_type = 'payment' and t.occurred_at >= :since and ${contradictions.payment}
     union select 'refund', r.id, '' from balance_transaction t join refund r on r.tenant_id = t.tenant_id and r.id = t.subject_id
       where t.gateway_account_id = :account and t.subject_type = 'refund' and t.occurred_at >= :since and ${contradictions.refund}
     union select 'dispute', d.id, d.external_id from balance_transaction t join dispute d on d.tenant_id = t.tenant_id and d.id = t.subject_id
       where t.gateway_account_id = :account and t.subject_type = 'dispute' and t.occurred_at >= :since and ${contradictions.dispute}
     union select 'dispute', t.id, t.source_ref from balance_transaction t
       where t.gateway_account_id = :account and t.subject_id is null and t.kind in ('dispute', 'dispute_reversal') and t.source_ref is not null
         and t.occurred_at >= :since
     limit 500`,
    { account: account.id, since },
  )

/**
 * Asks the gateway again for each record that its list contradicts: a refund that came back after it had succeeded, a charge that was never heard
 * to be paid, a dispute that no callback told of. The list of transactions is the net under lost callbacks (R26).
 */
export const askAgain = async (
  trx: Trx,
  account: Pick<GatewayAccountRow, 'tenantId' | 'id' | 'provider'>,
  since: Date,
): Promise<number> => {
  const { tenantId, id: gatewayAccountId } = account
  const gate = gateOf(account)
  const all = await found(trx, account, since)
  for (const { type, id, reference } of all) {
    const options = { gate, uniqueKey: `repair-${id}` }
    if (type === 'payment') await enqueue(trx, readPayment, { tenantId, paymentId: id }, options)
    if (type === 'refund') await enqueue(trx, readRefund, { tenantId, refundId: id }, options)
    if (type === 'dispute') await enqueue(trx, readDispute, { tenantId, gatewayAccountId, reference }, options)
  }
  return all.length
}
