import type { Queue } from 'bullmq'
import { log } from '../../config/log.ts'
import type { QueueName } from '../../config/queues.ts'
import { inPlatform } from '../../db/connection.ts'
import { dispatchAgain, overdue, renewLeases } from '../../db/jobs/recovery.ts'
import type { Overdue } from '../../db/jobs/recovery.ts'
import * as metrics from './metrics.ts'
import { bullId } from './queues.ts'
import type { Handed } from './start.ts'

const batchSize = 500
const live = new Set(['waiting', 'active', 'delayed', 'prioritized', 'waiting-children'])

/**
 * Compares rows past their lease with BullMQ: what it still has gets a new lease, what it lost goes back to pending. Answers how
 * many went back.
 */
export const reconcile = async (queueOf: (name: QueueName) => Queue<Handed>): Promise<number> => {
  const rows = await inPlatform((trx) => overdue(trx, batchSize))
  if (rows.length === 0) return 0
  const kept: Overdue[] = []
  const lost: Overdue[] = []
  for (const row of rows) {
    const state = await queueOf(row.queue).getJobState(bullId(row.id, row.dispatchNo))
    ;(live.has(state) ? kept : lost).push(row)
  }
  if (kept.length > 0) await inPlatform((trx) => renewLeases(trx, kept))
  if (lost.length === 0) return 0
  const count = await inPlatform((trx) => dispatchAgain(trx, lost))
  if (count > 0) {
    metrics.redispatched.inc({ reason: 'lost_in_redis' }, count)
    log.warn({ jobs: count }, 'jobs that redis lost go again')
  }
  return count
}
