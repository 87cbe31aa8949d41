import { credentialsRefused } from '../../db/jobs/index.ts'
import type { CallKey } from '../../db/jobs/index.ts'
import type { Job, PayloadOf } from '../../jobs/job.ts'
import type { Schema } from '../../config/schema.ts'
import { externalCall, readCall } from './external-call.ts'
import { heedCredentials, isRefusingCredentials, waitForCredentials } from './gate.ts'
import { processor } from './processor.ts'
import type { Ends, JobContext, Processor, TrxFor } from './processor.ts'

/**
 * Outcome of a call (R6 of payments). `refused` is a final no; `not_sent` certainly did not reach the other side; all else is `unknown`,
 * which is never failed and never done.
 */
export type Outcome<S> =
  | { kind: 'known'; snapshot: S; reference?: string | undefined; httpStatus?: number | undefined }
  | { kind: 'refused'; code: string; message: string; httpStatus?: number | undefined }
  | { kind: 'not_sent'; code: string; httpStatus?: number | undefined; afterMs?: number | undefined }
  | { kind: 'unknown'; code: string; httpStatus?: number | undefined }

/** An answer without a call: `write` is run, and the job ends. */
type Written<P> = { kind: 'write'; write: (trx: TrxFor<P>) => Promise<unknown> }
export type Answer<P, S> = Outcome<S> | Written<P>

/** Calls of one job to the other side. */
export type Asking = {
  readonly signal: AbortSignal
  /** A call that changes something over there, journalled under a key of the record. */
  readonly act: <S>(name: CallKey, call: () => Promise<Outcome<S>>) => Promise<Outcome<S>>
  /** A call that changes nothing over there. */
  readonly read: <S>(
    name: Pick<CallKey, 'provider' | 'operation'>,
    call: () => Promise<Outcome<S>>,
  ) => Promise<Outcome<S>>
  readonly giveUp: JobContext['giveUp']
}

/** The effect of the other side's word on a record. */
export type Applying<P, S> = {
  known: (trx: TrxFor<P>, payload: P, snapshot: S) => Promise<unknown>
  refused: (trx: TrxFor<P>, payload: P, refusal: { code: string; message: string }) => Promise<unknown>
  /** The other side is asked again later. `wasReached` is false where nothing was sent. */
  unknown: (trx: TrxFor<P>, payload: P, wasReached: boolean) => Promise<unknown>
}

type GatewayJob<P, C, S> = {
  /** Reads what to ask for; null where there is nothing to do. */
  load: (trx: TrxFor<P>, payload: P) => Promise<C | null>
  /** Written where `load` finds nothing. */
  otherwise?: (trx: TrxFor<P>, payload: P) => Promise<unknown>
  ask: (asking: Asking, call: C, payload: P) => Promise<Answer<P, S>>
  apply: Applying<P, S>
  /** The schedule of reads comes back to the record: what was not sent three times is left to it. */
  isScheduled: boolean
  /** Refused credentials are no fault of ours that an operator mends, and the job does not wait at its gate for it. */
  isTurnedAway?: (call: C) => boolean
  /** Tells whether the other side has the record already, which may be read without the feature. */
  ends?: Ends<P>
}

const triesBeforeSchedule = 3

/** A call without refusals: a refusal to read, or to close, says nothing of the record. */
export const unheard = <S>(outcome: Outcome<S>): Outcome<S> =>
  outcome.kind === 'refused' ? { kind: 'unknown', code: outcome.code } : outcome

/** Refused credentials send a job to wait at its gate; one that does not wait takes them for an answer that is not known. */
const settled = <S>(outcome: Outcome<S>, isWaiting: boolean): Outcome<S> => {
  if (!isWaiting && isRefusingCredentials(outcome)) return { kind: 'unknown', code: credentialsRefused }
  waitForCredentials(outcome)
  return outcome
}

const askingOf = <P>(context: JobContext<P>, isWaiting: boolean): Asking => ({
  signal: context.signal,
  giveUp: context.giveUp,
  act: async <S>(name: CallKey, call: () => Promise<Outcome<S>>) => {
    const heeding = async (): Promise<Outcome<S>> => heedCredentials(await call())
    const { outcome } = await externalCall(context, name, heeding)
    return settled(outcome, isWaiting)
  },
  read: async <S>(name: Pick<CallKey, 'provider' | 'operation'>, call: () => Promise<Outcome<S>>) => {
    const heeding = async (): Promise<Outcome<S>> => heedCredentials(await call())
    return settled(await readCall(context, name, heeding), isWaiting)
  },
})

/**
 * A job that brings a record on whose truth is at another side: loads what to ask for, asks outside any transaction, and ends by writing
 * what came of it. A call that was not sent is tried again. Refused credentials are no refusal of the payment: the job waits at the gate.
 */
export const gatewayJob = <Sch extends Schema, C, S>(
  job: Job<Sch>,
  { load, otherwise, ask, apply, isScheduled, isTurnedAway, ends }: GatewayJob<PayloadOf<Job<Sch>>, C, S>,
): Processor =>
  processor(
    job,
    async (context) => {
      const { payload } = context
      const end = (write: (trx: TrxFor<typeof payload>) => Promise<unknown>) =>
        context.finish(async (trx) => void (await write(trx)))
      const call = await context.effect((trx) => load(trx, payload))
      if (call === null) return otherwise ? end((trx) => otherwise(trx, payload)) : context.finish()
      const outcome = await ask(askingOf(context, context.gate !== '' && !isTurnedAway?.(call)), call, payload)
      switch (outcome.kind) {
        case 'write':
          return end(outcome.write)
        case 'known':
          return end((trx) => apply.known(trx, payload, outcome.snapshot))
        case 'refused':
          return end((trx) => apply.refused(trx, payload, outcome))
        case 'unknown':
          return end((trx) => apply.unknown(trx, payload, true))
        case 'not_sent':
          if (isScheduled && context.attempt >= triesBeforeSchedule)
            return end((trx) => apply.unknown(trx, payload, false))
          return context.retryLater(`the gateway was not reached: ${outcome.code}`, { afterMs: outcome.afterMs ?? 0 })
      }
    },
    ends ? { ends } : {},
  )
