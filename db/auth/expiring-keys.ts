import { apiKeyExpiryNeared } from '../../config/events/auth.ts'
import { warnExpiringKeys } from '../../jobs/auth.ts'
import { enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { ofTenantsHere } from '../lib/moved-out.ts'
import { mailUser } from '../ocp/index.ts'
import { tellOfKey } from './api-keys.ts'

const batch = 100

const warn = async (trx: Trx, apiKeyId: string, days: number): Promise<void> => {
  const warning = await sqlOne<{ id: string }>(
    trx,
    `insert into api_key_warning (tenant_id, api_key_id, days, key_name, expires_at)
       select tenant_id, id, ?, name, expires_at from api_key where id = ?
     on conflict (tenant_id, api_key_id, days, expires_at) do nothing
     returning id`,
    [days, apiKeyId],
  )
  if (!warning) return
  const people = await sql<{ userId: string }>(
    trx,
    `select user_id from membership where status = 'active' and role in ('owner', 'admin') order by user_id`,
  )
  for (const { userId } of people) await mailUser(trx, userId, 'key_expiring', warning.id)
  await tellOfKey(trx, apiKeyId, apiKeyExpiryNeared)
}

/** Tells owner and admins of keys that expire within 30 and within 7 days, once for each; a hundred at a time. */
export const warnOfKeys = async (trx: PlatformTrx): Promise<void> => {
  const found = await sql<{ tenantId: string; apiKeyId: string; days: number }>(
    trx,
    `select tenant_id, api_key_id, days from api_keys_expiring(?)`,
    [batch],
  )
  const here = await ofTenantsHere(trx, found)
  // Before any tenant is entered: the rest belongs to none.
  if (found.length === batch && here.length > 0) await enqueue(trx, warnExpiringKeys, {})
  for (const { tenantId, apiKeyId, days } of here) await warn(await enterTenant(trx, tenantId), apiKeyId, days)
}
