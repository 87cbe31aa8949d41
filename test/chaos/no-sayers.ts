import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import type { Knex } from 'knex'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { callbackPath, callbackToken, sealCredentials } from '../../db/ocp/channel-accounts.ts'
import type { House } from '../support/factories.ts'
import { messageOf } from './evidence.ts'
import type { Check } from './evidence.ts'

/** An answer of a guest by which a house may write no more, once a service that reads its mail had a 200 for it. */
export type Refusal = { email: string; id: string }

/** The way in of mail that guests answer with: where it is told to a house, and the secret it is signed with. */
export type Inbox = { path: string; secret: string }

/** Gives the channel for mail of each house a secret, by property. */
export const openInboxes = async (houses: readonly House[]): Promise<Map<string, Inbox>> => {
  const inboxes = new Map<string, Inbox>()
  for (const { tenantId, propertyId } of houses)
    await inTenant(tenantId, async (trx) => {
      const [channel] = await sql<{ id: string }>(
        trx,
        `select id from message_channel where property_id = ? and kind = 'email'`,
        [propertyId],
      )
      if (!channel) throw new Error('the house has no channel for mail')
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      const credentials = await sealCredentials(trx, channel.id, { inboundSecret: secret })
      await sql(trx, `update message_channel set credentials = ? where id = ?`, [credentials, channel.id])
      inboxes.set(propertyId, { path: callbackPath(callbackToken(channel.id)), secret })
    })
  return inboxes
}

const patienceMs = 25_000

/** Tells a house what a guest wrote, again until it is taken; false where it was not. */
const tell = async (
  apis: readonly string[],
  { path, secret }: Inbox,
  word: { id: string; from: string; text: string },
): Promise<boolean> => {
  const body = JSON.stringify({ type: 'inbound', ...word })
  for (let tries = 0, end = Date.now() + patienceMs; Date.now() < end; tries += 1) {
    const at = new Date()
    const reply = await fetch(`${apis[tries % apis.length]}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': word.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(word.id, at, body),
      },
      body,
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null)
    await reply?.arrayBuffer().catch(() => null)
    if (reply?.status === 200) return true
    await wait(200)
  }
  return false
}

const stopWords = ['STOP', 'Parar', 'SAIR']

/** A guest answers with a stop word, which comes three times, among another word that comes before and after it. Null where none was taken. */
export const sayNo = async (apis: readonly string[], inbox: Inbox, email: string): Promise<Refusal | null> => {
  const refusal = { email, id: `no-${email}` }
  const text = stopWords[email.length % stopWords.length] ?? 'STOP'
  const say = (id: string, said: string) => tell(apis, inbox, { id, from: email, text: said })
  const taken = await Promise.all([say(`then-${email}`, 'Thank you.'), say(refusal.id, text), say(refusal.id, text)])
  const again = [await say(refusal.id, text), await say(`then-${email}`, 'Thank you.')]
  return taken[1] || taken[2] || again[0] ? refusal : null
}

/** A process that is frozen between asking whether it may send and sending does so when it thaws. */
const underWayMs = 60_000

type Heard = { id: string; callback: string | null; at: Date | null; suppressions: number }

const heardOf = (database: Knex, refusals: readonly Refusal[]) =>
  sql<Heard>(
    database,
    `select r.id, c.status as callback, c.processed_at as at, (select count(*)::int from suppression s join message m on m.tenant_id = s.tenant_id and m.id = s.message_id
         where s.tenant_id = c.tenant_id and m.dedupe_key = 'in:' || c.message_channel_id || ':' || r.id and s.lifted_at is null and s.scope = 'all') as suppressions
     from unnest(:ids::text[]) r(id) left join message_callback c on c.key = 'inbound:' || r.id`,
    { ids: refusals.map(({ id }) => id) },
  )

export const refusalChecks: Record<string, Check> = {
  'a guest who said no is heard once, and has no message that was written or sent after that': async (
    database,
    { mails, refusals },
  ) => {
    const heard = await heardOf(database, refusals)
    const emails = new Map(refusals.map(({ id, email }) => [id, email]))
    const since = new Map(heard.map(({ id, at }) => [emails.get(id), at?.getTime() ?? Infinity]))
    const theirs = mails.filter(({ to }) => to.some((address) => since.has(address)))
    const written = await sql<{ id: string; createdAt: Date }>(
      database,
      `select id, created_at from message where id = any(?)`,
      [theirs.map(({ messageId }) => messageOf(messageId)).filter((id) => id !== null)],
    )
    const writtenAt = new Map(written.map(({ id, createdAt }) => [id, createdAt.getTime()]))
    const unwanted = theirs.filter(({ to, messageId, receivedAt }) => {
      const at = Math.min(...to.map((address) => since.get(address) ?? Infinity))
      return (writtenAt.get(messageOf(messageId) ?? '') ?? 0) > at || Date.parse(receivedAt) > at + underWayMs
    })
    return [
      ...heard.filter(({ callback, suppressions }) => callback !== 'processed' || suppressions !== 1),
      ...unwanted.map(({ to, messageId, receivedAt }) => ({ to, messageId, receivedAt })),
    ]
  },
}
