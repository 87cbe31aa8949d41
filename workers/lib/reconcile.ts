import type { Queue } from 'bullmq'
import { log } from '../../config/log.ts'
import type { QueueName } from '../../config/queues.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { dispatchAgain, overdue, renewLeases } from '../../db/jobs/index.ts'
import type { Overdue } from '../../db/jobs/index.ts'
import * as metrics from './metrics.ts'
import { bullId } from './queues.ts'
import type { Handed } from './run-job.ts'

const batchSize = 500
/** Bounds a round of reconciliation. Usually the windows of all queues bound what is overdue at once. */
const mostRounds = 40
const live = new Set(['waiting', 'active', 'delayed', 'prioritized', 'waiting-children'])

type Queues = (name: QueueName) => Queue<Handed>

const compare = async (rows: readonly Overdue[], queueOf: Queues): Promise<number> => {
  const states = await Promise.all(rows.map((row) => queueOf(row.queue).getJobState(bullId(row.id, row.dispatchNo))))
  const kept = rows.filter((_, index) => live.has(states[index] ?? 'unknown'))
  const lost = rows.filter((_, index) => !live.has(states[index] ?? 'unknown'))
  if (kept.length > 0) await inPlatform((trx) => renewLeases(trx, kept))
  return lost.length === 0 ? 0 : inPlatform((trx) => dispatchAgain(trx, lost))
}

/**
 * Compares all rows past their lease with BullMQ: what it still has gets a new lease, what it lost goes back to pending. Answers how
 * many went back. Rows of a Redis that cannot be asked stay as they are: it throws.
 */
export const reconcile = async (queueOf: Queues): Promise<number> => {
  let count = 0
  for (let round = 0; round < mostRounds; round += 1) {
    const rows = await inPlatform((trx) => overdue(trx, batchSize))
    if (rows.length > 0) count += await compare(rows, queueOf)
    if (rows.length < batchSize) break
  }
  if (count > 0) {
    metrics.redispatched.inc({ reason: 'lost_in_redis' }, count)
    log.warn({ jobs: count }, 'jobs that redis lost go again')
  }
  return count
}
