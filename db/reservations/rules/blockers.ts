import { unprocessable } from '../../../config/errors.ts'
import type { Override, OverrideRule } from '../../../config/override-rules.ts'

export type { Override, OverrideRule } from '../../../config/override-rules.ts'

/** An override that the caller may make. `priceCutBps`: how far below the price of the plan a manual price may go; null is any. */
export type Granted = Override & { readonly priceCutBps: number | null }

/** A blocker of a transition; `rule` waives it, null means that nothing does. */
export type Blocker = { code: string; message: string; rule: OverrideRule | null }

/** Something that a person should know, and that stops nothing. */
export type Warning = { code: string; message: string }

/** A blocker where a condition holds. */
export const blocker = (holds: boolean, code: string, message: string, rule: OverrideRule | null = null): Blocker[] =>
  holds ? [{ code, message, rule }] : []

export const warning = (holds: boolean, code: string, message: string): Warning[] => (holds ? [{ code, message }] : [])

export const isWaived = (override: Override | null, rule: OverrideRule): boolean =>
  override?.rules.includes(rule) ?? false

/** The override with the rules that were needed, for the event; null where none was. */
export const usedOverride = (override: Override | null, needed: readonly (OverrideRule | null)[]): Override | null => {
  const rules = [...new Set(needed)].flatMap((rule) => (rule !== null && isWaived(override, rule) ? [rule] : []))
  return override && rules.length > 0 ? { rules, reason: override.reason } : null
}

/**
 * 422 `transition_blocked` with every blocker that is not waived, all at once. Answers the override with the rules that were needed, for the event; null
 * where none was.
 */
export const refuseBlocked = (blockers: readonly Blocker[], override: Override | null = null): Override | null => {
  const standing = blockers.filter(({ rule }) => rule === null || !isWaived(override, rule))
  if (standing.length > 0)
    throw unprocessable(
      'transition_blocked',
      'Something stands in the way',
      standing.map(({ code, message }) => ({ field: `blockers.${code}`, message })),
    )
  return usedOverride(
    override,
    blockers.map(({ rule }) => rule),
  )
}
