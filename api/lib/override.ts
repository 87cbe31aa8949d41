import { forbidden } from '../../config/errors.ts'
import { holdingOf, subjectOfRule } from '../../config/override-rules.ts'
import type { Override, OverrideRule } from '../../config/override-rules.ts'
import type { Granted } from '../../db/reservations/index.ts'
import type { Admission, Caller } from './caller.ts'

type Asking = { caller: Caller; admission: Admission }

/** Tells whether the caller may set a rule aside in a property (R8 of reservations.md). API keys never may. */
export const mayOverride = ({ caller, admission }: Asking, rule: OverrideRule): boolean => {
  if (caller.kind !== 'user') return false
  const subject = subjectOfRule(rule)
  if (!admission.can('override', subject)) return false
  return subject === 'Availability' || holdingOf(admission.role).rules.includes(rule)
}

/**
 * The override of a request with what the role may do by it; null where there is none. 403 `override_not_permitted` names each rule that the caller may
 * not set aside, needed or not.
 */
export const grantOverride = (asking: Asking, override: Override | undefined): Granted | null => {
  if (!override) return null
  const refused = override.rules.filter((rule) => !mayOverride(asking, rule))
  if (refused.length > 0)
    throw forbidden(
      'override_not_permitted',
      'Your role may not set this rule aside',
      refused.map((rule) => ({ field: 'override.rules', message: rule })),
    )
  return { ...override, priceCutBps: holdingOf(asking.admission.role).priceCutBps }
}
