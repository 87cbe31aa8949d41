import { forbidden } from '../../config/errors.ts'
import { eventTypes, isOffered, matchesAny } from '../../db/webhooks/index.ts'
import type { Sight } from '../../db/webhooks/index.ts'
import type { Admission } from '../lib/caller.ts'

/** Tells whether a caller reads all events of a subject. A condition on records cannot be asked of an event. */
const reads = ({ ability }: Admission, subject: string): boolean =>
  ability.can('read', subject) && !ability.isConditional('read', subject)

/** Subjects of events that a caller reads. */
export const subjectsOf = (admission: Admission): string[] =>
  [...new Set(eventTypes.map(({ subject }) => subject))].filter((subject) => reads(admission, subject))

/** Refuses a pattern of which the caller may read nothing: `*` means the rest. */
export const refuseUnreadable = (admission: Admission, pattern: string, field: string): void => {
  if (pattern === '*') return
  if (eventTypes.some(({ type, subject }) => matchesAny([pattern], type) && reads(admission, subject))) return
  throw forbidden('forbidden', `Insufficient permissions: you may not read what ${pattern} tells of`, [
    { field, message: 'is not for your role' },
  ])
}

/** Types that a caller is shown: of subjects that they read, and of features that are active. */
export const typesShown = (admission: Admission) =>
  eventTypes.filter((event) => isOffered(event, admission.features) && reads(admission, event.subject))

export const sightOf = (admission: Admission): Sight => ({
  types: typesShown(admission).map(({ type }) => type),
  propertyIds: admission.propertyIds,
})
