import { sql, wakeAfterCommit } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import type { QueueName } from '../../config/queues.ts'

/** Lets jobs of a tenant that were put back go on now. Jobs that were never begun keep their time: they are for later. */
export const bringForward = async (
  trx: AnyTrx,
  tenantId: string,
  { queues, withinMs }: { queues: readonly QueueName[]; withinMs: number },
): Promise<void> => {
  await sql(
    trx,
    `update jobs set run_at = now() where tenant_id = ? and queue = any(?) and status = 'pending' and dispatch_no > 0
       and run_at > now() and run_at <= now() + make_interval(secs => ? / 1000.0)`,
    [tenantId, queues, withinMs],
  )
  wakeAfterCommit(trx)
}
