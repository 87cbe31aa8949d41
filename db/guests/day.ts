import { unprocessable } from '../../config/errors.ts'
import { todayIn } from '../../config/time.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { presentDay } from '../units/index.ts'

/**
 * The present day of a house. Without one the earliest day of all houses, since guests are of all of them: a block begins in each at once, and a document is
 * good until the last house has left its day. 422 `reference_not_found`.
 */
export const dayOf = async (trx: Trx, propertyId: string | null = null): Promise<string> => {
  const row = await sqlOne<{ day: string }>(
    trx,
    `select min(${presentDay('y')})::date as day from property y where y.id = ? or (?::uuid is null and y.status <> 'archived') having count(*) > 0`,
    [propertyId, propertyId],
  )
  if (!row && propertyId !== null)
    throw unprocessable('reference_not_found', 'There is no such property', [
      { field: 'propertyId', message: 'does not exist' },
    ])
  return row?.day ?? todayIn('UTC')
}
