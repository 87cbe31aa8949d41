import { sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'

const atOnce = 500
const days = `coalesce((p.settings -> 'messages' ->> 'keepContentDays')::int, 180)`
const isOld = (time: string) => `${time} < now() - make_interval(days => ${days})`

/** Tenants in which contents may be older than they may be kept. */
export const tenantsWithOldMessages = (trx: PlatformTrx): Promise<{ tenantId: string }[]> =>
  sql<{ tenantId: string }>(trx, `select tenant_id from tenants_with_old_messages()`)

/**
 * Erases contents and addresses of messages whose time is over (R21): some of them, answering how many. What is kept says that, when and how a message went;
 * the index of its address stays for two years, so that a link to unsubscribe works.
 */
export const eraseOldContents = async (trx: Trx): Promise<number> => {
  const attempts = await sql(
    trx,
    `update message_attempt set recipient = null, subject = null, body = null where id in (
       select a.id from message_attempt a join property p on p.tenant_id = a.tenant_id and p.id = a.property_id
       where a.recipient is not null and ${isOld('a.created_at')} order by a.created_at limit ${atOnce}) returning id`,
  )
  const messages = await sql(
    trx,
    `update message set text = null, recipient = null where id in (
       select m.id from message m join property p on p.tenant_id = m.tenant_id and p.id = m.property_id
       where (m.text is not null or m.recipient is not null) and m.status not in ('scheduled', 'queued', 'sending') and ${isOld('m.created_at')}
         and ${isOld('m.scheduled_for')}
       order by m.created_at limit ${atOnce}) returning id`,
  )
  const conversations = await sql(
    trx,
    `update conversation set address = null where id in (
       select c.id from conversation c join property p on p.tenant_id = c.tenant_id and p.id = c.property_id
       where c.status = 'closed' and c.address is not null and ${isOld('c.last_message_at')} order by c.last_message_at limit ${atOnce}) returning id`,
  )
  return attempts.length + messages.length + conversations.length
}

const keptYears = 2
const isPast = (time: string) => `${time} < now() - make_interval(years => ${keptYears})`

/** Tenants with messages that are kept no longer. */
export const tenantsWithPastMessages = (trx: PlatformTrx): Promise<{ tenantId: string }[]> =>
  sql<{ tenantId: string }>(trx, `select tenant_id from tenants_with_past_messages()`)

/** Deletes messages, their attempts and what was reported of them after two years (R21): some of them, answering how many. */
export const deletePastMessages = async (trx: Trx): Promise<number> => {
  const past = await sql<{ id: string }>(
    trx,
    `select id from message where ${isPast('created_at')} and status not in ('scheduled', 'queued', 'sending') order by created_at, id limit ${atOnce}
     for update skip locked`,
  )
  const ids = past.map(({ id }) => id)
  await sql(trx, `delete from message_attempt where message_id = any(?::uuid[])`, [ids])
  await sql(trx, `delete from message where id = any(?::uuid[])`, [ids])
  const told = await sql(
    trx,
    `delete from message_callback where id in (select id from message_callback where ${isPast('created_at')} order by created_at limit ${atOnce}) returning id`,
  )
  return ids.length + told.length
}
