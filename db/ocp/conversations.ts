import { randomUUID } from 'node:crypto'
import { cut } from '../../config/cut.ts'
import { conflict, notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import { conversationClosed, conversationOpened } from '../../config/events/ocp.ts'
import type { Event } from '../../config/events/event.ts'
import { isOfGuest, resolveGuest } from '../guests/index.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, sentFields } from '../lib/events.ts'
import { fact, inScope, readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import type { ConversationRow, MessageRow } from '../rows.ts'
import { textPlace } from './compose.ts'
import { conversationPlace, maskAddress } from './messages.ts'
import { Conversation } from './models.ts'
import type { ChannelKind } from './rules/contents.ts'
import { sendMessage } from './staff-messages.ts'

type LastMessage = {
  id: string
  direction: MessageRow['direction']
  status: MessageRow['status']
  text: string | null
  createdAt: Date
}
export type ConversationRecord = Omit<ConversationRow, 'tenantId' | 'addressIndex' | 'address'> & {
  address: string | null
  /** True if the guest wrote after staff last answered. */
  unanswered: boolean
  lastMessage: LastMessage | null
}

const unanswered = `(c.status = 'open' and c.last_inbound_at is not null and (c.answered_at is null or c.answered_at < c.last_inbound_at))`
const columns = `c.id, c.property_id, c.kind, c.address, c.guest_id, c.reservation_id, c.assignee_id, c.status, c.last_inbound_at, c.last_message_at,
  c.answered_at, c.closed_at, c.version, c.created_at, c.updated_at, ${unanswered} as unanswered,
  l.id as last_id, l.direction as last_direction, l.status as last_status, l.text as last_text, l.created_at as last_at`
const last = `left join lateral (
    select m.id, m.direction, m.status, m.text, m.created_at from message m where m.tenant_id = c.tenant_id and m.conversation_id = c.id
    order by m.created_at desc, m.id limit 1) l on true`

type Found = Omit<ConversationRecord, 'address' | 'lastMessage'> & {
  address: Buffer | null
  lastId: string | null
  lastDirection: MessageRow['direction']
  lastStatus: MessageRow['status']
  lastText: Buffer | null
  lastAt: Date
}

const opened = async (
  trx: Trx,
  { address, lastId, lastDirection, lastStatus, lastText, lastAt, ...row }: Found,
  isMasked: boolean,
): Promise<ConversationRecord> => {
  const plain = address ? await unseal<string>(trx, 'tenant', conversationPlace(row.id), address) : null
  const said = lastId && lastText ? await unseal<{ text: string }>(trx, 'tenant', textPlace(lastId), lastText) : null
  return {
    ...row,
    address: plain === null || !isMasked ? plain : maskAddress(plain),
    lastMessage: lastId
      ? {
          id: lastId,
          direction: lastDirection,
          status: lastStatus,
          text: said === null || isMasked ? null : cut(said.text, 500),
          createdAt: lastAt,
        }
      : null,
  }
}

type Filter = Paging & {
  propertyId?: string
  status?: string
  kind?: string
  /** A user, or `none`. */
  assigneeId?: string
  guestId?: string
  unanswered?: boolean
  scope: Condition
}

// Written as the index has it: the parts of a condition alone would not find it.
const isUnanswered = `${unanswered} is true`

/** Conversations: those that wait for an answer first, then by their newest message. */
export const listConversations = async (
  trx: Trx,
  { propertyId, status, kind, assigneeId, guestId, unanswered: waits, scope, ...paging }: Filter,
  isMasked: boolean,
): Promise<Page<ConversationRecord>> => {
  const { total, rows } = await readPage<Found>(
    trx,
    {
      columns,
      from: 'conversation c',
      joins: last,
      conditions: [
        ...inScope(scope, 'c.property_id'),
        ...where('c.property_id = ?', propertyId),
        ...where('c.status = ?', status),
        ...where('c.kind = ?', kind),
        ...where(isOfGuest('c.guest_id'), guestId),
        ...(assigneeId === 'none'
          ? [{ text: 'c.assignee_id is null', values: [] }]
          : where('c.assignee_id = ?', assigneeId)),
      ],
      facts: fact(waits, isUnanswered),
      order: `${unanswered} desc, c.last_message_at desc, c.id`,
    },
    paging,
  )
  const shown: ConversationRecord[] = []
  for (const row of rows) shown.push(await opened(trx, row, isMasked))
  return { total, rows: shown }
}

/** 404 */
export const readConversation = async (trx: Trx, id: string, isMasked = false): Promise<ConversationRecord> => {
  const row = await sqlOne<Found>(trx, `select ${columns} from conversation c ${last} where c.id = ?`, [id])
  if (!row) throw notFound()
  return opened(trx, row, isMasked)
}

const tell = async (trx: Trx, event: Event<typeof conversationOpened.data>, id: string, sent: object = {}) => {
  const row = (await readRow(trx, Conversation, id)) as ConversationRow
  const { kind, guestId, reservationId } = row
  await emit(trx, event, {
    propertyId: row.propertyId,
    id,
    version: row.version,
    data: { conversationId: id, kind, guestId, reservationId },
    changed: sentFields(sent),
  })
}

type Linked = { guestId: string | null; reservationId: string | null }
type Contact = { propertyId: string; kind: ChannelKind; index: Buffer; address: string }

/**
 * The open conversation with an address, opened where there is none. The time at which a guest wrote counts for the WhatsApp window; an answer that was
 * given before this was heard is none to it.
 */
export const conversationWith = async (
  trx: Trx,
  { propertyId, kind, index, address }: Contact,
  { guestId, reservationId }: Linked,
  at = new Date(),
): Promise<string> => {
  const id = randomUUID()
  const [row] = await sql<{ id: string }>(
    trx,
    `insert into conversation (id, property_id, kind, address_index, address, guest_id, reservation_id, last_inbound_at, last_message_at)
     values (:id, :propertyId, :kind, :index, :sealed, :guestId, :reservationId, :at, clock_timestamp())
     on conflict (tenant_id, property_id, kind, address_index) where status = 'open' do update set
       last_inbound_at = greatest(conversation.last_inbound_at, excluded.last_inbound_at), last_message_at = excluded.last_message_at, version = conversation.version + 1,
       answered_at = case when conversation.answered_at < excluded.last_inbound_at then conversation.answered_at end,
       guest_id = coalesce(conversation.guest_id, excluded.guest_id), reservation_id = coalesce(conversation.reservation_id, excluded.reservation_id)
     returning id`,
    {
      id,
      propertyId,
      kind,
      index,
      sealed: await seal(trx, 'tenant', conversationPlace(id), address),
      guestId,
      reservationId,
      at,
    },
  )
  const found = row?.id ?? id
  if (found === id) await tell(trx, conversationOpened, id)
  return found
}

export type ConversationChange = {
  assigneeId?: string | null | undefined
  guestId?: string | null | undefined
  reservationId?: string | null | undefined
}

/** Assigns a conversation, or says whose it is; of a merged profile, that of its survivor. 409 `guest_erased`; 422 for what does not exist in its house. 409 `version_conflict`. */
export const changeConversation = async (
  trx: Trx,
  id: string,
  change: ConversationChange,
  expected: number | null,
): Promise<void> => {
  // A guest is locked before the conversation, as by what the guest writes.
  const named = change.guestId && (await resolveGuest(trx, change.guestId))
  const row = await sqlOne<Pick<ConversationRow, 'propertyId' | 'version'>>(
    trx,
    `select property_id, version from conversation where id = ? for no key update`,
    [id],
  )
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  const { propertyId } = row
  const refuse = (field: string) =>
    unprocessable('reference_not_found', 'A record that the request names does not exist', [
      { field, message: 'names nobody and nothing of this property' },
    ])
  const { assigneeId, reservationId } = change
  if (
    assigneeId &&
    !(await sqlOne(trx, `select id from membership where user_id = ? and status = 'active'`, [assigneeId]))
  )
    throw refuse('assigneeId')
  if (
    reservationId &&
    !(await sqlOne(trx, `select id from reservation where id = ? and property_id = ?`, [reservationId, propertyId]))
  )
    throw refuse('reservationId')
  await changeRow(trx, Conversation, id, named ? { ...change, guestId: named } : change)
}

/** Marks a conversation as done. The next message of the guest opens another one. The caller holds the row. */
export const closeConversation = async (trx: Trx, id: string): Promise<void> => {
  const { status } = await readRow(trx, Conversation, id)
  if (status === 'closed') return
  await sql(
    trx,
    `update conversation set status = 'closed', closed_at = clock_timestamp(), answered_at = clock_timestamp(), version = version + 1 where id = ?`,
    [id],
  )
  await tell(trx, conversationClosed, id)
}

export type Reply = {
  text?: string | undefined
  subject?: string | undefined
  templateId?: string | undefined
  /** The issue that the reply is about. */
  issueId?: string | undefined
}

/** Holds a conversation that can be answered; null for one that is closed, or whose address was erased. */
export const holdOpenConversation = (trx: Trx, id: string): Promise<Pick<ConversationRow, 'id' | 'kind'> | null> =>
  sqlOne<Pick<ConversationRow, 'id' | 'kind'>>(
    trx,
    `select id, kind from conversation where id = ? and status = 'open' and address is not null for no key update`,
    [id],
  )

const subjectOfReply = async (trx: Trx, id: string): Promise<string> => {
  const asked = await sqlOne<{ id: string; text: Buffer | null }>(
    trx,
    `select id, text from message where conversation_id = ? and direction = 'inbound' order by created_at desc, id limit 1`,
    [id],
  )
  const said = asked?.text
    ? await unseal<{ subject: string | null }>(trx, 'tenant', textPlace(asked.id), asked.text)
    : null
  const subject = (said?.subject ?? '').replace(/[\p{Cc}]+/gu, ' ').trim()
  return cut(/^re:/i.test(subject) ? subject : `Re: ${subject}`.trim(), 200)
}

/** Answers by the channel and to the address of the conversation. 409 where it is closed; 422 as for any message of staff. The caller holds the row. */
export const replyTo = async (trx: Trx, id: string, { text, subject, templateId, issueId }: Reply): Promise<string> => {
  const row = (await readRow(trx, Conversation, id)) as ConversationRow
  if (row.status !== 'open')
    throw conflict('invalid_transition', 'A conversation that is closed cannot be answered', [
      { field: 'status', message: 'must be open' },
    ])
  if (!row.address)
    throw unprocessable('recipient_missing', 'The address of this conversation was erased', [
      { field: 'conversationId', message: 'has no address any more' },
    ])
  const address = await unseal<string>(trx, 'tenant', conversationPlace(id), row.address)
  const named = row.guestId
    ? await sqlOne<{ name: string }>(
        trx,
        `select trim(first_name || ' ' || last_name) as name from guest where id = ? and status = 'active'`,
        [row.guestId],
      )
    : null
  const isMail = row.kind === 'email'
  const messageId = await sendMessage(trx, {
    propertyId: row.propertyId,
    conversationId: id,
    recipient: { name: named?.name ?? '', ...(isMail ? { email: address } : { phone: address }) },
    ...(row.reservationId ? { reservationId: row.reservationId } : {}),
    ...(templateId ? { templateId } : {}),
    ...(issueId ? { issueId } : {}),
    ...(text === undefined
      ? {}
      : { text: { text, subject: subject ?? (isMail ? await subjectOfReply(trx, id) : undefined) } }),
    plan: [{ channel: row.kind, waitMinutes: 30 }],
  })
  await sql(trx, `update message set guest_id = ? where id = ?`, [row.guestId, messageId])
  await sql(
    trx,
    `update conversation set answered_at = clock_timestamp(), last_message_at = clock_timestamp(), version = version + 1 where id = ?`,
    [id],
  )
  return messageId
}
