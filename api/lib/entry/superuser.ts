import { inPlatform } from '../../../db/lib/connection.ts'
import type { PlatformTrx } from '../../../db/lib/connection.ts'
import { admitSuperuser } from '../access/admission.ts'
import type { SuperuserAccess } from '../access/kinds.ts'
import type { Call, Entry } from './entry.ts'

/** Operators of the platform. */
export const superuserEntry = async (
  access: SuperuserAccess,
  { caller, context }: Call,
): Promise<Entry<PlatformTrx>> => {
  const { userId } = await admitSuperuser(caller, access)
  return {
    context: {},
    enter: null,
    open: (work) => inPlatform(work, { ...context, actor: { type: 'superuser', id: userId } }),
  }
}
