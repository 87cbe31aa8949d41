import { isOfGuest } from '../guests/index.ts'
import { preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Stay } from './rules/automation-conditions.ts'

/**
 * Money of a booking, for conditions and texts: `b` is the booking. Paid is what payments have put on it, wherever they were made for, less what goes back; ended rooms
 * cost their fee. Payments are looked up target by target, so that no plan reads all of them.
 */
export const bookingMoney = `
  (select coalesce(sum(case when x.status in ('cancelled', 'no_show', 'expired') then coalesce(x.fee_amount, 0) else x.total end), 0)
   from reservation x where x.tenant_id = b.tenant_id and x.booking_id = b.id)::bigint as booking_total,
  (select jsonb_build_object('paid', coalesce(sum(a.paid), 0), 'returned', coalesce(sum(p.returned), 0))
   from (
     select 'booking' as type, b.id union all select 'reservation', x.id from reservation x where x.tenant_id = b.tenant_id and x.booking_id = b.id
     union all select 'folio', f.id from reservation x join folio f on f.tenant_id = x.tenant_id and f.reservation_id = x.id
     where x.tenant_id = b.tenant_id and x.booking_id = b.id) t
   cross join lateral (select sum(a.amount) as paid from payment_allocation a
     where a.tenant_id = b.tenant_id and a.target_type = t.type and a.target_id = t.id offset 0) a
   cross join lateral (select sum(p.refund_reserved) as returned from payment p
     where p.tenant_id = b.tenant_id and p.target_type = t.type and p.target_id = t.id offset 0) p) as money`

export type BookingMoney = { bookingTotal: number; money: { paid: number; returned: number } }

/** A reservation as automations see it; null where there is none. */
export const readStay = async (trx: Trx, reservationId: string): Promise<Stay | null> => {
  const row = await preparedOne<Omit<Stay, 'balanceDue'> & BookingMoney>(
    trx,
    `select r.id, r.booking_id, r.property_id, r.status, r.unit_type_id, r.rate_plan_id, b.source, r.arrival, r.departure,
       r.departure - r.arrival as nights, coalesce(g.language, b.language) as language, coalesce(r.primary_guest_id, b.booker_guest_id) as guest_id,
       r.children_ages, b.created_at as booked_at, r.confirmed_at, r.actual_check_in_at as checked_in_at, r.actual_check_out_at as checked_out_at,
       exists (select from reservation o where o.tenant_id = r.tenant_id and ${isOfGuest('o.primary_guest_id', 'r.primary_guest_id')} and o.id <> r.id
         and o.status in ('checked_in', 'checked_out')) as returning,
       p.timezone as time_zone, p.check_in_from, p.check_out_until, ${bookingMoney}
     from reservation r
     join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     join property p on p.tenant_id = r.tenant_id and p.id = r.property_id
     left join guest g on g.tenant_id = r.tenant_id and g.id = case when r.primary_guest_id is null then b.booker_guest_id else r.primary_guest_id end
     where r.id = ?`,
    [reservationId],
  )
  if (!row) return null
  const { bookingTotal, money, ...stay } = row
  return { ...stay, balanceDue: bookingTotal > money.paid }
}
