import { ChannelRevision, pullEverySeconds } from '../../config/channels.ts'
import { channelAttentionNeeded } from '../../config/events/channels.ts'
import { compile } from '../../config/validator.ts'
import { logOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ChannelConnectionRow } from '../rows.ts'
import { accountOf } from './account.ts'
import type { ChannelAccount } from './account.ts'
import { tellOfConnection } from './connections.ts'
import { lockConnection } from './lifecycle.ts'
import { problemsOf, storeRevision, storeUnreadable } from './revisions.ts'

export type Pull = { account: ChannelAccount; cursor: string | null }

/** The next pull of a connection; null if it is not active. */
export const beginPull = async (trx: Trx, id: string): Promise<Pull | null> => {
  const row = await sqlOne<ChannelConnectionRow>(
    trx,
    `select * from channel_connection where id = ? and status = 'active'`,
    [id],
  )
  const account = row && (await accountOf(trx, row))
  return row && account ? { account, cursor: row.pullCursor } : null
}

/** A revision as it was fetched, whatever it is: the other side is not trusted to keep to the contract. */
export type Fetched = { id: string; revision: unknown }

/**
 * Keeps what was fetched, and where to go on, unless another has gone on meanwhile, or the account is another one. What cannot be read is kept
 * for people to look at.
 */
export const storePulled = async (
  trx: Trx,
  { connectionId: id, endpointUrl, externalPropertyId }: ChannelAccount,
  fetched: readonly Fetched[],
  { after, cursor }: { after: string | null; cursor: string | null },
): Promise<void> => {
  const connection = await lockConnection(trx, id)
  if (!connection) return
  const goesOn =
    connection.pullCursor === after &&
    connection.endpointUrl === endpointUrl &&
    connection.externalPropertyId === externalPropertyId
  const problemsIn = compile(ChannelRevision)
  const lost: string[] = []
  for (const { id: pulledAs, revision } of fetched) {
    const [problem] = problemsIn(revision) ?? problemsOf(revision as ChannelRevision)
    if (!problem) await storeRevision(trx, connection, revision as ChannelRevision, pulledAs)
    else if (!(await storeUnreadable(trx, connection, revision, `${problem.field} ${problem.message}`, pulledAs)))
      lost.push(pulledAs)
  }
  if (lost.length > 0) {
    logOf(trx).error({ channelConnectionId: id, lost }, 'a channel sent bookings that nobody can read')
    // They come with each page until the channel's staff acts: once an hour is enough (R34).
    const calls = await sqlOne(
      trx,
      `update channel_connection set attention_at = now() where id = ? and coalesce(attention_at <= now() - interval '1 hour', true) returning id`,
      [id],
    )
    if (calls) await tellOfConnection(trx, channelAttentionNeeded, connection, 'unreadable_bookings')
  }
  await sql(
    trx,
    `update channel_connection set pull_cursor = ?, last_pull_at = clock_timestamp(),
       last_error = case when ?::text is not null then ? when pull_failing_since is not null then null else last_error end, pull_failing_since = null
     where id = ?`,
    [
      goesOn ? cursor : connection.pullCursor,
      ...[0, 1].map(() => (lost.length > 0 ? `unreadable bookings: ${lost.join(', ')}`.slice(0, 1_000) : null)),
      id,
    ],
  )
}

export const pullFailed = (trx: Trx, id: string, code: string) =>
  sql(
    trx,
    `update channel_connection set pull_failing_since = coalesce(pull_failing_since, clock_timestamp()), last_error = ? where id = ?`,
    [code, id],
  )

/** Schedules the next pull by the clock, whatever pulls are asked for meanwhile. */
export const planPull = (trx: Trx, id: string) =>
  sql(trx, `update channel_connection set next_pull_at = clock_timestamp() + make_interval(secs => ?) where id = ?`, [
    pullEverySeconds,
    id,
  ])

export type Unsaid = { account: ChannelAccount; bookingIds: string[]; ids: string[] }

/** Revisions that are stored and that their channel was not told of: the one that is asked for, and with it all others of its connection. */
export const unacknowledged = async (trx: Trx, channelBookingId: string): Promise<Unsaid | null> => {
  const connection = await sqlOne<ChannelConnectionRow>(
    trx,
    `select c.* from channel_booking b join channel_connection c on c.tenant_id = b.tenant_id and c.id = b.channel_connection_id
     where b.id = ? and b.pulled_as is not null and b.acknowledged_at is null`,
    [channelBookingId],
  )
  const account = connection && (await accountOf(trx, connection))
  if (!connection || !account) return null
  const rows = await sql<{ id: string; pulledAs: string }>(
    trx,
    `select id, pulled_as from channel_booking where channel_connection_id = ? and pulled_as is not null and acknowledged_at is null
     order by id = ? desc, created_at, id limit 100`,
    [connection.id, channelBookingId],
  )
  return { account, bookingIds: rows.map((row) => row.id), ids: rows.map((row) => row.pulledAs) }
}

export const acknowledged = (trx: Trx, bookingIds: readonly string[]) =>
  sql(
    trx,
    `update channel_booking set acknowledged_at = clock_timestamp() where id = any(?::uuid[]) and acknowledged_at is null`,
    [bookingIds],
  )
