import { forbidden, invalid } from '../../config/errors.ts'
import { eventOf, isExact, isOffered, matchesSome } from '../../db/webhooks/index.ts'
import type { EndpointRecord } from '../../db/webhooks/index.ts'
import type { Admission } from '../lib/caller.ts'
import { refuseUnreadable, subjectsOf } from './sight.ts'

/** Refuses patterns that match nothing, and types that the caller may not read. */
export const judgeTypes = (admission: Admission, types: readonly string[], field = 'types'): void => {
  const at = (index: number) => `${field}.${index}`
  const unknown = types.flatMap((pattern, index) =>
    matchesSome(pattern) ? [] : [{ field: at(index), message: `${pattern} matches no type of event` }],
  )
  if (unknown.length > 0) throw invalid(unknown, 'type_unknown', 'A pattern matches no type of event')
  for (const [index, pattern] of types.entries()) {
    refuseUnreadable(admission, pattern, at(index))
    const event = isExact(pattern) ? eventOf(pattern) : undefined
    if (event && !isOffered(event, admission.features))
      throw forbidden('feature_not_enabled', 'The feature of this type is not active for this tenant', [
        { field: at(index), message: 'belongs to a feature that is not active' },
      ])
  }
}

/**
 * Refuses to save an endpoint whose types the caller may not read, also those that stay as they are; and to give what it tells of other properties than the
 * caller's to another address.
 */
export const judgeKept = (
  admission: Admission,
  kept: Pick<EndpointRecord, 'types' | 'propertyIds'>,
  { url, types, propertyIds }: { url?: string | undefined; types?: unknown; propertyIds?: unknown },
): void => {
  if (types === undefined) for (const pattern of kept.types) refuseUnreadable(admission, pattern, 'types')
  const { propertyIds: own } = admission
  if (url === undefined || propertyIds !== undefined || own === null) return
  if (kept.propertyIds.length === 0 || kept.propertyIds.some((id) => !own.includes(id)))
    throw forbidden('forbidden', 'Insufficient permissions: the endpoint tells of properties that are not yours', [
      { field: 'propertyIds', message: 'give those of your properties that it is to tell of' },
    ])
}

/** The subjects of a changed endpoint: those that the author of its types reads; at a new address, no others than its author reads as well. */
export const subjectsAfter = (
  admission: Admission,
  kept: Pick<EndpointRecord, 'subjects'>,
  { url, types }: { url?: string | undefined; types?: unknown },
): string[] | undefined => {
  if (types !== undefined) return subjectsOf(admission)
  if (url === undefined) return undefined
  const own = new Set(subjectsOf(admission))
  return kept.subjects.filter((subject) => own.has(subject))
}

/** The properties of an endpoint: a caller with chosen ones gives no more than these. */
export const reachOf = ({ propertyIds: own }: Admission, given: string[] | undefined): string[] | undefined =>
  own !== null && given?.length === 0 ? own : given
