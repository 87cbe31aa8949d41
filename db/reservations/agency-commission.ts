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
const reversed = 'reservations.agency_commission_reversed'

/**
 * Commission that the agency of a booking `b` is owed for its stay `r`, as SQL in minor units: what was accrued when the guests left. Before that, the share of the
 * nights that are charged, with their adjustments, and of those that are still to be charged.
 */
export const owedToAgency = `(case when b.agency_id is null or coalesce(b.commission_rate, 0) = 0 then 0
  when r.status = 'checked_out' then coalesce((
    select cast(e.payload -> 'amounts' ->> 'amount' as bigint) from posting_event e
    where e.tenant_id = r.tenant_id and e.event = '${accrued}' and e.source_id = r.id and not exists (
      select from posting_event o where o.tenant_id = e.tenant_id and o.event = '${reversed}' and o.source_id = e.source_id and o.source_seq = e.source_seq)
    order by e.source_seq desc limit 1), 0)
  else cast(greatest(0, round(b.commission_rate / 10000.0 * (
    (with recursive tree as (
       select l.tenant_id, l.id, l.kind, l.amount from folio_line l where l.tenant_id = r.tenant_id and l.source_type = 'reservation_night'
         and l.source_id = r.id and l.kind = 'charge' and l.category = 'room'
       union all select l.tenant_id, l.id, l.kind, l.amount from tree t join folio_line l on l.tenant_id = t.tenant_id and l.original_line_id = t.id
         where l.kind in ('adjustment', 'transfer_in') and l.category = 'room')
     select coalesce(sum(t.amount) filter (where t.kind <> 'transfer_in'), 0) from tree t)
    + (select coalesce(sum(n.amount - (select coalesce(sum(greatest(0, cast(x ->> 'amount' as bigint))), 0) from jsonb_array_elements(n.components) x)), 0)
       from reservation_night n where n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status = 'open')))) as bigint) end)`

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
    event: reversed,
    source,
    propertyId: stay.propertyId,
    reversesEventId,
  })
}
