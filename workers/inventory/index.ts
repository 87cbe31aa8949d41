import { settleMore } from '../../db/inventory/index.ts'
import * as jobs from '../../jobs/inventory.ts'
import { onDatabase } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

export const processors: readonly Processor[] = [
  onDatabase(jobs.settleShortagesJob, (trx, { locationId, itemId }) => settleMore(trx, { locationId, itemId })),
]
