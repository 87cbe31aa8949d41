import { forbidden, notFound } from '../../../config/errors.ts'
import type { Admission } from '../caller.ts'
import type { Input } from '../input.ts'

/** Every property that a query or body names, however deep. */
const namedIn = (value: unknown): unknown[] => {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(namedIn)
  return Object.entries(value).flatMap(([key, inside]: [string, unknown]) =>
    key === 'propertyId' || key === 'propertyIds' ? [inside].flat() : namedIn(inside),
  )
}

/**
 * A caller with chosen properties may not name another one in query or body, and does not find one by its path. Records known by their
 * id are looked for among the chosen ones.
 */
export const within = ({ propertyIds }: Admission, input: Input): Input => {
  if (propertyIds === null) return input
  const { propertyId } = input.params
  if (propertyId !== undefined && !propertyIds.includes(propertyId)) throw notFound()
  const isOther = (id: unknown) => typeof id === 'string' && !propertyIds.includes(id)
  if ([...namedIn(input.query), ...namedIn(input.body)].some(isOther)) throw forbidden()
  return input
}
