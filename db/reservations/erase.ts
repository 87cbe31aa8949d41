import { sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'

/** Ids of bookings whose hold ended unconfirmed 30 days ago and that still hold personal data. */
export const erasableHolds = (trx: PlatformTrx, most = 500): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from ended_holds_unerased(?)`, [most])

/**
 * Erases what strangers said of themselves with holds that came to nothing; guest tokens of them end too. The condition is that of `ended_holds_unerased`, so
 * whatever it finds is done. Of a booking that was confirmed in part its guest keeps what is his, and the rooms that were not are erased.
 */
export const eraseHolds = (trx: Trx, bookingIds: readonly string[]) =>
  sql(
    trx,
    `with erased as (
       update booking set sealed = null, email_index = case when booker_guest_id is not null then email_index end,
         address_hash = case when booker_guest_id is not null then address_hash end,
         accepted_terms = case when booker_guest_id is not null then accepted_terms end,
         guest_tokens_valid_from = case when booker_guest_id is not null then guest_tokens_valid_from else now() end, version = version + 1
       where id = any(?::uuid[]) and sealed is not null and ended_at < now() - interval '30 days' returning tenant_id, id, booker_guest_id)
     update reservation r set requests = null, version = r.version + 1 from erased e
     where r.tenant_id = e.tenant_id and r.booking_id = e.id and (e.booker_guest_id is null or r.confirmed_at is null) and r.requests is not null`,
    [bookingIds],
  )

/** Access codes over a day old and strikes over a week old, of one tenant. */
export const purgeAccess = async (trx: Trx): Promise<void> => {
  await sql(trx, `delete from guest_access_code where created_at < now() - interval '1 day'`)
  await sql(trx, `delete from hold_strike where expired_at < now() - interval '7 days'`)
}

/** Tenants that have something to purge. */
export const purgeableTenants = (trx: PlatformTrx): Promise<{ tenantId: string }[]> =>
  sql<{ tenantId: string }>(trx, `select tenant_id from access_purgeable()`)
