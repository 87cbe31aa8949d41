import { setTimeout as wait } from 'node:timers/promises'

/** Waits until the condition holds, and answers what it answered. A condition that throws counts as not yet. */
export const until = async <T>(
  condition: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { withinMs = 30_000, everyMs = 25, what = 'the condition' } = {},
): Promise<T> => {
  let last: unknown = null
  for (const deadline = Date.now() + withinMs; ;) {
    try {
      const value = await condition()
      if (value !== null && value !== undefined && value !== false) return value
      last = null
    } catch (error) {
      last = error
    }
    if (Date.now() > deadline) throw new Error(`${what} did not come about within ${withinMs} ms`, { cause: last })
    await wait(everyMs)
  }
}
