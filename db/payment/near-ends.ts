import { disputeDeadlineNeared, paymentAuthorisationEndNeared } from '../../config/events/payment.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { DisputeRow, PaymentRow } from '../rows.ts'
import { doubtPayouts } from './balance/payouts.ts'
import { emitDispute } from './disputes/snapshot.ts'
import { expireMethods } from './methods/commands.ts'
import { emitPayment } from './payment-events.ts'

export type NearEnd = { kind: 'authorisation' | 'dispute' | 'method' | 'payout'; id: string }

/** Tells of ends that are near: authorisations a day before, disputes three days and one day before; and sees to cards and payouts whose time is over. */
export const nearEnds = async (trx: Trx, found: readonly NearEnd[]): Promise<void> => {
  const ids = (kind: NearEnd['kind']) => found.filter((one) => one.kind === kind).map((one) => one.id)
  const payments = await sql<PaymentRow>(
    trx,
    `update payment set end_neared_at = now() where id = any(?) and end_neared_at is null and status = 'authorised' returning *`,
    [ids('authorisation')],
  )
  for (const payment of payments) await emitPayment(trx, payment, paymentAuthorisationEndNeared)
  const disputes = await sql<DisputeRow>(
    trx,
    `update dispute set warnings = case when response_due_at < now() + interval '24 hours' then 2 else 1 end
     where id = any(?) and status = 'needs_response' and warnings < case when response_due_at < now() + interval '24 hours' then 2 else 1 end returning *`,
    [ids('dispute')],
  )
  for (const dispute of disputes) await emitDispute(trx, disputeDeadlineNeared, dispute)
  await expireMethods(trx, ids('method'))
  await doubtPayouts(trx, ids('payout'))
}
