import { invalid } from '../../config/errors.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
import {
  Anything,
  Count,
  Email,
  Instant,
  Int,
  List,
  LocaleTag,
  MapOf,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  cancelMessage,
  listMessages,
  messageSorts,
  readMessage,
  retryMessage,
  sendMessage,
} from '../../db/ocp/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { Kind, Plan, Purpose, root, StoredPlan, Urgency } from './schemas.ts'

export const Status = OneOf([
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'suppressed',
  'cancelled',
  'expired',
  'received',
])
const Direction = OneOf(['outbound', 'inbound'])
const Origin = OneOf(['staff', 'automation', 'campaign', 'module', 'guest'])
const Id = Nullable(Uuid)
const fields = {
  id: Uuid,
  direction: Direction,
  origin: Origin,
  propertyId: Uuid,
  guestId: Id,
  reservationId: Id,
  paymentId: Id,
  issueId: Id,
  automationId: Id,
  campaignId: Id,
  conversationId: Id,
  templateId: Id,
  templateKey: Nullable(Text(1, 60)),
  templateNumber: Nullable(Int(1, 1_000_000)),
  purpose: Purpose,
  urgency: Urgency,
  locale: Nullable(Text(2, 12)),
  /** The channel of its present step. */
  kind: Nullable(Kind),
  /** Masked in lists, and for those who do not read conversations. */
  recipient: Nullable(Text(1, 254)),
  plan: StoredPlan,
  step: Count,
  status: Status,
  scheduledFor: Instant,
  expiresAt: Instant,
  fallbackAt: Nullable(Instant),
  sentAt: Nullable(Instant),
  /** Why it ended as it did. */
  reason: Nullable(Text(1, 60)),
  createdBy: Id,
  ...stamps,
}
export const MessageHead = Obj(fields, { title: 'MessageHead' })
const Attempt = Obj(
  {
    id: Uuid,
    step: Count,
    number: Count,
    kind: Kind,
    transport: OneOf(['platform', 'own', 'sandbox']),
    recipient: Nullable(Text(1, 254)),
    subject: Nullable(Text(0, 10_000)),
    text: Nullable(Text(0, 1_000_000)),
    html: Nullable(Text(0, 1_000_000)),
    status: OneOf(['sending', 'unknown', 'sent', 'delivered', 'read', 'bounced', 'failed']),
    providerId: Nullable(Text(1, 400)),
    segments: Nullable(Count),
    errorCode: Nullable(Text(0, 60)),
    errorText: Nullable(Text(0, 500)),
    sentAt: Nullable(Instant),
    deliveredAt: Nullable(Instant),
    readAt: Nullable(Instant),
    /** The provider's own words about the message, unchanged. */
    proof: List(MapOf(Anything, { max: 50 }), { max: 1_000 }),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'MessageAttempt' },
)
export const Message = Obj(
  {
    ...fields,
    subject: Nullable(Text(0, 1_000)),
    text: Nullable(Text(0, 20_000)),
    attempts: List(Attempt, { max: 1_000 }),
  },
  { title: 'Message' },
)

/** Tells whether a caller reads contents and addresses (R21). */
export const seesContent = (admission: Admission): boolean =>
  admission.can('read', 'Conversation') && !admission.isMasked('Message')

const readInFull = (trx: Trx, id: string) => readMessage(trx, id, true)

const messages = resource({
  name: 'messages',
  subject: 'Message',
  table: 'message',
  path: `${root}/messages`,
  param: 'messageId',
  record: Message,
  read: readInFull,
  show: ({ recipient, subject, text, attempts, ...message }, admission: Admission) =>
    seesContent(admission)
      ? { ...message, recipient, subject, text, attempts }
      : {
          ...message,
          recipient: null,
          subject: null,
          text: null,
          attempts: attempts.map((attempt) => ({ ...attempt, recipient: null, subject: null, text: null, html: null })),
        },
})

const list = messages.list({
  summary: 'List messages sent, received and scheduled',
  query: {
    propertyId: Opt(Uuid),
    direction: Opt(Direction),
    status: Opt(Status),
    origin: Opt(Origin),
    kind: Opt(Kind),
    guestId: Opt(Uuid),
    reservationId: Opt(Uuid),
    conversationId: Opt(Uuid),
    automationId: Opt(Uuid),
    campaignId: Opt(Uuid),
    from: Opt(Instant),
    to: Opt(Instant),
  },
  sort: { by: [...messageSorts], usual: '-createdAt' },
  of: MessageHead,
  example: { status: 'scheduled', sort: 'scheduledFor' },
  find: ({ trx, filter }) => listMessages(trx, filter),
})

const reachable = [
  'recipient_missing',
  'recipient_suppressed',
  'no_channel',
  'window_closed',
  'country_not_allowed',
] as const

const create = messages.create({
  summary: 'Send a template or a text to one recipient',
  description:
    'To a guest, to the guest of a reservation or payment, or to an address. Whether anything can be sent at all is answered at once; everything is checked again when the message leaves.',
  action: 'send',
  errors: [
    'reference_not_found',
    'guest_erased',
    'not_found',
    'context_mismatch',
    'template_not_published',
    ...reachable,
  ],
  body: Obj({
    propertyId: Uuid,
    guestId: Opt(Uuid),
    recipient: Opt(
      Obj({
        name: Words(1, 120),
        email: Opt(Email),
        phone: Opt(Phone),
        language: Opt(LocaleTag),
      }),
    ),
    reservationId: Opt(Uuid),
    paymentId: Opt(Uuid),
    templateId: Opt(Uuid),
    text: Opt(Obj({ subject: Opt(Matching('^[^\\u0000-\\u001f\\u007f]{1,200}$', 200)), text: Words(1, 4_096) })),
    plan: Opt(Plan),
    scheduledFor: Opt(Instant),
    expiresAt: Opt(Instant),
    /** Further records that the template speaks of. */
    data: Opt(Obj({ issueId: Opt(Uuid) })),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    recipient: { name: 'Ana Souza', email: 'ana@example.com' },
    text: { subject: 'Your question', text: 'Yes, breakfast is from seven to ten.' },
    plan: [{ channel: 'email', waitMinutes: 30 }],
    scheduledFor: `${sampleDay(30)}T12:00:00.000Z`,
  },
  command: ({ trx, body, admission }) => {
    admission.check('send', 'Message', { propertyId: body.propertyId })
    const { scheduledFor, expiresAt, data, ...message } = body
    if (data?.issueId !== undefined) admission.check('read', 'Issue', { propertyId: body.propertyId })
    if (body.text && body.plan?.some(({ channel }) => channel === 'sms') && body.text.text.length > 1_000)
      throw invalid([{ field: 'text.text', message: 'must have at most 1000 characters for sms' }])
    const recipient = body.recipient && {
      ...body.recipient,
      name: body.recipient.name.replace(/[\p{Cc}<>"]+/gu, ' ').trim(),
    }
    return sendMessage(trx, {
      ...message,
      ...(recipient ? { recipient } : {}),
      ...(data?.issueId === undefined ? {} : { issueId: data.issueId }),
      ...(scheduledFor === undefined ? {} : { scheduledFor: new Date(scheduledFor) }),
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt) }),
    })
  },
})

const read = messages.read({
  summary: 'Read a message with content, attempts and proof',
  description: 'Content and addresses are for those who read conversations; others see that, when and how it went.',
})

const cancel = messages.act('cancel', {
  summary: 'Stop a message not yet sent',
  action: 'send',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => cancelMessage(trx, id),
})

const retry = messages.act('retry', {
  summary: 'Send a failed message again',
  description: 'One that failed, was suppressed or expired within 30 days, once its cause no longer holds.',
  action: 'send',
  errors: ['invalid_transition', ...reachable],
  body: Obj({ plan: Opt(Plan) }),
  example: { plan: [{ channel: 'email', waitMinutes: 30 }] },
  command: ({ trx, id, body }) => retryMessage(trx, id, body.plan),
})

export const routes = [list, create, read, cancel, retry]
