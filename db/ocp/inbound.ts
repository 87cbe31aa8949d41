import { randomUUID } from 'node:crypto'
import { cut } from '../../config/cut.ts'
import { isOfGuest } from '../guests/index.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { insertIfNew } from '../lib/records.ts'
import { seal } from '../lib/sealing/index.ts'
import type { MessageChannelRow } from '../rows.ts'
import { presentDay } from '../units/index.ts'
import { readMessageId, textPlace } from './compose.ts'
import { guestsWith, holdGuest, withdrawConsent } from './consent.ts'
import { conversationWith } from './conversations.ts'
import { Message } from './models.ts'
import { emitMessage } from './queue.ts'
import { isStopWord } from './rules/stop-word.ts'
import { addressIndex, suppress } from './suppression.ts'

/** The text of an inbound message. */
export type Inbound = {
  /** The provider's id of it, one for each message. */
  providerId: string
  from: string
  subject: string | null
  text: string
  /** Names of files that came with it; they are not kept. */
  attachments: readonly string[]
  /** Says that the provider took it as the wish to get no more. */
  isOptOut: boolean
  /** The Message-ID of the mail that it answers. */
  inReplyTo?: string | undefined
  /** The time at which the provider told of it; now, unless it waited to be heard. */
  at?: Date
}

/** An inbound message as the list of messages shows it. */
export type Heard = {
  messageId: string
  conversationId: string
  propertyId: string
  /** The issue that the message it answers was about. */
  issueId: string | null
  text: string
}
type Listener = (trx: Trx, heard: Heard) => Promise<void>
let listener: Listener | null = null
/** Names the module that takes what guests write about its records, in the transaction that receives it. */
export const registerInbound = (heardBy: Listener): void => {
  listener = heardBy
}

const longest = 10_000

/** The stay that a guest, under any profile, most likely writes about by the day of its house: in the house, else the next arrival, else the last departure of thirty days. */
const stayOf = async (trx: Trx, propertyId: string, guestId: string | null): Promise<string | null> => {
  if (guestId === null) return null
  const stay = await sqlOne<{ id: string }>(
    trx,
    `select r.id from reservation r
     join property p on p.tenant_id = r.tenant_id and p.id = r.property_id
     cross join lateral (select ${presentDay('p')} as day) today
     where r.property_id = ? and r.id in (
         select own.id from reservation own where ${isOfGuest('own.primary_guest_id')}
         union all
         select other.id from booking b join reservation other on other.tenant_id = b.tenant_id and other.booking_id = b.id
         where ${isOfGuest('b.booker_guest_id')} and other.primary_guest_id is null)
       and (r.status = 'checked_in' or (r.status in ('confirmed', 'held') and r.departure >= today.day)
         or (r.status = 'checked_out' and r.departure > today.day - 30))
     order by (r.status = 'checked_in') desc, (r.status in ('confirmed', 'held')) desc,
       case when r.status = 'checked_out' then today.day - r.departure else r.arrival - today.day end, r.id limit 1`,
    [propertyId, guestId, guestId],
  )
  return stay?.id ?? null
}

const replyDays = 30

/** The issue of the mail that is answered, or of the last message to the address. */
const issueOf = async (
  trx: Trx,
  { propertyId, index }: { propertyId: string; index: Buffer },
  inReplyTo: string | undefined,
): Promise<string | null> => {
  const named = inReplyTo === undefined ? null : readMessageId(inReplyTo)
  const asked = named
    ? await sqlOne<{ issueId: string | null }>(trx, `select issue_id from message where id = ? and property_id = ?`, [
        named.messageId,
        propertyId,
      ])
    : await sqlOne<{ issueId: string | null }>(
        trx,
        `select m.issue_id from message_attempt a join message m on m.tenant_id = a.tenant_id and m.id = a.message_id
         where a.recipient_index = ? and a.property_id = ? and a.created_at > now() - make_interval(days => ${replyDays})
         order by a.created_at desc limit 1`,
        [index, propertyId],
      )
  return asked?.issueId ?? null
}

/**
 * Takes what a guest has written (R15): once, in the conversation with the address, linked to the guest and the stay where they are known. A stop word, alone,
 * ends all messages to the address on this channel, and the consent of every guest who has the address (R14). Answers whether it was new.
 */
export const receive = async (trx: Trx, channel: MessageChannelRow, inbound: Inbound): Promise<boolean> => {
  const { kind, propertyId } = channel
  const index = addressIndex(trx, kind, inbound.from)
  const isStop = inbound.isOptOut || isStopWord(inbound.text)
  // Two tell that it is not known who wrote; a stop word is all of theirs.
  const known = await guestsWith(trx, { kind, index }, isStop ? null : 2)
  const held: (string | null)[] = []
  for (const id of isStop || known.length === 1 ? known : []) held.push(await holdGuest(trx, id))
  const guestId = known.length === 1 ? (held[0] ?? null) : null
  const reservationId = await stayOf(trx, propertyId, guestId)
  const contact = { propertyId, kind, index, address: inbound.from }
  const id = randomUUID()
  const names = inbound.attachments.map((name) => `[${cut(name, 200)}]`)
  const text = cut([inbound.text, ...names].filter((part) => part !== '').join('\n'), longest)
  const row = await insertIfNew(
    trx,
    Message,
    {
      id,
      direction: 'inbound',
      origin: 'guest',
      propertyId,
      guestId,
      reservationId,
      text: await seal(trx, 'tenant', textPlace(id), {
        subject: inbound.subject === null ? null : cut(inbound.subject, 200),
        text,
      }),
      purpose: 'service',
      urgency: 'immediate',
      plan: [{ channel: kind, waitMinutes: 30 }],
      status: 'received',
      dedupeKey: `in:${channel.id}:${inbound.providerId}`.slice(0, 200),
      scheduledFor: new Date(),
      expiresAt: new Date(),
    },
    ['tenantId', 'dedupeKey'],
  )
  if (!row) return false
  const conversationId = await conversationWith(trx, contact, { guestId, reservationId }, inbound.at)
  await sql(trx, `update message set conversation_id = ? where id = ?`, [conversationId, id])
  await emitMessage(trx, 'received', id, { kind })
  const issueId = await issueOf(trx, { propertyId, index }, inbound.inReplyTo)
  await listener?.(trx, { messageId: id, conversationId, propertyId, issueId, text })
  if (isStop) {
    await suppress(trx, { kind, address: inbound.from, scope: 'all', cause: 'stop', messageId: id })
    for (const one of held) await withdrawConsent(trx, one, kind, 'message')
  }
  return true
}

/** An inbound message to a house, with its kind of channel. */
export const receiveMessage = async (
  trx: Trx,
  propertyId: string,
  kind: MessageChannelRow['kind'],
  inbound: Inbound,
): Promise<boolean> => {
  const channel = await sqlOne<MessageChannelRow>(
    trx,
    `select * from message_channel where property_id = ? and kind = ?`,
    [propertyId, kind],
  )
  if (!channel) throw new Error('a property has a channel of each kind')
  return receive(trx, channel, inbound)
}
