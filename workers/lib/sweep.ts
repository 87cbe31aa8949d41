import { nilId } from '../../config/nil-id.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import type { JobContext } from './processor.ts'

/** Rows that one transaction of a sweep takes. */
export const atOnce = 200

/** Asks for a job for each of what a sweep finds, by id, so many in a transaction. */
export const askForAll = async <Found>(
  { effect, finish, signal }: Pick<JobContext<Record<never, never>>, 'effect' | 'finish' | 'signal'>,
  sweep: (trx: PlatformTrx, after: string, most: number) => Promise<Found[]>,
  idOf: (found: Found) => string,
  ask: (trx: PlatformTrx, found: Found) => Promise<unknown>,
): Promise<void> => {
  for (let after = nilId; !signal.aborted;) {
    const from = after
    const last = await effect(async (trx) => {
      const found = await sweep(trx, from, atOnce)
      for (const one of found) await ask(trx, one)
      return found.at(-1)
    })
    if (!last) break
    after = idOf(last)
  }
  await finish()
}
