import type { ChannelRange } from '../../config/channels.ts'
import type { Answer } from '../lib/signed-call.ts'
import type { ChannelAccount, Kind, Fetched, Refusal } from '../../db/channels/index.ts'

/**
 * The interface to one kind of channel. Nothing throws for what the other side did. `push` says what of the ranges was not taken;
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
