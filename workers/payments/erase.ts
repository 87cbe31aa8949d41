import { inPlatform, inTenant, sql } from '../../db/connection.ts'
import { eraseCallbackBodies } from '../../jobs/payments.ts'
import { processor } from '../lib/processor.ts'

const most = 500

type Old = { tenantId: string; id: string }

const eraseBodies = () =>
  inPlatform((trx) =>
    sql(
      trx,
      `update gateway_callback set raw_body = null where id in (
         select id from gateway_callback where raw_body is not null and received_at < now() - interval '90 days' limit ?) returning id`,
      [most],
    ),
  )

/** What was told of the payer, and what the gateway was told, goes with the time in which it could still be needed. */
const erasePayers = async (): Promise<number> => {
  const old = await inPlatform((trx) => sql<Old>(trx, `select tenant_id, id from payments_with_old_payers(?)`, [most]))
  for (const tenantId of new Set(old.map((one) => one.tenantId)))
    await inTenant(tenantId, (trx) =>
      sql(trx, `update payment set payer = null, payer_index = null, submission = null where id = any(?)`, [
        old.filter((one) => one.tenantId === tenantId).map((one) => one.id),
      ]),
    )
  return old.length
}

export const eraseProcessor = processor(eraseCallbackBodies, async (context) => {
  while (!context.signal.aborted && (await eraseBodies()).length === most) context.log.debug('more bodies to erase')
  while (!context.signal.aborted && (await erasePayers()) === most) context.log.debug('more payers to erase')
  await context.finish()
})
