import { nilId } from '../../config/nil-id.ts'
import { kindsOfCall, purgeCalls, rollPartitions } from '../../db/jobs/index.ts'
import type { OverCall } from '../../db/jobs/index.ts'
import { foldCounts } from '../../db/lib/counts.ts'
import { foldBooks } from '../../db/reports/index.ts'
import { foldListCounts, purgeExternalCalls, rollPartitions as rollPartitionsJob } from '../../jobs/jobs.ts'
import { onDatabase, processor } from '../lib/processor.ts'

const atOnce = 1_000

const purge = processor(purgeExternalCalls, async ({ effect, finish, signal }) => {
  for (const kind of kindsOfCall)
    for (let after: OverCall | null = { at: '-infinity', id: nilId }; after && !signal.aborted;) {
      const from: OverCall = after
      after = await effect((trx) => purgeCalls(trx, kind, from, atOnce))
    }
  await finish()
})

export const processors = [
  onDatabase(rollPartitionsJob, (trx) => rollPartitions(trx)),
  onDatabase(foldListCounts, async (trx) => {
    await foldCounts(trx)
    await foldBooks(trx)
  }),
  purge,
]
