import { settings } from '../../config/env.ts'
import { byTenant } from '../../db/lib/by-tenant.ts'
import { sql } from '../../db/lib/connection.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import {
  nearEnds,
  readDispute as disputeRecord,
  requestImport,
  takeImport,
  takeReads,
  tellUnallocated,
} from '../../db/payment/index.ts'
import {
  readAccount,
  readDispute,
  readMethod,
  readPayment,
  readRefund,
  respondDispute,
  sweepPayments,
} from '../../jobs/payment.ts'
import { startSandbox } from '../gateways/sandbox-server.ts'
import { processor } from '../lib/processor.ts'

type Read = 'payment' | 'refund' | 'account' | 'method' | 'dispute'
type Near = 'authorisation' | 'expiring' | 'deadline' | 'payout'
type Due = { tenantId: string; kind: Read | Near | 'import' | 'unallocated'; id: string }

const most = 200

const due = (trx: PlatformTrx) =>
  sql<Due>(
    trx,
    `select tenant_id, kind, id from payments_due(?) union all select tenant_id, 'unallocated', id from payments_unallocated(?)
     union all select tenant_id, case kind when 'method' then 'expiring' when 'dispute' then 'deadline' else kind end, id from payments_near_end(?)`,
    [most, most, most],
  )

const work = async (trx: Trx, tenantId: string, mine: readonly Due[]) => {
  const ids = (kind: Due['kind']) => mine.filter((one) => one.kind === kind).map((one) => one.id)
  for (const { id, gate } of await takeReads(trx, 'payment', ids('payment')))
    await enqueue(trx, readPayment, { tenantId, paymentId: id }, { uniqueKey: `sweep-${id}`, gate })
  for (const { id, gate } of await takeReads(trx, 'refund', ids('refund')))
    await enqueue(trx, readRefund, { tenantId, refundId: id }, { uniqueKey: `sweep-${id}`, gate })
  for (const { id, gate } of await takeReads(trx, 'account', ids('account')))
    await enqueue(trx, readAccount, { tenantId, gatewayAccountId: id }, { uniqueKey: `sweep-${id}`, gate })
  for (const { id, gate } of await takeReads(trx, 'method', ids('method')))
    await enqueue(trx, readMethod, { tenantId, paymentMethodId: id }, { uniqueKey: `sweep-${id}`, gate })
  for (const { id, gate } of await takeReads(trx, 'dispute', ids('dispute'))) await pursueDispute(trx, id, gate)
  for (const id of ids('import')) {
    const account = await takeImport(trx, id)
    if (account) await requestImport(trx, account)
  }
  await nearEnds(trx, [
    ...ids('authorisation').map((id) => ({ kind: 'authorisation', id }) as const),
    ...ids('deadline').map((id) => ({ kind: 'dispute', id }) as const),
    ...ids('expiring').map((id) => ({ kind: 'method', id }) as const),
    ...ids('payout').map((id) => ({ kind: 'payout', id }) as const),
  ])
  await tellUnallocated(trx, ids('unallocated'))
}

/** An answer that the gateway has not confirmed is sent again; any other dispute is read. */
const pursueDispute = async (trx: Trx, id: string, gate: string) => {
  const dispute = await disputeRecord(trx, id)
  const { tenantId, gatewayAccountId, externalId: reference, status } = dispute
  const options = { uniqueKey: `sweep-${id}`, gate }
  if (status === 'submitted') await enqueue(trx, respondDispute, { tenantId, disputeId: id }, options)
  else if (gatewayAccountId !== null)
    await enqueue(trx, readDispute, { tenantId, gatewayAccountId, reference }, options)
}

/** Makes the jobs of what the schedule says is due, tenant by tenant; killed in between, the rest is due again. */
export const sweepProcessor = processor(sweepPayments, async (context) => {
  // The fake gateway of this process sends what a killed one left.
  if (settings.sandboxGateway) await startSandbox()
  for (const [tenantId, mine] of byTenant(await context.effect(due)))
    await context.inTenant(tenantId, (trx) => work(trx, tenantId, mine))
  await context.finish()
})
