import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { equal, from, pageOf, until } from '../../lib/lists.ts'
import { readRow } from '../../lib/records.ts'
import type { BalanceTransactionRow, PayoutRow, ReconciliationRow } from '../../rows.ts'
import { BalanceTransaction, Payout, Reconciliation } from '../models.ts'
import type { Failure } from '../payments/snapshot.ts'
import type { Counts } from './reconcile.ts'

const scope = { propertyId: null } as const

export type PayoutRecord = Omit<PayoutRow, 'failure'> & { failure: Failure | null }
const payoutOf = (payout: PayoutRow): PayoutRecord => ({ ...payout, failure: payout.failure as Failure | null })

const payouts = pageOf(Payout, {
  order: ['createdOn desc', 'createdAt desc', 'id'],
  filters: {
    gatewayAccountId: equal('gatewayAccountId'),
    status: equal('status'),
    from: from('createdOn'),
    to: until('createdOn'),
  },
  scope,
})

/** A page of payouts, newest first. */
export const listPayouts = async (trx: Trx, filter: Parameters<typeof payouts>[1]) => {
  const { total, rows } = await payouts(trx, filter)
  return { total, rows: rows.map(payoutOf) }
}

export type KindTotal = {
  kind: BalanceTransactionRow['kind']
  count: number
  gross: number
  fee: number
  platformFee: number
  net: number
}

/** A payout with the sums of its transactions by kind; 404. */
export const readPayout = async (trx: Trx, id: string): Promise<PayoutRecord & { totals: KindTotal[] }> => {
  const payout = payoutOf(await readRow(trx, Payout, id))
  const totals = await sql<KindTotal>(
    trx,
    `select kind, count(*)::int as count, sum(gross)::bigint as gross, sum(fee)::bigint as fee, sum(platform_fee)::bigint as platform_fee,
       sum(net)::bigint as net from balance_transaction where payout_id = ? group by kind order by kind`,
    [id],
  )
  return { ...payout, totals }
}

/** A page of what moved the balance, newest first. */
export const listTransactions = pageOf(BalanceTransaction, {
  order: ['occurredAt desc', 'seq desc', 'id'],
  filters: {
    gatewayAccountId: equal('gatewayAccountId'),
    kind: equal('kind'),
    payoutId: equal('payoutId'),
    subjectId: equal('subjectId'),
    from: from('occurredAt'),
    to: until('occurredAt'),
  },
  scope,
})

export type ReconciliationRecord = Omit<ReconciliationRow, 'counts'> & { counts: Counts }
const reconciliationOf = (row: ReconciliationRow): ReconciliationRecord => ({ ...row, counts: row.counts as Counts })

const reconciliations = pageOf(Reconciliation, {
  order: ['date desc', 'id'],
  filters: {
    gatewayAccountId: equal('gatewayAccountId'),
    status: equal('status'),
    from: from('date'),
    to: until('date'),
  },
  scope,
})

/** A page of reconciliations, the newest day first. */
export const listReconciliations = async (trx: Trx, filter: Parameters<typeof reconciliations>[1]) => {
  const { total, rows } = await reconciliations(trx, filter)
  return { total, rows: rows.map(reconciliationOf) }
}

/** A reconciliation; 404. */
export const readReconciliation = async (trx: Trx, id: string): Promise<ReconciliationRecord> =>
  reconciliationOf(await readRow(trx, Reconciliation, id))
