import { unauthenticated } from '../../../config/errors.ts'
import { isLinkLive } from '../../../db/guests/index.ts'
import { inTenant } from '../../../db/lib/connection.ts'
import type { Trx } from '../../../db/lib/connection.ts'
import { admitPublic } from '../access/admission.ts'
import type { RegistrationAccess } from '../access/kinds.ts'
import type { Call, Entry } from './entry.ts'

const invalid = () => unauthenticated('registration_token_invalid', 'The link has ended, or is not valid')

/** Guests with the link of their registration form. A link opens its own form alone. */
export const registrationEntry = ({ feature }: RegistrationAccess, { caller, params, context }: Call): Entry<Trx> => {
  if (caller.kind !== 'registration') throw invalid()
  const { tenantId, guestRegistrationId, issuedAt } = caller
  return {
    context: { tenantId, guestRegistrationId },
    enter: async (trx) => {
      await admitPublic(trx, feature)
      const isOwn = params['guestRegistrationId']?.toLowerCase() === guestRegistrationId
      if (!isOwn || !(await isLinkLive(trx, guestRegistrationId, issuedAt))) throw invalid()
      return undefined
    },
    open: (work) => inTenant(tenantId, work, context),
  }
}
