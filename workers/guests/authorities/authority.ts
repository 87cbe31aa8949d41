import type { AuthorityAnswer, AuthorityCall } from '../../../db/guests/index.ts'
import type { Answer } from '../../lib/signed-call.ts'

/**
 * The interface to an authority: one file per interface. Nothing throws for what the other side did. `requestId` of the call tells a repetition: the
 * authority answers it as it answered the first.
 */
export type AuthorityAdapter = {
  report: (call: AuthorityCall, signal: AbortSignal) => Promise<Answer<{ answer: AuthorityAnswer }>>
}
