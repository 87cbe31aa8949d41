import { folioOpened } from '../../../config/events/folios.ts'
import { prepared, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import type { FolioRow, ReservationRow } from '../../rows.ts'

/** A folio as events tell of it. */
export const factOf = ({
  id,
  propertyId,
  version,
  number,
  kind,
  reservationId,
  groupId,
  balance,
  currency,
}: FolioRow) => ({
  propertyId,
  id,
  version,
  data: { folioId: id, number, kind, reservationId, groupId, balance, currency },
})

/** Opens the primary folio of each reservation that has none, and locks them all. Ordered as the reservations. */
export const openPrimaryFolios = async (trx: Trx, reservations: readonly ReservationRow[]): Promise<FolioRow[]> => {
  const made = await prepared<FolioRow>(
    trx,
    `insert into folio (property_id, number, kind, reservation_id, is_primary, payer_guest_id, currency)
     select r.property_id, b.number || '-' || r.position || '-1', 'guest', r.id, true, r.primary_guest_id, r.currency
     from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = any(?::uuid[]) order by r.id
     on conflict (tenant_id, reservation_id) where is_primary do nothing returning *`,
    [reservations.map((one) => one.id)],
  )
  await emitAll(
    trx,
    folioOpened,
    made.map((folio) => factOf(folio)),
  )
  const folios =
    made.length === reservations.length
      ? made
      : await sql<FolioRow>(
          trx,
          `select * from folio where reservation_id = any(?::uuid[]) and is_primary order by id for no key update`,
          [reservations.map((one) => one.id)],
        )
  const of = new Map(folios.map((folio) => [folio.reservationId, folio]))
  return reservations.map((one) => {
    const folio = of.get(one.id)
    if (!folio) throw new Error(`reservation ${one.id} has no primary folio`)
    return folio
  })
}
