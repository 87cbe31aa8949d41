import { createHash } from 'node:crypto'
import { signInLimits as limits } from '../../config/limits.ts'
import { tooMany } from '../../config/errors.ts'
import { sql, sqlOne } from '../connection.ts'
import type { AnyTrx } from '../connection.ts'

export type Origin = { address: string; network: string }

// The address that was typed is not kept: its hash is enough to count by.
const accountKey = (email: string) => createHash('sha256').update(`sign-in:${email.toLowerCase()}`).digest()

const throttled = (seconds: number) =>
  tooMany('sign_in_throttled', 'Too many failed sign-ins; wait a little', Math.max(1, Math.ceil(seconds)))

type Counts = {
  account: number
  accountDay: number
  sinceLast: number
  byAddress: number
  byNetwork: number
  signedIn: number
  known: boolean
}

const refuse = ({ account, accountDay, sinceLast, byAddress, byNetwork, signedIn, known }: Counts): void => {
  if (byAddress >= limits.perAddress || byNetwork >= limits.perNetwork || signedIn >= limits.signInsPerAddressAndHour)
    throw throttled(60)
  // Failures of others do not keep the owner out: where the account signed in from lately, its own count does not stand in the way.
  if (known) return
  if (accountDay >= limits.perAccountAndDay) throw throttled(3_600)
  if (account < limits.perAccount) return
  const delay = Math.min(limits.mostDelaySeconds, 2 ** (account - limits.perAccount))
  if (sinceLast < delay) throw throttled(delay - sinceLast)
}

export type Try = {
  id: number
  /** The account's failures of a day have just reached the limit: its owner should know. */
  alarming: boolean
}

/**
 * Counts a try as a failure before it is one, so that many at once are not all let through, and answers it; 429 `sign_in_throttled` where
 * this account or address must wait. Accounts that do not exist are counted alike.
 */
export const beginTry = async (trx: AnyTrx, email: string, { address, network }: Origin): Promise<Try> => {
  const key = accountKey(email)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended(encode(?::bytea, 'hex'), 13))`, [key])
  const counts = await sqlOne<Counts>(
    trx,
    `select
       (select count(*) from sign_in_failure where account_key = :key and at > now() - make_interval(secs => :window)) as account,
       (select count(*) from sign_in_failure where account_key = :key and at > now() - interval '24 hours') as account_day,
       coalesce((select extract(epoch from clock_timestamp() - max(at)) from sign_in_failure where account_key = :key), 1e6)::float8 as since_last,
       (select count(*) from sign_in_failure where address = :address::inet and at > now() - make_interval(secs => :window)) as by_address,
       (select count(*) from sign_in_failure where network = :network::inet and at > now() - make_interval(secs => :window)) as by_network,
       (select count(*) from session where first_ip = :address::inet and created_at > now() - interval '1 hour') as signed_in,
       exists (select 1 from known_network n join app_user u on u.id = n.user_id
         where u.email_key = :email and n.network = :network::inet and n.last_at > now() - make_interval(days => :days)) as known`,
    { key, address, network, email: email.toLowerCase(), window: limits.windowSeconds, days: limits.knownNetworkDays },
  )
  if (!counts) throw new Error('a row of counts is always there')
  refuse(counts)
  const row = await sqlOne<{ id: number }>(
    trx,
    `insert into sign_in_failure (account_key, address, network, at) values (?, ?::inet, ?::inet, clock_timestamp()) returning id`,
    [key, address, network],
  )
  return { id: row?.id ?? 0, alarming: counts.accountDay + 1 === limits.perAccountAndDay }
}

/** The try was none: the password was never looked at. */
export const forgetTry = async (trx: AnyTrx, { id }: Try): Promise<void> => {
  await sql(trx, `delete from sign_in_failure where id = ?`, [id])
}

/** What failed for an account before does not stand in its way any more. */
export const forgetFailures = async (trx: AnyTrx, email: string): Promise<void> => {
  await sql(trx, `delete from sign_in_failure where account_key = ?`, [accountKey(email)])
}

/** A success ends the account's count, and its network is known from now on. */
export const recordSuccess = async (trx: AnyTrx, userId: string, email: string, { network }: Origin): Promise<void> => {
  await forgetFailures(trx, email)
  await sql(
    trx,
    `insert into known_network (user_id, network) values (?, ?::inet) on conflict (user_id, network) do update set last_at = now()`,
    [userId, network],
  )
}
