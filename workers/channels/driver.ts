import type { ChannelRange } from '../../config/channels.ts'
import type { ChannelAccount, Kind, Fetched, Refusal } from '../../db/channels/index.ts'

/** A call that brought no answer to work with: refused for good, never sent, or perhaps heard. */
export type Failure = {
  kind: 'refused' | 'not_sent' | 'unknown'
  code: string
  httpStatus?: number | undefined
  /** How long the channel asked to be left alone. */
  afterMs?: number | undefined
}
export type Answer<T> = ({ kind: 'known'; code?: undefined; httpStatus?: number | undefined } & T) | Failure

/**
 * How one kind of channel is spoken with. Nothing throws for what the other side did. `push` says what of the ranges was not taken;
 * its id makes a repetition harmless.
 */
export type Driver = {
  test: (account: ChannelAccount, signal: AbortSignal) => Promise<Answer<object>>
  push: (
    account: ChannelAccount,
    push: { pushId: string; kind: Kind; ranges: readonly ChannelRange[] },
    signal: AbortSignal,
  ) => Promise<Answer<{ rejected: Refusal[] }>>
  pull: (
    account: ChannelAccount,
    page: { after: string | null; limit: number },
    signal: AbortSignal,
  ) => Promise<Answer<{ revisions: Fetched[]; cursor: string | null }>>
  acknowledge: (account: ChannelAccount, ids: readonly string[], signal: AbortSignal) => Promise<Answer<object>>
}
