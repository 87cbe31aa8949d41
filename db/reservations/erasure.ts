import type { Blocker } from '../guests/index.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** Stays and folios that keep a guest from being erased. They are stays to come or under way, and folios with money owed by or to the guest. */
export const erasureBlockers = async (trx: Trx, guestIds: readonly string[]): Promise<Blocker[]> => {
  const [stays, folios] = await Promise.all([
    prepared<{ number: string; status: string }>(
      trx,
      `select distinct b.number || '-' || r.position as number, r.status from reservation r
       join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
       left join reservation_guest n on n.tenant_id = r.tenant_id and n.reservation_id = r.id
       where r.status in ('held', 'confirmed', 'checked_in') and (n.guest_id = any(?::uuid[]) or b.booker_guest_id = any(?::uuid[]))
       order by 1 limit 20`,
      [guestIds, guestIds],
    ),
    prepared<{ number: string }>(
      trx,
      `select f.number from folio f left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
       where f.charges <> f.credits and (f.payer_guest_id = any(?::uuid[]) or r.primary_guest_id = any(?::uuid[]))
       order by 1 limit 20`,
      [guestIds, guestIds],
    ),
  ])
  return [
    ...stays.map(({ number, status }) => ({
      code: 'active_reservation' as const,
      message: `stay ${number} is ${status.replaceAll('_', ' ')}`,
    })),
    ...folios.map(({ number }) => ({ code: 'open_balance' as const, message: `folio ${number} has a balance` })),
  ]
}
