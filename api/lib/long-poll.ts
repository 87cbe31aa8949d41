import { setTimeout as wait } from 'node:timers/promises'

/** Readers that may wait at once in this process; all others are answered at once. */
const most = 200
let waiting = 0

type Options = {
  seconds: number
  /** The client went away. */
  gone: AbortSignal
}

/** Reads once a second until the value is as wished or the time is over. Nothing is held between the reads. */
export const waitUntil = async <T>(
  read: () => Promise<T>,
  isEnough: (value: T) => boolean,
  { seconds, gone }: Options,
): Promise<void> => {
  if (seconds <= 0 || waiting >= most) return
  waiting += 1
  try {
    const deadline = Date.now() + seconds * 1000
    while (!isEnough(await read())) {
      const left = deadline - Date.now()
      if (left <= 0 || gone.aborted) return
      await wait(Math.min(1000, left), undefined, { signal: gone, ref: false }).catch(() => undefined)
    }
  } finally {
    waiting -= 1
  }
}
