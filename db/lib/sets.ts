import { invalid, unprocessable } from '../../config/errors.ts'

/** Refuses the entries of a set that is replaced whole: 422 for an id that the set does not hold, 400 for one that stands twice. */
export const refuseStrangers = (
  field: string,
  entries: readonly { id?: string | undefined }[],
  known: readonly string[],
) => {
  const ids = entries.map((entry) => entry.id)
  const twice = ids.findIndex((id, index) => id !== undefined && ids.indexOf(id) !== index)
  if (twice >= 0) throw invalid([{ field: `${field}.${twice}.id`, message: 'stands twice' }])
  const errors = ids.flatMap((id, index) =>
    id === undefined || known.includes(id) ? [] : [{ field: `${field}.${index}.id`, message: 'is not in the set' }],
  )
  if (errors.length > 0) throw unprocessable('reference_not_found', 'The set does not hold this entry', errors)
}
