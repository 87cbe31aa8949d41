import { folioOpened } from '../../../config/events/folios.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import type { FolioRow } from '../../rows.ts'
import { factOf } from './open.ts'

/**
 * Opens new primary folios in the place of locked ones that are billed, and take no charge any more (R36). Answers them by the ids of the old ones. The stays
 * are locked.
 */
export const renewPrimaries = async (trx: Trx, billed: readonly FolioRow[]): Promise<Map<string, FolioRow>> => {
  if (billed.length === 0) return new Map()
  const { tenantId } = contextOf(trx)
  const ids = billed.map(({ id }) => id)
  await sql(
    trx,
    `update folio set is_primary = false, version = version + 1 where tenant_id = ? and id = any(?::uuid[]) and is_primary`,
    [tenantId, ids],
  )
  const made = await sql<FolioRow>(
    trx,
    `insert into folio (property_id, number, kind, reservation_id, is_primary, payer_guest_id, stage, currency)
     select f.property_id, b.number || '-' || r.position || '-' || (select count(*) + 1 from folio o where o.tenant_id = f.tenant_id and o.reservation_id = r.id),
       'guest', r.id, true, r.primary_guest_id, 'guest', f.currency
     from folio f join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     where f.tenant_id = ? and f.id = any(?::uuid[]) order by r.id returning *`,
    [tenantId, ids],
  )
  await emitAll(
    trx,
    folioOpened,
    made.map((folio) => factOf(folio)),
  )
  return new Map(
    billed.flatMap((one) => {
      const folio = made.find(({ reservationId }) => reservationId === one.reservationId)
      return folio ? [[one.id, folio]] : []
    }),
  )
}
