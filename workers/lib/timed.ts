import { TimedOut } from './failure.ts'

/** Aborts the start when the queue's time is over; `late` rejects then. */
export const timed = (abort: AbortController, timeoutMs: number) => {
  let error: TimedOut | null = null
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      error = new TimedOut(timeoutMs)
      abort.abort(error)
      reject(error)
    }, timeoutMs)
  })
  late.catch(() => {})
  return { late, isLate: () => error !== null, end: () => clearTimeout(timer) }
}
