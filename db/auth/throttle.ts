import { createHash } from 'node:crypto'
import { signInLimits as limits } from '../../config/limits.ts'
import { tooMany } from '../../config/errors.ts'
import { lastly, prepared, preparedOne, sql } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { signInColumns } from './users.ts'
import type { SignInUser } from './users.ts'

export type Origin = { address: string; network: string }

// The address that was typed is not kept: its hash is enough to count by.
const accountKey = (email: string) => createHash('sha256').update(`sign-in:${email.toLowerCase()}`).digest('hex')

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
  account: string
  at: string
  /** The account's failures of a day have just reached the limit: its owner should know. */
  alarming: boolean
}

type Begun = { attempt: Try; user: SignInUser | null }
type CountedUser = Counts & { at: string } & (SignInUser | { [Field in keyof SignInUser]: null })

/**
 * Counts a try as a failure before it is one, so that many at once are not all let through, and answers it with whose account it is; 429
 * `sign_in_throttled` where this account or address must wait. Accounts that do not exist are counted alike. The failure is written with the
 * commit, and is what the transaction ends with.
 */
export const beginTry = async (trx: AnyTrx, email: string, { address, network }: Origin): Promise<Begun> => {
  const account = accountKey(email)
  // Tries of one account, and those of one network, are counted one after the other, by whatever process.
  const line = prepared(
    trx,
    `select pg_advisory_xact_lock(hashtextextended(?, 13)), pg_advisory_xact_lock(hashtextextended(?, 13))`,
    [account, `network:${network}`],
  )
  const counted = preparedOne<CountedUser>(
    trx,
    `select
       (select count(*) from sign_in_failure where account_key = decode(:key, 'hex') and at > now() - make_interval(secs => ${limits.windowSeconds})) as account,
       (select count(*) from sign_in_failure where account_key = decode(:key, 'hex') and at > now() - interval '24 hours') as account_day,
       coalesce((select extract(epoch from c.at - max(f.at)) from sign_in_failure f where f.account_key = decode(:key, 'hex')), 1e6)::float8 as since_last,
       (select count(*) from sign_in_failure where address = :address::inet and at > now() - make_interval(secs => ${limits.windowSeconds})) as by_address,
       (select count(*) from sign_in_failure where network = :network::inet and at > now() - make_interval(secs => ${limits.windowSeconds})) as by_network,
       (select count(*) from session where first_ip = :address::inet and created_at > now() - interval '1 hour') as signed_in,
       exists (select 1 from known_network n
         where n.user_id = u.id and n.network = :network::inet and n.last_at > now() - make_interval(days => ${limits.knownNetworkDays})) as known,
       c.at::text as at, ${signInColumns}
     from (select clock_timestamp() as at) c left join app_user u on u.email_key = lower(:email)`,
    { key: account, address, network, email },
  )
  const [, row] = await Promise.all([line, counted])
  if (!row) throw new Error('a row of counts is always there')
  refuse(row)
  const { at } = row
  lastly(trx, {
    text: `insert into sign_in_failure (account_key, address, network, at) values (decode(?, 'hex'), ?::inet, ?::inet, ?::timestamptz)`,
    bindings: [account, address, network, at],
  })
  const attempt = { account, at, alarming: row.accountDay + 1 === limits.perAccountAndDay }
  return { attempt, user: row.id === null ? null : row }
}

/** The try was none: the password was never looked at. */
export const forgetTry = async (trx: AnyTrx, { account, at }: Try): Promise<void> => {
  await prepared(trx, `delete from sign_in_failure where account_key = decode(?, 'hex') and at = ?::timestamptz`, [
    account,
    at,
  ])
}

/** Clears the counted failures of an account. */
export const forgetFailures = async (trx: AnyTrx, email: string): Promise<void> => {
  await sql(trx, `delete from sign_in_failure where account_key = decode(?, 'hex')`, [accountKey(email)])
}

/** SQL for a success, for the `with` of another statement: it clears the account's count and remembers the network. */
export const successOf = (
  userId: string,
  email: string,
  { network }: Origin,
): { text: string; bindings: Record<string, unknown> } => ({
  text: `forgotten as (delete from sign_in_failure where account_key = decode(:accountKey, 'hex')),
    known as (insert into known_network (user_id, network) values (:userId, :network::inet) on conflict (user_id, network) do update set last_at = now())`,
  bindings: { accountKey: accountKey(email), userId, network },
})
