import { unauthenticated } from '../../../config/errors.ts'
import { inTenant } from '../../../db/lib/connection.ts'
import type { Trx } from '../../../db/lib/connection.ts'
import { isGuestTokenLive } from '../../../db/reservations/index.ts'
import { admitPublic } from '../access/admission.ts'
import type { GuestAccess } from '../access/kinds.ts'
import type { Call, Entry } from './entry.ts'

/** Guests with the token of their booking. */
export const guestEntry = ({ feature }: GuestAccess, { caller, context }: Call): Entry<Trx> => {
  if (caller.kind !== 'guest') throw unauthenticated('guest_token_missing', 'Send the X-Guest-Token of the booking')
  const { tenantId, bookingId, issuedAt } = caller
  return {
    context: { tenantId, bookingId },
    enter: async (trx) => {
      await admitPublic(trx, feature)
      if (!(await isGuestTokenLive(trx, bookingId, issuedAt)))
        throw unauthenticated('guest_token_invalid', 'The guest token is not valid any more')
      return undefined
    },
    open: (work) => inTenant(tenantId, work, context),
  }
}
