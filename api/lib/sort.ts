import { invalid } from '../../config/errors.ts'
import { Opt, Text } from '../../config/schema.ts'

/** `sort=field,-field`; a minus is descending. */
export const SortQuery = { sort: Opt(Text(1, 200)) }

/** Fields to sort by, of those that a list declares. 400 for any other, and for one that is named twice. */
export const sortOf = <F extends string>(
  text: string | undefined,
  allowed: readonly F[],
  usual: string,
): { field: F; descending: boolean }[] => {
  const parts = (text ?? usual).split(',').map((part) => {
    const descending = part.startsWith('-')
    const field = allowed.find((known) => known === (descending ? part.slice(1) : part))
    if (field === undefined)
      throw invalid([{ field: 'sort', message: `must be among ${allowed.join(', ')}, with - for descending` }])
    return { field, descending }
  })
  if (new Set(parts.map((part) => part.field)).size < parts.length)
    throw invalid([{ field: 'sort', message: 'must name each field once' }])
  return parts
}
