import type { QueueName } from '../../config/queues.ts'
import type { Tally } from '../../db/jobs/index.ts'

const counted = new Map<QueueName, Tally>()

const add = (queue: QueueName, done: number, failed: number) => {
  const known = counted.get(queue) ?? { queue, done: 0, failed: 0 }
  counted.set(queue, { queue, done: known.done + done, failed: known.failed + failed })
}

const outcomes: Record<string, 'done' | 'failed'> = { done: 'done', skipped: 'done', failed: 'failed', later: 'failed' }

/** Counts how a start ended; ghosts and what was given back are neither done nor failed. */
export const tally = (queue: QueueName, outcome: string): void => {
  const as = outcomes[outcome]
  if (as !== undefined) add(queue, as === 'done' ? 1 : 0, as === 'failed' ? 1 : 0)
}

/** Takes the counts since the last time; a caller that cannot store them gives them back. */
export const takeTallies = (): Tally[] => {
  const taken = [...counted.values()]
  counted.clear()
  return taken
}

export const returnTallies = (tallies: Tally[]): void => {
  for (const { queue, done, failed } of tallies) add(queue, done, failed)
}
