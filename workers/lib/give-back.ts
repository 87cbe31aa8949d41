import type { AnyTrx } from '../../db/lib/connection.ts'
import { putBack } from '../../db/jobs/index.ts'
import type { Fence } from '../../db/jobs/index.ts'
import { persist } from './persist.ts'

/** Gives a job back that was not run, or could not run. `record` is written with it. */
export const returnJob = async (
  fence: Fence,
  worker: { isEnding: boolean },
  afterMs = 0,
  record: (trx: AnyTrx) => Promise<void> = () => Promise.resolve(),
): Promise<string> => {
  const isBack = await persist(worker, async (trx) => {
    const written = await putBack(trx, fence, afterMs)
    if (written) await record(trx)
    return written
  })
  return isBack ? 'returned' : 'ghost'
}
