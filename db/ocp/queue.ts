import { randomUUID } from 'node:crypto'
import {
  messageCancelled,
  messageDelivered,
  messageExpired,
  messageFailed,
  messageQueued,
  messageRead,
  messageReceived,
  messageSent,
  messageSuppressed,
} from '../../config/events/ocp.ts'
import { builtInTemplates, isDocument } from '../../config/message-texts/templates.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { messagesDeliver } from '../../jobs/ocp.ts'
import { contextOf, prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import type { Fact } from '../lib/events.ts'
import { insertIfNew } from '../lib/records.ts'
import type { DataOf } from '../../config/events/event.ts'
import { seal } from '../lib/sealing/index.ts'
import { Message } from './models.ts'
import { tellOwner } from './owners.ts'
import { provisionMessages } from './provision.ts'
import type { ChannelKind } from './rules/contents.ts'
import { planOf } from './rules/plan.ts'
import type { PlanStep } from './rules/plan.ts'
import { carrierGate } from './rules/send-outcome.ts'

/** A recipient who is not a guest, or an address other than the guest's own. */
export type Recipient = { name: string; email?: string | null; phone?: string | null; language?: string | null }

export type MessageRequest = {
  propertyId: string
  /** Key of an active template; what is published when the message is queued is what will be sent. */
  templateKey: string
  /** One occurrence, one message: a second request with the same key changes nothing. */
  dedupeKey: string
  guestId?: string | null
  recipient?: Recipient
  reservationId?: string | null
  paymentId?: string | null
  issueId?: string | null
  /** Ids from which the worker derives what a stranger's code or link needs; never the code itself. */
  data?: Record<string, string>
  plan?: PlanStep[]
  /** Default: now. */
  scheduledFor?: Date
  /** From `scheduledFor`; default a day. */
  validMinutes?: number
}

type Automated = {
  origin?: 'automation'
  automationId?: string
  eventId?: string
  /** Statuses of the reservation in which the message still makes sense. */
  reservationStatuses?: string[] | null
}

type Template = { id: string; number: number; purpose: 'service' | 'marketing'; urgency: 'immediate' | 'normal' }

const minuteMs = 60_000

/** The plan of a message that names none: the property's order of channels, with e-mail first for documents. SMS and WhatsApp are for what is urgent. */
export const usualPlan = (templateKey: string, order: readonly ChannelKind[]): PlanStep[] =>
  planOf(
    isDocument(templateKey) && order.includes('email') ? ['email', ...order.filter((one) => one !== 'email')] : order,
  )

export const recipientPlace = (messageId: string) => ({ table: 'message', rowId: messageId, purpose: 'recipient' })

const findTemplate = (trx: Trx, key: string): Promise<Template | null> =>
  preparedOne<Template>(
    trx,
    `select id, published_number as number, purpose, urgency from message_template
     where key = ? and status = 'active' and published_number is not null`,
    [key],
  )

/** A built-in template of a later release, which tenants from before it do not have. */
const provisioned = async (trx: Trx, key: string): Promise<Template | null> => {
  if (!builtInTemplates.some((one) => one.key === key)) return null
  await provisionMessages(trx, key)
  return findTemplate(trx, key)
}

/** The published template of a key, which tenants from before its release get now. Throws where there is none. */
export const publishedTemplate = async (trx: Trx, key: string): Promise<Template> => {
  const template = (await findTemplate(trx, key)) ?? (await provisioned(trx, key))
  if (!template) throw new Error(`there is no published message template ${key}`)
  return template
}

/**
 * Decides a message in the caller's transaction (R2). Sending it is a worker's part, and checked again then. Answers the message's id,
 * or null where the same occurrence has its message already.
 */
export const queueMessage = async (trx: Trx, request: MessageRequest & Automated): Promise<string | null> => {
  const [template, property] = await Promise.all([
    publishedTemplate(trx, request.templateKey),
    preparedOne<{ settings: StoredSettings; now: Date }>(
      trx,
      `select settings, clock_timestamp() as now from property where id = ?`,
      [request.propertyId],
    ),
  ])
  if (!property) throw new Error('the property of the message does not exist')
  const id = randomUUID()
  const scheduledFor = request.scheduledFor ?? property.now
  const due = scheduledFor <= property.now
  const expiresAt = new Date(scheduledFor.getTime() + (request.validMinutes ?? 1440) * minuteMs)
  const actor = contextOf(trx).actor
  const message = await insertIfNew(
    trx,
    Message,
    {
      id,
      origin: request.origin ?? 'module',
      propertyId: request.propertyId,
      guestId: request.guestId,
      reservationId: request.reservationId,
      paymentId: request.paymentId,
      issueId: request.issueId,
      automationId: request.automationId,
      eventId: request.eventId,
      templateId: template.id,
      templateNumber: template.number,
      data: request.data ?? {},
      purpose: template.purpose,
      urgency: template.urgency,
      recipient: request.recipient ? await seal(trx, 'tenant', recipientPlace(id), request.recipient) : null,
      reservationStatuses: request.reservationStatuses,
      plan: request.plan ?? usualPlan(request.templateKey, settingsOf(property.settings).messages.order),
      status: due ? 'queued' : 'scheduled',
      dedupeKey: request.dedupeKey,
      scheduledFor,
      expiresAt,
      createdBy: actor.type === 'user' ? actor.id : null,
    },
    ['tenantId', 'dedupeKey'],
  )
  if (!message) return null
  await Promise.all([
    enqueueDelivery(trx, { id, turn: 0, purpose: template.purpose }, due ? undefined : scheduledFor),
    due ? emitMessage(trx, 'queued', id) : null,
  ])
  return id
}

/** Gate of the next channel in the plan, as far as it is known now: the worker may find the channel unfit and take another. */
export const gateOfNext = async (trx: Trx, messageId: string): Promise<string> => {
  const next = await preparedOne<{ kind: string | null; transport: string | null; channelId: string }>(
    trx,
    `select c.kind, c.transport, c.id as channel_id from message m
     join message_channel c on c.property_id = m.property_id and c.kind = m.plan->m.step->>'channel' where m.id = ?`,
    [messageId],
  )
  return next ? carrierGate(next) : ''
}

/** The job of a message's next move. Marketing waits behind everything that a guest waits for. */
export const enqueueDelivery = async (
  trx: Trx,
  message: { id: string; turn: number; purpose: 'service' | 'marketing' },
  at?: Date,
): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (!tenantId) throw new Error('a message belongs to a tenant')
  const jobClass = message.purpose === 'marketing' ? 'bulk' : 'normal'
  await enqueue(
    trx,
    messagesDeliver,
    { tenantId, messageId: message.id, turn: message.turn },
    { at, class: jobClass, gate: await gateOfNext(trx, message.id) },
  )
}

const eventOf = {
  queued: messageQueued,
  sent: messageSent,
  delivered: messageDelivered,
  read: messageRead,
  failed: messageFailed,
  suppressed: messageSuppressed,
  expired: messageExpired,
  cancelled: messageCancelled,
  received: messageReceived,
}

type Told = Omit<DataOf<typeof messageQueued>, 'messageId' | 'status' | 'cause'> & {
  id: string
  propertyId: string
}

/** Event data of messages with a new status: ids, cause and kind of channel (that of the step they have come to), never an address or any text. */
export const factsOf = async (
  trx: Trx,
  status: keyof typeof eventOf,
  messageIds: readonly string[],
  cause: string | null = null,
  kind: string | null = null,
): Promise<Fact<typeof messageQueued.data>[]> => {
  const messages = await prepared<Told>(
    trx,
    `select m.id, m.property_id, coalesce(?, m.kind) as kind, m.purpose, t.key as template_key, m.automation_id, m.campaign_id, m.guest_id, m.reservation_id, m.conversation_id
     from message m left join message_template t on t.tenant_id = m.tenant_id and t.id = m.template_id where m.id = any(?::uuid[])`,
    [kind, messageIds],
  )
  return messages.map(({ id, propertyId, ...rest }) => ({
    propertyId,
    id,
    version: null,
    data: { messageId: id, status, cause, ...rest },
  }))
}

/** Tells of a message that has just got this status. */
export const emitMessage = async (
  trx: Trx,
  status: keyof typeof eventOf,
  messageId: string,
  { kind = null, cause = null }: { kind?: string | null; cause?: string | null } = {},
): Promise<void> => {
  const [fact] = await factsOf(trx, status, [messageId], cause, kind)
  if (!fact) throw new Error(`message ${messageId} is gone`)
  await emit(trx, eventOf[status], fact)
  await tellOwner(trx, messageId, { status, templateKey: fact.data.templateKey, cause })
}
