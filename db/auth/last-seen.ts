import type { readSeen } from '../../config/last-seen.ts'
import { byTenant } from '../lib/by-tenant.ts'
import { enterTenant, sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { ofTenantsHere } from '../lib/moved-out.ts'

type Entry = NonNullable<ReturnType<typeof readSeen>>

const columns = (entries: Entry[]) => [
  entries.map(({ seen }) => seen.id),
  entries.map(({ at }) => at.toISOString()),
  entries.map(({ address }) => address),
]

/** Writes down when sessions and keys were last used, and from where; the newest time wins. */
export const writeLastSeen = async (trx: PlatformTrx, entries: Entry[]): Promise<void> => {
  const sessions = entries.filter(({ seen }) => seen.kind === 'session')
  await sql(
    trx,
    `update session s set last_seen_at = v.at, last_ip = v.ip from unnest(?::uuid[], ?::timestamptz[], ?::inet[]) as v (id, at, ip)
     where s.id = v.id and s.last_seen_at < v.at`,
    columns(sessions),
  )
  const ofKeys = entries.flatMap((entry) =>
    entry.seen.kind === 'api_key' ? [{ ...entry, tenantId: entry.seen.tenantId }] : [],
  )
  for (const [tenantId, keys] of byTenant(await ofTenantsHere(trx, ofKeys)))
    await sql(
      await enterTenant(trx, tenantId),
      `update api_key k set last_used_at = v.at, last_used_ip = v.ip from unnest(?::uuid[], ?::timestamptz[], ?::inet[]) as v (id, at, ip)
       where k.id = v.id and (k.last_used_at is null or k.last_used_at < v.at)`,
      columns(keys),
    )
}

const batch = 5_000
const over = [
  ['session', `coalesce(revoked_at, absolute_expires_at) < now() - interval '90 days'`],
  ['one_time_token', `expires_at < now() - interval '7 days'`],
  ['password_request', `created_at < now() - interval '1 day'`],
  ['user_mail', `created_at < now() - interval '30 days' and status <> 'queued'`],
  ['sign_in_failure', `at < now() - interval '25 hours'`],
  ['known_network', `last_at < now() - interval '30 days'`],
  ['usage_event', `at < now() - interval '60 days'`],
  ['kept_reply', `created_at < now() - interval '72 hours'`],
] as const

/** Deletes what has been kept for its time: at most 5,000 rows of each table. Answers whether more is left. */
export const purgeOver = async (trx: PlatformTrx): Promise<boolean> => {
  let more = false
  for (const [table, condition] of over) {
    const [row] = await sql<{ n: number }>(
      trx,
      `with gone as (delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${batch})) returning 1) select count(*) as n from gone`,
    )
    more ||= (row?.n ?? 0) === batch
  }
  return more
}
