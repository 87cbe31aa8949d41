import { pushLeaseSeconds } from '../../config/channels.ts'
import type { ChannelRange } from '../../config/channels.ts'
import { channelAttentionNeeded } from '../../config/events/channels.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import type { ChannelConnectionRow, ChannelPushRow } from '../rows.ts'
import { accountOf } from './account.ts'
import type { ChannelAccount } from './account.ts'
import { tellOfConnection } from './connections.ts'
import { contentOf } from './content.ts'
import { addMarks, requestPush } from './marks.ts'
import type { Kind, Mark } from './marks.ts'

type DirtyMark = { id: string; unitTypeId: string; from: string; to: string; changedAt: Date }

/** A push that is about to be sent, and what it will have answered for. */
export type Push = {
  pushId: string
  account: ChannelAccount
  kind: Kind
  ranges: ChannelRange[]
  markIds: string[]
  /** The marks that were read, to be written again if the channel does not answer. */
  marks: Mark[]
  oldestAt: Date
}

/** `busy`: another one has the lease, and finds what this one would have. `waiting`: the channel is left alone for a while. */
export type Beginning = Push | 'nothing' | 'busy' | 'waiting' | 'ended'

const atOnce = 400

const lockConnection = (trx: Trx, id: string) =>
  sqlOne<ChannelConnectionRow & { isLeased: boolean; isPaused: boolean }>(
    trx,
    `select *, push_lease_until is not null and push_lease_until > clock_timestamp() as is_leased,
       push_not_before is not null and push_not_before > clock_timestamp() as is_paused
     from channel_connection where id = ? for no key update`,
    [id],
  )

const marksOf = (trx: Trx, id: string, kind: Kind) =>
  sql<DirtyMark>(
    trx,
    `select id, unit_type_id, lower(during) as "from", upper(during) - 1 as "to", changed_at from channel_dirty
     where channel_connection_id = ? and kind = ? order by changed_at, lower(during), unit_type_id limit ?`,
    [id, kind, atOnce],
  )

/** Tells whether a connection that has ended still tells its channel that nothing is left. */
export const isClosingOut = async (
  trx: Trx,
  { channelConnectionId }: { channelConnectionId: string },
): Promise<boolean> =>
  (await sqlOne(trx, `select from channel_connection where id = ? and close_out_until is not null`, [
    channelConnectionId,
  ])) !== null

/**
 * Takes the lease of a connection for a job and reads what is to be said: the oldest marks, and the values as they are after them, so that
 * whatever is sent late is not stale. Availability goes before rates. The job that holds the lease takes it again after a crash.
 */
export const beginPush = async (trx: Trx, connectionId: string, jobId: string): Promise<Beginning> => {
  const connection = await lockConnection(trx, connectionId)
  if (!connection || (connection.status !== 'active' && connection.closeOutUntil === null)) return 'ended'
  if (connection.isLeased && connection.pushLeaseBy !== jobId) return 'busy'
  if (connection.isPaused) return 'waiting'
  const account = await accountOf(trx, connection)
  if (!account) return 'ended'
  const availability = await marksOf(trx, connectionId, 'availability')
  const kind = availability.length > 0 ? 'availability' : 'rates'
  const marks = availability.length > 0 ? availability : await marksOf(trx, connectionId, 'rates')
  const [oldest] = marks
  if (!oldest) {
    await release(trx, connection)
    return 'nothing'
  }
  // Of a start that ended between its sending and its answer; what it was made of is made anew.
  await sql(
    trx,
    `update channel_push set status = 'failed', error = 'interrupted', finished_at = clock_timestamp() where channel_connection_id = ? and status = 'sending'`,
    [connectionId],
  )
  const { taken, ranges } = await contentOf(trx, connection, kind, marks)
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into channel_push (channel_connection_id, property_id, kind, ranges, range_count, attempts) values (?, ?, ?, ?::jsonb, ?, ?) returning id`,
    [
      connectionId,
      connection.propertyId,
      kind,
      JSON.stringify(ranges.map(placeOf)),
      ranges.length,
      connection.pushFailures + 1,
    ],
  )
  await sql(
    trx,
    `update channel_connection set push_lease_until = clock_timestamp() + make_interval(secs => ?), push_lease_by = ? where id = ?`,
    [pushLeaseSeconds, jobId, connectionId],
  )
  return {
    pushId: row?.id ?? '',
    account,
    kind,
    ranges,
    markIds: taken.map((mark) => mark.id),
    marks: taken.map(({ unitTypeId, from, to }) => ({ unitTypeId, kind, from, to })),
    oldestAt: oldest.changedAt,
  }
}

/** The stored part of a range: prices and restrictions are in the trail of their changes. */
const placeOf = ({
  unitType,
  ratePlan,
  from,
  to,
  available,
}: ChannelRange): Omit<ChannelRange, 'amounts' | 'restrictions'> => ({
  unitType,
  ...(ratePlan === undefined ? {} : { ratePlan }),
  from,
  to,
  ...(available === undefined ? {} : { available }),
})

/** Gives the lease back; a connection that was closed out has nothing more to say, and its credentials are erased. */
const release = async (trx: Trx, connection: Pick<ChannelConnectionRow, 'id' | 'closeOutUntil'>) => {
  await sql(
    trx,
    `update channel_connection set push_lease_until = null, push_lease_by = null,
       credentials = case when ?::boolean then null else credentials end, close_out_until = null,
       version = version + case when ?::boolean then 1 else 0 end where id = ?`,
    [connection.closeOutUntil !== null, connection.closeOutUntil !== null, connection.id],
  )
}

type Sent = Pick<Push, 'pushId' | 'markIds' | 'marks' | 'ranges' | 'oldestAt'>

/**
 * Tells whether a push lost its lease while it was under way, as where its process stood still: the other one's values may have been heard before its
 * own. Then its days are told once more.
 */
const wasOvertaken = async (
  trx: Trx,
  connection: ChannelConnectionRow,
  { marks, oldestAt }: Sent,
  jobId: string,
): Promise<boolean> => {
  if (connection.pushLeaseBy === jobId) return false
  if (connection.status === 'active' || connection.closeOutUntil !== null) {
    await addMarks(trx, connection.id, marks, oldestAt)
    await requestPush(trx, connection.id, { soon: true })
  }
  return true
}

export type Refusal = { index: number; message: string }

/**
 * Writes that a push arrived, deletes exactly the marks that it was made of, and answers whether there are more. The connection's row comes
 * first, like a push that finds the lease taken: one of the two sees what the other left.
 */
export const pushArrived = async (
  trx: Trx,
  connectionId: string,
  jobId: string,
  push: Sent,
  refused: readonly Refusal[],
): Promise<boolean> => {
  const connection = await lockConnection(trx, connectionId)
  if (!connection) return false
  const isOvertaken = await wasOvertaken(trx, connection, push, jobId)
  const problem = refused
    .slice(0, 20)
    .map(({ index, message }) => `${push.ranges[index]?.unitType ?? index}: ${message}`)
    .join('; ')
    .slice(0, 1_000)
  await sql(
    trx,
    `update channel_push set status = ?, error = ?, message_count = ?, finished_at = clock_timestamp() where id = ?`,
    [refused.length === 0 ? 'accepted' : 'partial', problem || null, push.ranges.length > 0 ? 1 : 0, push.pushId],
  )
  await sql(trx, `delete from channel_dirty where id = any(?::uuid[])`, [push.markIds])
  if (isOvertaken) return false
  await sql(
    trx,
    `update channel_connection set last_push_at = clock_timestamp(), push_failures = 0, push_not_before = null, push_failing_since = null,
       last_error = case when ?::text is not null then ? when push_failing_since is not null then null else last_error end where id = ?`,
    [problem || null, problem || null, connectionId],
  )
  const more = await sqlOne(trx, `select 1 as one from channel_dirty where channel_connection_id = ? limit 1`, [
    connectionId,
  ])
  if (!more) await release(trx, connection)
  return more !== null
}

/** Hands the lease to a job of its own, where one start has done enough. */
export const pushLater = async (trx: Trx, connectionId: string, jobId: string): Promise<void> => {
  await sql(
    trx,
    `update channel_connection set push_lease_until = null, push_lease_by = null where id = ? and push_lease_by = ?`,
    [connectionId, jobId],
  )
  await requestPush(trx, connectionId, { soon: false, key: `after ${jobId}` })
}

const firstWaitMs = 2_000
const longestWaitMs = 300_000

/** The time for which a channel is left alone after a number of failures in a row. */
const waitMs = (failures: number, afterMs: number) =>
  Math.max(afterMs, Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(failures - 1, 8)))

/** Records a push that failed or whose outcome is unknown. Its marks stay, and a later push sends fresh values. */
export const pushFailed = async (
  trx: Trx,
  connectionId: string,
  jobId: string,
  push: Sent,
  { code, afterMs = 0 }: { code: string; afterMs?: number | undefined },
): Promise<void> => {
  const connection = await lockConnection(trx, connectionId)
  if (!connection) return
  const failures = connection.pushFailures + 1
  const delayMs = waitMs(failures, afterMs)
  await sql(trx, `update channel_push set status = 'failed', error = ?, finished_at = clock_timestamp() where id = ?`, [
    code,
    push.pushId,
  ])
  if (await wasOvertaken(trx, connection, push, jobId)) return
  // By the database's clock, which judges it: a job that came a moment early would find the push not due, and no job would follow.
  const row = await sqlOne<{ pushNotBefore: Date }>(
    trx,
    `update channel_connection set push_lease_until = null, push_lease_by = null, push_failures = ?, last_error = ?,
       push_not_before = clock_timestamp() + make_interval(secs => ? / 1000.0), push_failing_since = coalesce(push_failing_since, clock_timestamp())
     where id = ? returning push_not_before`,
    [failures, code, delayMs, connectionId],
  )
  const notBefore = row && new Date(row.pushNotBefore.getTime() + 1)
  await requestPush(trx, connectionId, { soon: false, key: `retry ${failures}`, notBefore: notBefore ?? undefined })
}

/** Gives a close-out up whose time is over: the channel was not reached for a day. */
export const giveUpCloseOut = async (trx: Trx, connection: ChannelConnectionRow): Promise<void> => {
  await sql(trx, `delete from channel_dirty where channel_connection_id = ?`, [connection.id])
  await release(trx, connection)
  await tellOfConnection(trx, channelAttentionNeeded, connection, 'close_out_failed')
}

export type PushRecord = Omit<ChannelPushRow, 'tenantId' | 'ranges'> & {
  ranges: ReturnType<typeof placeOf>[]
}

type Filter = Paging & { channelConnectionId: string; status?: string | undefined; kind?: string | undefined }

/** Pushes of a connection, newest first, each with the first ranges of it. */
export const listPushes = (trx: Trx, { channelConnectionId, status, kind, ...paging }: Filter) =>
  readPage<PushRecord>(
    trx,
    {
      columns: `id, channel_connection_id, property_id, kind, status, range_count, message_count, attempts, error, started_at, finished_at,
        jsonb_path_query_array(ranges, '$[0 to 49]') as ranges`,
      from: 'channel_push',
      conditions: [
        ...where('channel_connection_id = ?', channelConnectionId),
        ...where('status = ?', status),
        ...where('kind = ?', kind),
      ],
      order: 'started_at desc, id desc',
    },
    paging,
  )
