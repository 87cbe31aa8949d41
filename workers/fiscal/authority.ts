import type { AuthorityWord, FiscalCall } from '../../db/accounts-receivable/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'

/**
 * The interface to a tax authority: one file per authority. Nothing throws for what the other side did. `refused` is a final no: of a document it
 * is a rejection; what is `unknown` may have been heard, and is read by its number before anything is sent again.
 */
export type FiscalAuthority = {
  send: (call: FiscalCall, signal: AbortSignal) => Promise<Outcome<AuthorityWord>>
  read: (call: FiscalCall, signal: AbortSignal) => Promise<Outcome<AuthorityWord>>
  cancel: (call: FiscalCall, signal: AbortSignal) => Promise<Outcome<AuthorityWord>>
  cancelWindowHours: number
}
