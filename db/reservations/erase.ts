import { sql } from '../connection.ts'
import type { PlatformTrx, Trx } from '../connection.ts'

/** Bookings whose hold ended unconfirmed 30 days ago and still say who it was: ids alone. */
export const erasableHolds = (trx: PlatformTrx, most = 500): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from ended_holds_unerased(?)`, [most])

/** Erases what strangers said of themselves with holds that came to nothing; guest tokens of them end too. */
export const eraseHolds = async (trx: Trx, bookingIds: readonly string[]): Promise<void> => {
  await sql(
    trx,
    `update booking set sealed = null, email_index = null, address_hash = null, accepted_terms = null, guest_tokens_valid_from = now(), version = version + 1
     where id = any(?::uuid[]) and booker_guest_id is null and ended_at < now() - interval '30 days'`,
    [bookingIds],
  )
  await sql(
    trx,
    `update reservation set requests = null, version = version + 1 where booking_id = any(?::uuid[]) and requests is not null`,
    [bookingIds],
  )
}

/** Access codes over a day old and strikes over a week old, of one tenant. */
export const purgeAccess = async (trx: Trx): Promise<void> => {
  await sql(trx, `delete from guest_access_code where created_at < now() - interval '1 day'`)
  await sql(trx, `delete from hold_strike where expired_at < now() - interval '7 days'`)
}

/** Tenants that have something to purge. */
export const purgeableTenants = (trx: PlatformTrx): Promise<{ tenantId: string }[]> =>
  sql<{ tenantId: string }>(trx, `select tenant_id from access_purgeable()`)
