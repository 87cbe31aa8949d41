import { forbidden } from '../../config/errors.ts'
import { isGrantable } from '../../config/roles.ts'
import type { Giver } from '../../db/auth/index.ts'
import { requireSession } from '../lib/access/admission.ts'
import type { Admission, Caller } from '../lib/caller.ts'

/** A signed-in user who changes members or roles, with the rank and the houses that bound what may be changed. */
export const giver = (caller: Caller, { role, propertyIds }: Admission): Giver => {
  requireSession(caller)
  return { userId: caller.userId, role: role ?? '', propertyIds }
}

/** Refuses a role with more permissions than the caller has. */
export const assertHolds = (
  { can }: Admission,
  permissions: readonly { subject: string; actions: readonly string[] }[] = [],
): void => {
  if (
    permissions.some(({ subject, actions }) =>
      actions.some((action) => isGrantable(subject, action) && !can(action, subject)),
    )
  )
    throw forbidden('forbidden', 'Insufficient permissions: a role cannot have more than you have yourself')
}
