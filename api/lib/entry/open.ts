import { withoutTenant } from '../../../db/lib/connection.ts'
import type { AnyTrx } from '../../../db/lib/connection.ts'
import { refuseKey, requireSession } from '../access/admission.ts'
import type { Call, Entry } from './entry.ts'

/** Calls outside any tenant: signed-in users on their own account, sign-in and mailed links, providers. */
export const openEntry = (kind: 'session' | 'open' | 'callback', { caller, context }: Call): Entry<AnyTrx> => {
  if (kind === 'session') requireSession(caller)
  if (kind === 'open') refuseKey(caller)
  return { context: {}, enter: null, open: (work) => withoutTenant(work, context) }
}
