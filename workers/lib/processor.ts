import type { Log } from '../../config/log.ts'
import type { Schema } from '../../config/schema.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../../db/lib/connection.ts'
import type { Job, PayloadOf } from '../../jobs/job.ts'

/** A payload that names a tenant is worked on inside that tenant. */
export type TrxFor<P> = P extends { tenantId: string } ? Trx : PlatformTrx

/** Context of a processor that makes calls outside. */
export type JobContext<P = unknown> = {
  readonly payload: P
  readonly tenantId: string | null
  readonly jobId: string
  readonly kind: string
  readonly requestId: string
  /** The start of the transaction that asked for it, by PostgreSQL's clock. */
  readonly askedAt: Date
  /** Parent of the job's steps in its trace. */
  readonly traceparent: string | null
  /** The account that it calls, whose gate its calls open and close; empty where it calls none. */
  readonly gate: string
  /** From 1; counts the tries that ended, not the deliveries. */
  readonly attempt: number
  /** Aborted at the queue's timeout, and when the process must end. Give it to every call. */
  readonly signal: AbortSignal
  readonly log: Log
  /** A transaction that first locks the job under its fence, and does not end the job. Throws FenceLost for an overtaken start. */
  readonly effect: <T>(work: (trx: TrxFor<P>) => Promise<T>) => Promise<T>
  /** A transaction of one tenant under no fence, for a job that goes through several: it may be begun again, and finds what is left. */
  readonly inTenant: <T>(tenantId: string, work: (trx: Trx) => Promise<T>) => Promise<T>
  /** As `effect`, and the job ends with it: effect, follow-up jobs, events and completion commit together. Once. */
  readonly finish: <T = void>(work?: (trx: TrxFor<P>) => Promise<T>) => Promise<T>
  /** As `effect`, or as `finish` where `endsWith` says so of what the work answers. */
  readonly finishWhere: <T>(work: (trx: TrxFor<P>) => Promise<T>, endsWith: (value: T) => boolean) => Promise<T>
  /** Dead at once: another try cannot pass. `reason` is a stable code. */
  readonly giveUp: (reason: string, message: string) => never
  /** Ends as skipped: there is nothing to do any more. What the open effect did is rolled back. */
  readonly skip: (reason: string) => never
  /** A failure like any other, that waits at least `afterMs` before the next try. */
  readonly retryLater: (message: string, options?: { afterMs?: number }) => never
  /** Goes back and starts anew after a while; this start does not count. What the open effect did is rolled back. */
  readonly putBack: (afterMs: number) => never
  /** Runs in the transaction of the next effect, finish or failure. For the journal of outside calls. */
  readonly withNext: (record: (trx: AnyTrx) => Promise<unknown>) => void
}

/** Context of a processor on the database, already inside its transaction. */
export type DatabaseContext = Omit<
  JobContext,
  'effect' | 'inTenant' | 'finish' | 'finishWhere' | 'withNext' | 'payload'
>

/** Tells whether a job ends what its feature was used for, which stays possible without the feature. */
export type Ends<P = never> = (trx: Trx, payload: P) => Promise<boolean>

export type Processor =
  | {
      readonly job: Job
      readonly style: 'outside'
      readonly run: (context: JobContext) => Promise<unknown>
      readonly ends?: Ends | undefined
    }
  | {
      readonly job: Job
      readonly style: 'database'
      readonly run: (trx: AnyTrx, payload: unknown, context: DatabaseContext) => Promise<unknown>
    }

/**
 * A job that calls the outside: never inside a transaction. Read (`effect`), call (`externalCall`), write (`finish`). Throwing is a retry
 * by the class of the job; returning without `finish` ends the job as done.
 */
export const processor = <S extends Schema>(
  job: Job<S>,
  run: (context: JobContext<PayloadOf<Job<S>>>) => Promise<unknown>,
  { ends }: { ends?: Ends<PayloadOf<Job<S>>> } = {},
): Processor => ({
  job,
  style: 'outside',
  ends: ends as Ends | undefined,
  run: run as unknown as (context: JobContext) => Promise<unknown>,
})

/** A job that only touches the database: it is claimed, acts and ends in one transaction. Throwing rolls it back, and is a retry. */
export const onDatabase = <S extends Schema>(
  job: Job<S>,
  run: (trx: TrxFor<PayloadOf<Job<S>>>, payload: PayloadOf<Job<S>>, context: DatabaseContext) => Promise<unknown>,
): Processor => ({
  job,
  style: 'database',
  run: run as unknown as (trx: AnyTrx, payload: unknown, context: DatabaseContext) => Promise<unknown>,
})
