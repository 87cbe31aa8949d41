import type { Trx } from '../../db/lib/connection.ts'
import { createRateChange } from '../../db/properties/rates/rate-changes.ts'
import type { Restriction } from '../../db/properties/rules/restrictions.ts'

type Cell = Partial<Restriction> & {
  ratePlanId?: string | null
  unitTypeId?: string | null
  date: string
}

/** Writes restrictions at the level that each cell names, as staff does: by a change of rates. */
export const writeRestrictions = (trx: Trx, propertyId: string, cells: readonly Cell[]): Promise<string> =>
  createRateChange(trx, {
    propertyId,
    items: cells.map(({ date, ratePlanId, unitTypeId, ...restrictions }) => ({
      from: date,
      to: date,
      ...(ratePlanId ? { ratePlanIds: [ratePlanId] } : {}),
      ...(unitTypeId ? { unitTypeIds: [unitTypeId] } : {}),
      restrictions,
    })),
  })
