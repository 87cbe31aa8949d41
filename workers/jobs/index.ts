import { purgeKeptReplies, rollPartitions as rollPartitionsJob } from '../../jobs/jobs.ts'
import { dropKeptReplies } from '../../db/idempotency.ts'
import { rollPartitions } from '../../db/jobs/operate.ts'
import { onDatabase } from '../lib/processor.ts'

export const processors = [
  onDatabase(rollPartitionsJob, (trx) => rollPartitions(trx)),
  onDatabase(purgeKeptReplies, (trx) => dropKeptReplies(trx)),
]
