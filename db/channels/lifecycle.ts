import { unprocessable } from '../../config/errors.ts'
import { channelConnected, channelDisconnected, channelFailed, channelPaused } from '../../config/events/channels.ts'
import { pullChannel, testChannel } from '../../jobs/channels.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { ChannelConnectionRow } from '../rows.ts'
import { accountOf } from './account.ts'
import type { ChannelAccount } from './account.ts'
import { connectionLifecycle, tellOfConnection } from './connections.ts'
import { markAll, requestPush } from './marks.ts'

export const lockConnection = async (trx: Trx, id: string): Promise<ChannelConnectionRow | null> =>
  sqlOne<ChannelConnectionRow>(trx, `select * from channel_connection where id = ? for no key update`, [id])

const held = async (trx: Trx, id: string): Promise<ChannelConnectionRow> => {
  const row = await lockConnection(trx, id)
  if (!row) throw new Error(`connection ${id} is gone`)
  return row
}

const setStatus = (trx: Trx, id: string, status: ChannelConnectionRow['status'], error: string | null = null) =>
  sql(trx, `update channel_connection set status = ?, last_error = ?, version = version + 1 where id = ?`, [
    status,
    error,
    id,
  ])

const moved = (row: ChannelConnectionRow) => ({ ...row, version: row.version + 1 })

const ofTenant = (trx: Trx) => contextOf(trx).tenantId ?? ''

export const requestPull = (trx: Trx, channelConnectionId: string) =>
  enqueue(
    trx,
    pullChannel,
    { tenantId: ofTenant(trx), channelConnectionId },
    { uniqueKey: `pull ${channelConnectionId}` },
  )

/** Has a connection tested, to begin if it answers. The caller holds its row. */
export const activateConnection = async (trx: Trx, id: string): Promise<void> => {
  const { status, credentials } = await held(trx, id)
  if (status === 'active' || !connectionLifecycle.isDue('activated', status)) return
  const mapped = await sqlOne(
    trx,
    `select 1 as one from channel_mapping where channel_connection_id = ? and enabled limit 1`,
    [id],
  )
  if (!mapped)
    throw unprocessable('mapping_missing', 'Map at least one unit type first', [
      { field: 'mappings', message: 'holds none that is enabled' },
    ])
  if (!credentials)
    throw unprocessable('credentials_missing', 'Set the credentials of the channel first', [
      { field: 'credentials', message: 'is required' },
    ])
  await setStatus(trx, id, 'connecting')
  await enqueue(trx, testChannel, { tenantId: ofTenant(trx), channelConnectionId: id })
}

/** Account to test; null if the test is no longer wanted. */
export const accountToTest = async (trx: Trx, id: string): Promise<ChannelAccount | null> => {
  const row = await sqlOne<ChannelConnectionRow>(
    trx,
    `select * from channel_connection where id = ? and status = 'connecting'`,
    [id],
  )
  return row && accountOf(trx, row)
}

/**
 * The channel has answered: it is told everything, and asked for its bookings. The next look of the clock tells it once more (`resynced_on`), since
 * a change that began before there was a connection has marked nothing.
 */
export const connected = async (trx: Trx, id: string): Promise<void> => {
  const row = await lockConnection(trx, id)
  if (row?.status !== 'connecting') return
  await sql(
    trx,
    `update channel_connection set status = 'active', last_error = null, push_failures = 0, push_not_before = null, push_failing_since = null,
       pull_failing_since = null, resynced_on = null, next_pull_at = now() + interval '30 seconds', version = version + 1 where id = ?`,
    [id],
  )
  await markAll(trx, row, ['availability', 'rates'])
  await requestPush(trx, id, { soon: false })
  await requestPull(trx, id)
  await tellOfConnection(trx, channelConnected, moved(row))
}

export const notConnected = async (trx: Trx, id: string, code: string): Promise<void> => {
  const row = await lockConnection(trx, id)
  if (row?.status !== 'connecting') return
  await setStatus(trx, id, 'failed', code)
  await tellOfConnection(trx, channelFailed, moved(row), code)
}

/** Nothing is pushed and pulled until it is activated again. The caller holds its row. */
export const pauseConnection = async (trx: Trx, id: string, reason: string): Promise<void> => {
  const row = await held(trx, id)
  if (!connectionLifecycle.isDue('paused', row.status)) return
  await audit(trx, { action: 'channel_connection.pause', subjectType: 'ChannelConnection', subjectId: id, reason })
  await setStatus(trx, id, 'paused')
  await tellOfConnection(trx, channelPaused, moved(row), 'paused')
}

/** Tells everything, and asks for bookings, now. The caller holds its row. */
export const syncConnection = async (
  trx: Trx,
  id: string,
  { rates, bookings }: { rates: boolean; bookings: boolean },
): Promise<void> => {
  const row = await held(trx, id)
  connectionLifecycle.allow('synchronised', row.status)
  if (rates) {
    await sql(trx, `update channel_connection set push_not_before = null where id = ?`, [id])
    await markAll(trx, row, ['availability', 'rates'])
    await requestPush(trx, id, { soon: false })
  }
  if (bookings) await requestPull(trx, id)
}

const closeOutHours = 24

/**
 * Ends a connection. What it sold is closed at the channel first, where it was at work; the credentials are erased with the last push, or when
 * the channel was not reached for a day. The caller holds its row.
 */
export const disconnect = async (trx: Trx, id: string, closeOut: boolean | undefined): Promise<void> => {
  const row = await held(trx, id)
  if (!connectionLifecycle.isDue('disconnected', row.status)) return
  if (closeOut === true) connectionLifecycle.allow('closed out', row.status)
  const closes = row.status === 'active' && closeOut !== false
  await sql(trx, `delete from channel_dirty where channel_connection_id = ?`, [id])
  await sql(
    trx,
    `update channel_connection set status = 'disconnected', disconnected_at = now(), last_error = null, push_not_before = null, push_failures = 0,
       close_out_until = case when ?::boolean then now() + make_interval(hours => ?) end,
       credentials = case when ?::boolean then credentials end, version = version + 1 where id = ?`,
    [closes, closeOutHours, closes, id],
  )
  if (closes) {
    await markAll(trx, row, ['availability'])
    await requestPush(trx, id, { soon: false })
  }
  await tellOfConnection(trx, channelDisconnected, moved(row))
}
