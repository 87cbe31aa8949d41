import type { FeatureKey } from '../config/features.ts'
import type { JobClass, QueueName, RetryClass } from '../config/queues.ts'
import type { Schema, Static } from '../config/schema.ts'

/** Makes of a payload of one version what the next version would have been. */
export type Upcast = (payload: Record<string, unknown>) => Record<string, unknown>

/** One thing that can be asked for. `name` is permanent; `queue` may change, rows carry their own. */
export type Job<S extends Schema = Schema> = {
  readonly name: string
  readonly queue: QueueName
  readonly payload: S
  /** Version of the payload: one more than there are upcasts. */
  readonly version: number
  /** Steps from each version to the next, the first from 1 to 2. A payload in a row may be older than the code that starts it. */
  readonly upcasts: readonly Upcast[]
  readonly retry: RetryClass
  /** Lowers the tries of the class. */
  readonly tries?: number | undefined
  readonly class: JobClass
  /**
   * It works for a feature: while that is not active for the tenant, a start ends as skipped before its next effect. Jobs that finish what
   * has begun, such as a payment or a booking that was taken in, declare none, and stand with the reason in test/jobs/features.test.ts.
   */
  readonly feature?: FeatureKey | undefined
  /** A done one may run again, as a new job, when an operator asks: it reads the other side and repeats no effect. */
  readonly replayable?: boolean | undefined
}

export type PayloadOf<J> = J extends Job<infer S> ? Static<S> : never

type Declaration<S extends Schema> = Pick<Job<S>, 'name' | 'queue' | 'payload' | 'retry'> &
  Partial<Pick<Job<S>, 'upcasts' | 'tries' | 'class' | 'replayable' | 'feature'>>

export const job = <S extends Schema>(declaration: Declaration<S>): Job<S> => ({
  class: 'normal',
  upcasts: [],
  ...declaration,
  version: 1 + (declaration.upcasts?.length ?? 0),
})

/** A payload of an older version as the newest code wants it, step by step. It is not validated yet. */
export const upcast = (
  { upcasts }: Pick<Job, 'upcasts'>,
  payload: Record<string, unknown>,
  version: number,
): Record<string, unknown> => upcasts.slice(version - 1).reduce((older, step) => step(older), payload)

/**
 * A job that comes by the clock, once per slot whatever the number of schedulers. Its payload is `{}`.
 * `backfill` says what becomes of slots during which no scheduler ran.
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
