import { createHash } from 'node:crypto'
import { tooMany } from '../../config/errors.ts'
import { sql, sqlOne } from '../connection.ts'
import type { AnyTrx } from '../connection.ts'

export type Origin = { address: string; network: string }

// The address that was typed is not kept: its hash is enough to count by.
const accountKey = (email: string) => createHash('sha256').update(`sign-in:${email.toLowerCase()}`).digest()

const throttled = (seconds: number) => tooMany('sign_in_throttled', 'Too many failed sign-ins; wait a little', Math.max(1, Math.ceil(seconds)))

/**
 * Whether this account and address may try now, alike for accounts that do not exist. Failures of others do not keep the owner out: a network from
 * which the account signed in lately is free of the account's delay.
 */
export const assertMayTry = async (trx: AnyTrx, email: string, { address, network }: Origin): Promise<void> => {
  const row = await sqlOne<{ account: number; accountDay: number; sinceLast: number; byAddress: number; byNetwork: number; known: boolean }>(
    trx,
    `select
       (select count(*) from sign_in_failure where account_key = :key and at > now() - interval '15 minutes') as account,
       (select count(*) from sign_in_failure where account_key = :key and at > now() - interval '24 hours') as account_day,
       coalesce((select extract(epoch from now() - max(at)) from sign_in_failure where account_key = :key), 1e6)::float8 as since_last,
       (select count(*) from sign_in_failure where address = :address::inet and at > now() - interval '15 minutes') as by_address,
       (select count(*) from sign_in_failure where network = :network::inet and at > now() - interval '15 minutes') as by_network,
       exists (select 1 from known_network n join app_user u on u.id = n.user_id
         where u.email_key = :email and n.network = :network::inet and n.last_at > now() - interval '30 days') as known`,
    { key: accountKey(email), address, network, email: email.toLowerCase() },
  )
  if (!row) return
  if (row.byAddress >= 20 || row.byNetwork >= 300) throw throttled(60)
  if (row.known) return
  if (row.accountDay >= 50) throw throttled(3_600)
  if (row.account >= 5) {
    const delay = Math.min(60, 2 ** (row.account - 5))
    if (row.sinceLast < delay) throw throttled(delay - row.sinceLast)
  }
}

export const recordFailure = async (trx: AnyTrx, email: string, { address, network }: Origin): Promise<void> => {
  await sql(trx, `insert into sign_in_failure (account_key, address, network) values (?, ?::inet, ?::inet)`, [accountKey(email), address, network])
}

/** A success ends the account's count, and its network is known from now on. */
export const recordSuccess = async (trx: AnyTrx, userId: string, email: string, { network }: Origin): Promise<void> => {
  await sql(trx, `delete from sign_in_failure where account_key = ?`, [accountKey(email)])
  await sql(
    trx,
    `insert into known_network (user_id, network) values (?, ?::inet) on conflict (user_id, network) do update set last_at = now()`,
    [userId, network],
  )
}
