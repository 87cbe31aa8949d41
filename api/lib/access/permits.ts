import { caller, ofPropertyAlone } from '../../../config/conditions.ts'
import { forbidden, notFound } from '../../../config/errors.ts'
import { holds, substituted } from '../../../db/lib/conditions.ts'
import type { Condition } from '../../../db/lib/conditions.ts'
import type { Ability } from '../../../db/lib/ability.ts'

type LoadedRecord = Readonly<Record<string, unknown>>

export type Permits = {
  /** Tells whether the action is allowed on some records of the subject. */
  can: (action: string, subject: string) => boolean
  /** Tells whether the role reads this field of the subject. */
  sees: (subject: string, field: string) => boolean
  /** Tells whether personal data of the subject are masked for the role. */
  isMasked: (subject: string) => boolean
  /** The records that the action is for: lists, sums and loads take it as SQL. */
  scope: (action: string, subject: string) => Condition
  /**
   * Checks a loaded record, or the one to be made, against the conditions of the action. 404 where the caller may not know of it, 403 where he
   * may. Every field that a condition asks for must be there.
   */
  check: (action: string, subject: string, record: LoadedRecord) => void
  /** The fields of a record that the role reads. */
  visible: <R extends object>(subject: string, record: R) => R
  /** Throws where the role has a condition for the action that the endpoint has not asked for: nothing is answered then. */
  settled: (action: string, subject: string) => void
  ability: Ability
}

/** Permits of a caller from an ability. */
export const permitsOf = (ability: Ability, propertyIds: readonly string[] | null, callerId: string): Permits => {
  const asked = new Set<string>()
  const scope = (action: string, subject: string) => {
    asked.add(subject)
    return substituted(ability.condition(action, subject), caller, callerId)
  }
  const isElsewhere = (subject: string, { propertyId }: LoadedRecord) =>
    propertyIds !== null &&
    (typeof propertyId === 'string' ? !propertyIds.includes(propertyId) : ofPropertyAlone.has(subject))
  return {
    can: (action, subject) => ability.can(action, subject),
    sees: (subject, field) => ability.can('read', subject, field),
    isMasked: (subject) => ability.isMasked(subject),
    scope,
    check: (action, subject, record) => {
      const hidden =
        isElsewhere(subject, record) || (ability.can('read', subject) && !holds(scope('read', subject), record))
      if (hidden && action !== 'create') throw notFound()
      if (!holds(scope(action, subject), record)) throw forbidden()
    },
    visible: (subject, record) =>
      Object.fromEntries(
        Object.entries(record).filter(([field]) => ability.can('read', subject, field)),
      ) as typeof record,
    settled: (action, subject) => {
      if (ability.isConditional(action, subject) && !asked.has(subject))
        throw new Error(`the conditions of ${action} ${subject} were not asked for`)
    },
    ability,
  }
}
