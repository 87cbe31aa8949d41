import { rollPartitions } from '../../db/jobs/operate.ts'
import { rollPartitions as rollPartitionsJob } from '../../jobs/jobs.ts'
import { onDatabase } from '../lib/processor.ts'

export const processors = [onDatabase(rollPartitionsJob, (trx) => rollPartitions(trx))]
