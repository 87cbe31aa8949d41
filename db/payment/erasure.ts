import type { Blocker } from '../guests/index.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** Payments whose outcome is not known yet, or which are disputed, of bookings and folios of a guest: they keep the guest from being erased. */
export const paymentErasureBlockers = async (trx: Trx, guestIds: readonly string[]): Promise<Blocker[]> => {
  const rows = await prepared<{ id: string; disputed: boolean }>(
    trx,
    `select p.id, p.disputed_amount > 0 as disputed from payment p
     where ((p.target_type = 'reservation' and p.target_id in (select r.id from reservation r where r.primary_guest_id = any(?::uuid[])))
       or (p.target_type = 'booking' and p.target_id in (select b.id from booking b where b.booker_guest_id = any(?::uuid[])))
       or (p.target_type = 'folio' and p.target_id in (select f.id from folio f left join reservation r on r.tenant_id = f.tenant_id
         and r.id = f.reservation_id where f.payer_guest_id = any(?::uuid[]) or r.primary_guest_id = any(?::uuid[]))))
       and (p.disputed_amount > 0 or p.status in ('created', 'requires_action', 'processing', 'unknown', 'authorised')
         or exists (select from refund u where u.tenant_id = p.tenant_id and u.payment_id = p.id and u.status in ('requested', 'processing', 'unknown')))
     order by p.id limit 20`,
    [guestIds, guestIds, guestIds, guestIds],
  )
  return rows.map(({ id, disputed }) =>
    disputed
      ? { code: 'open_dispute', message: `payment ${id} is disputed` }
      : { code: 'payment_in_progress', message: `payment ${id} is in progress` },
  )
}
