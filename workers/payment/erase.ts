import { sql } from '../../db/lib/connection.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import { eraseCallbackBodies } from '../../jobs/payment.ts'
import { eraseDue } from '../lib/erasing.ts'
import { processor } from '../lib/processor.ts'

const most = 500

const eraseBodies = (trx: PlatformTrx) =>
  sql(
    trx,
    `update gateway_callback set raw_body = null where id in (
       select id from gateway_callback where raw_body is not null and received_at < now() - interval '90 days' limit ?) returning id`,
    [most],
  )

const oldPayers = (trx: PlatformTrx) =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from payments_with_old_payers(?)`, [most])

/** Erases data of payers and submissions once they can no longer be needed. */
const erasePayers = (trx: Trx, ids: readonly string[]) =>
  sql(trx, `update payment set payer = null, payer_index = null, submission = null where id = any(?)`, [ids])

const oldEvidence = (trx: PlatformTrx) =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from disputes_with_old_evidence(?)`, [most])

/** A decided dispute is proven no more; what was written of its guest goes. */
const eraseEvidence = (trx: Trx, ids: readonly string[]) =>
  sql(trx, `update dispute set evidence = null where id = any(?)`, [ids])

export const eraseProcessor = processor(eraseCallbackBodies, async (context) => {
  while (!context.signal.aborted && (await context.effect(eraseBodies)).length === most)
    context.log.debug('more bodies to erase')
  await eraseDue(context, oldPayers, erasePayers)
  await eraseDue(context, oldEvidence, eraseEvidence)
  await context.finish()
})
