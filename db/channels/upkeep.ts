import { attentionAfterMinutes } from '../../config/channels.ts'
import { channelAttentionNeeded } from '../../config/events/channels.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { hasFeature } from '../lib/features.ts'
import type { ChannelConnectionRow } from '../rows.ts'
import { tellOfConnection } from './connections.ts'
import { requestPull } from './lifecycle.ts'
import { forgetLeft } from './mappings.ts'
import { markAll, requestPush } from './marks.ts'
import { planPull } from './pull.ts'
import { giveUpCloseOut } from './push.ts'

type Named = { tenantId: string; id: string }

/** Connections that the clock has something for, of every tenant; by id, beyond `after`. */
export const dueChannels = (trx: PlatformTrx, after: string, most: number) =>
  sql<Named>(trx, `select tenant_id, id from channels_due(?, ?)`, [after, most])

type Looked = ChannelConnectionRow & {
  /** Today in the house. */
  today: string
  pullIsDue: boolean
  resyncIsDue: boolean
  pushIsDue: boolean
  closeOutIsOver: boolean
  cause: 'pull_failed' | 'push_failed' | 'bookings_unapplied' | null
}

const look = (trx: Trx, id: string) =>
  sqlOne<Looked>(
    trx,
    `select c.*, (now() at time zone y.timezone)::date as today, c.next_pull_at is null or c.next_pull_at <= now() as pull_is_due,
       c.resynced_on is null or c.resynced_on < (now() at time zone y.timezone)::date as resync_is_due,
       coalesce(c.push_not_before, now()) <= now() and exists (select from channel_dirty d where d.tenant_id = c.tenant_id
         and d.channel_connection_id = c.id and d.changed_at < now() - interval '30 seconds') as push_is_due,
       coalesce(c.close_out_until <= now(), false) as close_out_is_over,
       case when c.attention_at > now() - interval '1 hour' then null
         when c.status = 'active' and c.pull_failing_since <= now() - make_interval(mins => :minutes) then 'pull_failed'
         when c.status = 'active' and c.push_failing_since <= now() - make_interval(mins => :minutes) then 'push_failed'
         when exists (select from channel_booking b where b.tenant_id = c.tenant_id and b.channel_connection_id = c.id
           and b.status in ('received', 'needs_mapping', 'failed') and b.created_at <= now() - make_interval(mins => :minutes)) then 'bookings_unapplied'
       end as cause
     from channel_connection c join property y on y.tenant_id = c.tenant_id and y.id = c.property_id where c.id = :id for no key update of c`,
    { id, minutes: attentionAfterMinutes },
  )

/**
 * Regular upkeep of one connection: pulls its bookings every two minutes, pushes marks that were left, sends everything once a day (the
 * night that has come into reach included), drops removed mappings, alerts staff once an hour (R34), and gives up a close-out that is not answered.
 */
export const keepUp = async (trx: Trx, id: string): Promise<void> => {
  const found = await look(trx, id)
  if (!found) return
  // Also for a connection that is no longer active: guests with its bookings will arrive.
  if (found.cause !== null) {
    await sql(trx, `update channel_connection set attention_at = now() where id = ?`, [id])
    await tellOfConnection(trx, channelAttentionNeeded, found, found.cause)
  }
  if (found.closeOutUntil !== null) {
    if (found.closeOutIsOver) await giveUpCloseOut(trx, found)
    else await requestPush(trx, id, { soon: false, key: 'tick' })
    return
  }
  if (found.status !== 'active' || !(await hasFeature(trx, 'channels'))) return
  if (found.pullIsDue) {
    await planPull(trx, id)
    await requestPull(trx, id)
  }
  if (found.resyncIsDue) {
    await sql(trx, `update channel_connection set resynced_on = ? where id = ?`, [found.today, id])
    await forgetLeft(trx, id)
    await markAll(trx, found, ['availability', 'rates'])
  }
  if (found.resyncIsDue || found.pushIsDue) await requestPush(trx, id, { soon: false, key: 'tick' })
}

/** Ids of revisions about guests who left 90 days ago. */
export const erasablePayloads = (trx: PlatformTrx, most = 500) =>
  sql<Named>(trx, `select tenant_id, id from channel_payloads_erasable(?)`, [most])

export const erasePayloads = (trx: Trx, ids: readonly string[]) =>
  sql(trx, `update channel_booking set payload = null where id = any(?::uuid[])`, [ids])

export const tenantsWithOldPushes = (trx: PlatformTrx) =>
  sql<{ tenantId: string }>(trx, `select tenant_id from channel_pushes_purgeable()`)

/** Drops pushes of 90 days ago, some thousands at a time; answers whether there are more. */
export const purgePushes = async (trx: Trx): Promise<boolean> =>
  (
    await sql(
      trx,
      `delete from channel_push where id in (select id from channel_push where started_at < now() - interval '90 days' limit 5000) returning id`,
    )
  ).length === 5_000
