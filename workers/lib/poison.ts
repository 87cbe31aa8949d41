import { lostStarts } from '../../db/jobs/index.ts'
import type { Fence, Lost } from '../../db/jobs/index.ts'
import { persist } from './persist.ts'
import type { Processor } from './processor.ts'

/** So many starts that were lost make a job a suspect: the next one of them may end this process too. */
const suspectAfter = 2

let lane: Promise<void> = Promise.resolve()

/** Earlier starts of a job that never came back. The first delivery of the first dispatch has none. */
export const lostBefore = (fence: Fence, { style }: Processor, worker: { isEnding: boolean }): Promise<Lost> =>
  fence.dispatchNo === 1 && fence.delivery === 1
    ? Promise.resolve({ begun: 0, unseen: 0 })
    : persist(worker, (trx) => lostStarts(trx, fence, style))

/**
 * Runs a start; one of a suspect runs while no other suspect does in this process, and is claimed only then. What ends processes so
 * takes none along that only happened to be in hand whenever it did.
 */
export const oneSuspectAtATime = async <T>(
  { begun, unseen }: Lost,
  returned: Promise<never>,
  run: () => Promise<T>,
): Promise<T> => {
  if (begun + unseen < suspectAfter) return run()
  let leave = () => {}
  const mine = new Promise<void>((resolve) => {
    leave = resolve
  })
  const before = lane
  lane = before.then(() => mine)
  try {
    await Promise.race([before, returned])
    return await run()
  } finally {
    leave()
  }
}
