import { settings } from '../../config/env.ts'
import { byTenant } from '../../db/lib/by-tenant.ts'
import { sql } from '../../db/lib/connection.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { takeReads, openException, readPayment as paymentById } from '../../db/payment/index.ts'
import { readPayment, readRefund, sweepPayments } from '../../jobs/payment.ts'
import { startSandbox } from '../gateways/sandbox-server.ts'
import { processor } from '../lib/processor.ts'

type Due = { tenantId: string; kind: 'payment' | 'refund' | 'unallocated'; id: string }

const most = 200

const due = (trx: PlatformTrx) =>
  sql<Due>(
    trx,
    `select tenant_id, kind, id from payments_due(?) union all select tenant_id, 'unallocated', id from payments_unallocated(?)`,
    [most, most],
  )

const work = async (trx: Trx, tenantId: string, mine: readonly Due[]) => {
  const ids = (kind: Due['kind']) => mine.filter((one) => one.kind === kind).map((one) => one.id)
  for (const { id, gate } of await takeReads(trx, 'payment', ids('payment')))
    await enqueue(trx, readPayment, { tenantId, paymentId: id }, { uniqueKey: `sweep-${id}`, gate })
  for (const { id, gate } of await takeReads(trx, 'refund', ids('refund')))
    await enqueue(trx, readRefund, { tenantId, refundId: id }, { uniqueKey: `sweep-${id}`, gate })
  for (const id of ids('unallocated')) {
    const payment = await paymentById(trx, id)
    if (!payment) continue
    const left = payment.capturedAmount - payment.allocatedAmount - payment.refundReserved
    const subject = { type: 'payment', id, propertyId: payment.propertyId, currency: payment.currency } as const
    if (left > 0) await openException(trx, 'unallocated', subject, left)
  }
}

/** Makes the jobs of what the schedule says is due, tenant by tenant; killed in between, the rest is due again. */
export const sweepProcessor = processor(sweepPayments, async (context) => {
  // The fake gateway of this process sends what a killed one left.
  if (settings.sandboxGateway) await startSandbox()
  for (const [tenantId, mine] of byTenant(await context.effect(due)))
    await context.inTenant(tenantId, (trx) => work(trx, tenantId, mine))
  await context.finish()
})
