import { postingEventOf, raisePosting } from '../financial/index.ts'
import { shareOf } from '../lib/amounts.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'

type Stay = Pick<ReservationRow, 'id' | 'propertyId'>

/** The charges of the nights of a stay less what was taken off them, wherever they stand, and how often its guests have left. */
const nightsOf = async (trx: Trx, stayId: string) =>
  (await sqlOne<{ amount: number; departures: number }>(
    trx,
    `with recursive tree as (
       select l.id, l.kind, l.amount from folio_line l
         where l.source_type = 'reservation_night' and l.source_id = ? and l.kind = 'charge' and l.category = 'room'
       union all select l.id, l.kind, l.amount from tree t join folio_line l on l.original_line_id = t.id
         where l.kind in ('adjustment', 'transfer_in') and l.category = 'room')
     select coalesce(sum(amount) filter (where kind <> 'transfer_in'), 0)::bigint as amount,
       (select count(*)::int from reservation_event e where e.reservation_id = ? and e.transition = 'T16') as departures
     from tree`,
    [stayId, stayId],
  ))!

const accrued = 'reservations.agency_commission_accrued'

/** Accrues the commission of the agency that made a booking, once for each departure of a stay (R43). After the departure is recorded. */
export const accrueCommission = async (trx: Trx, { agencyId, commissionRate }: BookingRow, stay: Stay) => {
  if (agencyId === null || !commissionRate) return
  const { amount: base, departures } = await nightsOf(trx, stay.id)
  const amount = shareOf(base, commissionRate)
  if (amount <= 0) return
  await raisePosting(trx, {
    event: accrued,
    source: { id: stay.id, seq: departures },
    propertyId: stay.propertyId,
    payload: { amounts: { amount } },
  })
}

/** Takes back what the departure of a stay has accrued. */
export const takeBackCommission = async (trx: Trx, { agencyId }: BookingRow, stay: Stay) => {
  if (agencyId === null) return
  const source = { id: stay.id, seq: (await nightsOf(trx, stay.id)).departures }
  const reversesEventId = await postingEventOf(trx, accrued, source)
  if (reversesEventId === null) return
  await raisePosting(trx, {
    event: 'reservations.agency_commission_reversed',
    source,
    propertyId: stay.propertyId,
    reversesEventId,
  })
}
