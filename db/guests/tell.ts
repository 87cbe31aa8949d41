import { guestChanged } from '../../config/events/guests.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { GuestRow } from '../rows.ts'

type Told = Pick<GuestRow, 'id' | 'source' | 'version'>

/** Tells that parts of a profile changed: by their names alone, since values of a person do not leave by events. */
export const tellChanged = (trx: Trx, { id, source, version }: Told, fields: readonly string[]) =>
  emit(trx, guestChanged, {
    propertyId: null,
    id,
    version,
    data: { guestId: id, source },
    changed: fields.map((field) => ({ field, before: null, after: null })),
  })
