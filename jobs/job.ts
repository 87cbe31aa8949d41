import type { JobClass, QueueName, RetryClass } from '../config/queues.ts'
import type { Schema, Static } from '../config/schema.ts'

/** One thing that can be asked for. `name` is permanent; `queue` may change, rows carry their own. */
export type Job<S extends Schema = Schema> = {
  readonly name: string
  readonly queue: QueueName
  readonly payload: S
  /** Version of the payload; older ones are upcast before they are validated. */
  readonly version: number
  readonly upcast?: ((payload: unknown, version: number) => unknown) | undefined
  readonly retry: RetryClass
  /** Lowers the tries of the class. */
  readonly tries?: number | undefined
  readonly class: JobClass
  /** A done one may run again, as a new job, when an operator asks: it reads the other side and repeats no effect. */
  readonly replayable?: boolean | undefined
}

export type PayloadOf<J> = J extends Job<infer S> ? Static<S> : never

type Declaration<S extends Schema> = Pick<Job<S>, 'name' | 'queue' | 'payload' | 'retry'> &
  Partial<Pick<Job<S>, 'version' | 'upcast' | 'tries' | 'class' | 'replayable'>>

export const job = <S extends Schema>(declaration: Declaration<S>): Job<S> => ({
  version: 1,
  class: 'normal',
  ...declaration,
})

/**
 * A job that comes by the clock, once per slot whatever the number of schedulers. Its payload is `{}`.
 * `backfill` says what becomes of slots that nobody was there for.
 */
export type Schedule = {
  readonly job: Job
  readonly everySeconds?: number
  readonly cron?: string
  readonly timeZone?: string
  readonly backfill: 'none' | 'last' | 'all'
}

export const every = (seconds: number, scheduled: Job): Schedule => ({
  job: scheduled,
  everySeconds: seconds,
  backfill: 'none',
})
export const daily = (at: string, scheduled: Job): Schedule => {
  const [hour = '0', minute = '0'] = at.split(':')
  return { job: scheduled, cron: `${Number(minute)} ${Number(hour)} * * *`, timeZone: 'UTC', backfill: 'last' }
}
