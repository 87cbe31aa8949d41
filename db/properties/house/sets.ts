import { invalid, unprocessable } from '../../../config/errors.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'

/** The end of every replacement of a set: the version that the next `If-Match` names, and the event. What guests see of it, its writer announces. */
export const closeSet = async (trx: Trx, propertyId: string, set: string): Promise<void> => {
  const row = await sqlOne<{ version: number }>(
    trx,
    `update property set version = version + 1 where id = ? returning version`,
    [propertyId],
  )
  await emit(trx, {
    type: 'property.changed',
    propertyId,
    entity: { type: 'property', id: propertyId, version: row?.version ?? null },
    data: { propertyId, set },
  })
}

/** 422 for an id that the set does not hold, and 400 for one that stands twice. */
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
