import { notFound } from '../../config/errors.ts'
import { hasChannels, requestMarks } from './channel-marks.ts'
import type { Dirty } from './channel-marks.ts'
import { sqlOne } from './connection.ts'
import type { Trx } from './connection.ts'

/**
 * Raises `publicVersion`: whatever changes what a property sells or shows ends with it, so that no cache outlives the change.
 * Locks the property's row, so it never stands in a booking's transaction. `told`: what its channels are to be told of; everything unless
 * said, and nothing where the change is of no price, restriction, status or type.
 */
export const changePortal = async (
  trx: Trx,
  propertyId: string,
  told: Omit<Dirty, 'propertyId'> | 'nothing' = { kind: 'all' },
): Promise<number> => {
  const row = await sqlOne<{ publicVersion: number; hasChannels: boolean }>(
    trx,
    `with changed as (update property set public_version = public_version + 1 where id = ? returning id, tenant_id, slug, status, public_version),
       directory as (
         insert into property_directory (property_id, tenant_id, slug, status, public_version)
         select id, tenant_id, slug, status, public_version from changed
         on conflict (property_id) do update set slug = excluded.slug, status = excluded.status, public_version = excluded.public_version)
     select y.public_version, ${hasChannels('y')} as has_channels from changed y`,
    [propertyId],
  )
  if (!row) throw notFound()
  if (row.hasChannels && told !== 'nothing') await requestMarks(trx, { propertyId, ...told })
  return row.publicVersion
}
