import { isOfGuest, maskEmail, maskPhone } from '../guests/index.ts'
import { notFound } from '../../config/errors.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { withinTimes } from '../lib/days.ts'
import { inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Page, Paging, Sort } from '../lib/paging.ts'
import { unseal } from '../lib/sealing/index.ts'
import type { MessageAttemptRow, MessageRow } from '../rows.ts'
import { textPlace } from './compose.ts'
import { recipientPlace } from './queue.ts'
import type { Recipient } from './queue.ts'
import type { ChannelKind } from './rules/contents.ts'
import type { PlanStep } from './rules/plan.ts'
import { attemptPlace } from './sending.ts'

export const messageSorts = ['scheduledFor', 'createdAt'] as const
const sortColumns = { scheduledFor: 'm.scheduled_for', createdAt: 'm.created_at' }

type Told = Omit<
  MessageRow,
  | 'tenantId'
  | 'text'
  | 'recipient'
  | 'data'
  | 'eventId'
  | 'reservationStatuses'
  | 'turn'
  | 'round'
  | 'dedupeKey'
  | 'plan'
> & { plan: PlanStep[]; kind: ChannelKind | null; templateKey: string | null }
/** A message in a list: the address masked, no content. */
export type MessageListed = Told & { recipient: string | null }

const columns = `m.id, m.direction, m.origin, m.property_id, m.guest_id, m.reservation_id, m.payment_id, m.issue_id, m.automation_id, m.campaign_id,
  m.conversation_id, m.template_id, t.key as template_key, m.template_number, m.purpose, m.urgency, m.locale, m.kind, m.plan, m.step, m.status,
  m.scheduled_for, m.expires_at, m.fallback_at, m.sent_at, m.reason, m.created_by, m.version, m.created_at, m.updated_at`
const joins = `left join message_template t on t.tenant_id = m.tenant_id and t.id = m.template_id`
/** The source of the address: the newest attempt, the message, or its conversation. */
const addresses = `, m.recipient as given, c.address as of_conversation, last.id as attempt_id, last.recipient as attempted
  from message m ${joins}
  left join conversation c on c.tenant_id = m.tenant_id and c.id = m.conversation_id
  left join lateral (select a.id, a.recipient from message_attempt a where a.tenant_id = m.tenant_id and a.message_id = m.id
    order by a.created_at desc limit 1) last on true`

type Sealed = {
  given: Buffer | null
  ofConversation: Buffer | null
  attemptId: string | null
  attempted: Buffer | null
}

export const maskAddress = (address: string): string =>
  address.includes('@') ? maskEmail(address) : maskPhone(address)

export type Addressed = { id: string; kind: ChannelKind | null; conversationId: string | null } & Sealed

export const addressOf = async (trx: Trx, row: Addressed): Promise<string | null> => {
  if (row.attempted && row.attemptId)
    return unseal<string>(trx, 'tenant', attemptPlace(row.attemptId, 'recipient'), row.attempted)
  if (row.ofConversation && row.conversationId)
    return unseal<string>(trx, 'tenant', conversationPlace(row.conversationId), row.ofConversation)
  if (!row.given) return null
  const { email, phone } = await unseal<Recipient>(trx, 'tenant', recipientPlace(row.id), row.given)
  return (row.kind === 'email' ? email : phone) ?? email ?? phone ?? null
}

export const conversationPlace = (id: string) => ({ table: 'conversation', rowId: id, purpose: 'address' })

type Filter = Paging & {
  propertyId?: string
  direction?: string
  status?: string
  origin?: string
  kind?: string
  guestId?: string
  reservationId?: string
  conversationId?: string
  automationId?: string
  campaignId?: string
  from?: string
  to?: string
  sort: Sort<(typeof messageSorts)[number]>
  scope: Condition
}

const withAddress = async (trx: Trx, rows: readonly (Told & Sealed)[]): Promise<MessageListed[]> => {
  const found: MessageListed[] = []
  for (const row of rows) {
    const address = await addressOf(trx, row)
    const { given: _given, ofConversation: _of, attemptId: _id, attempted: _sealed, ...told } = row
    found.push({ ...told, recipient: address === null ? null : maskAddress(address) })
  }
  return found
}

const readSealed = (trx: Trx, ids: readonly string[]) =>
  sql<Told & Sealed>(trx, `select ${columns} ${addresses} where m.id = any(?::uuid[])`, [ids])

/** Messages with masked addresses and without contents. Days are of UTC, by the time of making. */
export const listMessages = async (trx: Trx, filter: Filter): Promise<Page<MessageListed>> => {
  const { scope, sort, from, to, kind: wanted, guestId, page, limit, ...equals } = filter
  const named: Record<string, string> = {
    propertyId: 'm.property_id',
    direction: 'm.direction',
    status: 'm.status',
    origin: 'm.origin',
    reservationId: 'm.reservation_id',
    conversationId: 'm.conversation_id',
    automationId: 'm.automation_id',
    campaignId: 'm.campaign_id',
  }
  const { total, rows } = await readPage<{ id: string }>(
    trx,
    {
      columns: 'm.id',
      from: 'message m',
      conditions: [
        ...inScope(scope, 'm.property_id'),
        ...Object.entries(named).flatMap(([field, column]) =>
          where(`${column} = ?`, equals[field as keyof typeof equals]),
        ),
        ...where(isOfGuest('m.guest_id'), guestId),
        ...where('m.kind = ?', wanted),
      ],
      days: withinTimes('m.created_at', { from, to }, '<='),
      order: orderBy(sort, sortColumns, 'm.id'),
    },
    { page, limit },
  )
  const ids = rows.map(({ id }) => id)
  const found = new Map((await withAddress(trx, await readSealed(trx, ids))).map((row) => [row.id, row]))
  return { total, rows: ids.flatMap((id) => found.get(id) ?? []) }
}

export type AttemptShown = Omit<
  MessageAttemptRow,
  | 'tenantId'
  | 'messageId'
  | 'propertyId'
  | 'recipientIndex'
  | 'recipient'
  | 'subject'
  | 'body'
  | 'purpose'
  | 'rank'
  | 'resends'
  | 'round'
  | 'proof'
> & {
  proof: Record<string, unknown>[]
  recipient: string | null
  subject: string | null
  text: string | null
  html: string | null
}
export type MessageShown = MessageListed & {
  subject: string | null
  text: string | null
  attempts: AttemptShown[]
}

type Body = { text: string; html: string | null }

const attemptsOf = async (trx: Trx, messageId: string, inFull: boolean): Promise<AttemptShown[]> => {
  const rows = await sql<Omit<MessageAttemptRow, 'proof'> & Pick<AttemptShown, 'proof'>>(
    trx,
    `select * from message_attempt where message_id = ? order by created_at, step, number`,
    [messageId],
  )
  const shown: AttemptShown[] = []
  for (const row of rows) {
    const {
      tenantId: _t,
      messageId: _m,
      propertyId: _p,
      recipientIndex: _i,
      purpose: _u,
      rank: _r,
      resends: _s,
      round: _o,
      recipient,
      subject,
      body,
      ...rest
    } = row
    const open = <T>(purpose: 'recipient' | 'subject' | 'body', sealed: Buffer | null) =>
      sealed ? unseal<T>(trx, 'tenant', attemptPlace(row.id, purpose), sealed) : Promise.resolve(null)
    const address = await open<string>('recipient', recipient)
    const content = inFull ? await open<Body>('body', body) : null
    shown.push({
      ...rest,
      recipient: address === null || inFull ? address : maskAddress(address),
      subject: inFull ? await open<string>('subject', subject) : null,
      text: content?.text ?? null,
      html: content?.html ?? null,
    })
  }
  return shown
}

/** A message with its attempts and their proof. Content and address are for those who read conversations; others see them masked or not at all. 404 */
export const readMessage = async (trx: Trx, id: string, inFull: boolean): Promise<MessageShown> => {
  const [row] = await readSealed(trx, [id])
  if (!row) throw notFound()
  const sealedText = inFull
    ? await sqlOne<{ text: Buffer | null }>(trx, `select text from message where id = ?`, [id])
    : null
  const said = sealedText?.text
    ? await unseal<{ subject: string | null; text: string }>(trx, 'tenant', textPlace(id), sealedText.text)
    : null
  const [listed] = await withAddress(trx, [row])
  return {
    ...listed!,
    recipient: inFull ? await addressOf(trx, row) : listed!.recipient,
    subject: said?.subject ?? null,
    text: said?.text ?? null,
    attempts: await attemptsOf(trx, id, inFull),
  }
}
