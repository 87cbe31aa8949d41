import { ApiError } from '../../../config/errors.ts'
import { audit } from '../../../db/lib/audit.ts'
import { inPlatform } from '../../../db/lib/connection.ts'
import type { PlatformTrx } from '../../../db/lib/connection.ts'
import { admitSuperuser } from '../access/admission.ts'
import type { SuperuserAccess } from '../access/kinds.ts'
import type { Caller } from '../caller.ts'
import type { Call, Entry } from './entry.ts'

/** Lets an operator in; who is refused stands in the trail. */
const admit = async (access: SuperuserAccess, caller: Caller, context: Call['context']) => {
  try {
    return await admitSuperuser(caller, access)
  } catch (error) {
    if (error instanceof ApiError && error.status === 403 && caller.kind === 'user')
      await inPlatform(
        (trx) =>
          audit(trx, {
            action: 'superuser.refused',
            subjectType: access.subject,
            changes: [
              { field: 'action', after: access.action },
              { field: 'code', after: error.code },
            ],
          }),
        context,
      )
    throw error
  }
}

/** Operators of the platform. */
export const superuserEntry = async (
  access: SuperuserAccess,
  { caller, context }: Call,
): Promise<Entry<PlatformTrx>> => {
  const { userId, level } = await admit(access, caller, context)
  return {
    context: { level },
    enter: null,
    open: (work) => inPlatform(work, { ...context, actor: { type: 'superuser', id: userId } }),
  }
}
