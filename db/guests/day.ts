import { unprocessable } from '../../config/errors.ts'
import { boundTenant } from '../lib/bound-tenant.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { presentDay } from '../units/index.ts'

/** The present day of the tenant, as SQL: its time zone counts what is of no house, such as deadlines of privacy requests. */
export const tenantDay = `(select (now() at time zone o.time_zone)::date from tenant o where o.id = ${boundTenant})`

/**
 * The present day of a house. Without one the earliest day of all houses, since guests are of all of them: a block begins in each at once, and a document is
 * good until the last house has left its day. 422 `reference_not_found`.
 */
export const dayOf = async (trx: Trx, propertyId: string | null = null): Promise<string> => {
  const row = await sqlOne<{ day: string; ofHouses: string | null }>(
    trx,
    `select ${tenantDay} as day, (select min(${presentDay('y')}) from property y
       where y.id = ? or (?::uuid is null and y.status <> 'archived')) as of_houses`,
    [propertyId, propertyId],
  )
  const ofHouses = row?.ofHouses ?? null
  if (ofHouses === null && propertyId !== null)
    throw unprocessable('reference_not_found', 'There is no such property', [
      { field: 'propertyId', message: 'does not exist' },
    ])
  return ofHouses ?? row?.day ?? ''
}
