import { unprocessable } from '../../../config/errors.ts'

/** Rules that permitted callers can waive (R8); the permission is checked before a command is called. */
export type OverrideRule = 'early_check_in' | 'unit_condition' | 'barred_guest' | 'deposit' | 'balance'

export type Override = { rules: readonly OverrideRule[]; reason: string }

/** A blocker of a transition; `rule` waives it, null means that nothing does. */
export type Blocker = { code: string; message: string; rule: OverrideRule | null }

/** A blocker where a condition holds. */
export const blocker = (holds: boolean, code: string, message: string, rule: OverrideRule | null = null): Blocker[] =>
  holds ? [{ code, message, rule }] : []

/**
 * 422 `transition_blocked` with every blocker that is not waived, all at once. Answers the override with the rules that were needed, for the event; null
 * where none was.
 */
export const refuseBlocked = (blockers: readonly Blocker[], override: Override | null = null): Override | null => {
  const waived = new Set<OverrideRule>(override?.rules)
  const standing = blockers.filter(({ rule }) => rule === null || !waived.has(rule))
  if (standing.length > 0)
    throw unprocessable(
      'transition_blocked',
      'Something stands in the way',
      standing.map(({ code, message }) => ({ field: `blockers.${code}`, message })),
    )
  const used = [...new Set(blockers.flatMap(({ rule }) => (rule === null ? [] : [rule])))]
  return override && used.length > 0 ? { rules: used, reason: override.reason } : null
}
