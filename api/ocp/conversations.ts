import {
  AnyOf,
  Bool,
  Instant,
  Literal,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { invalid } from '../../config/errors.ts'
import {
  changeConversation,
  closeConversation,
  listConversations,
  maskAddress,
  readConversation,
  readMessage,
  replyTo,
} from '../../db/ocp/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { Message, Status as MessageStatus } from './messages.ts'
import { Kind, root } from './schemas.ts'

const Status = OneOf(['open', 'closed'])
const readInFull = (trx: Trx, id: string) => readConversation(trx, id)
const conversations = resource({
  name: 'conversations',
  subject: 'Conversation',
  table: 'conversation',
  path: `${root}/conversations`,
  param: 'conversationId',
  record: Obj(
    {
      id: Uuid,
      propertyId: Uuid,
      kind: Kind,
      /** Null once it is erased. */
      address: Nullable(Text(1, 254)),
      guestId: Nullable(Uuid),
      reservationId: Nullable(Uuid),
      assigneeId: Nullable(Uuid),
      status: Status,
      unanswered: Bool,
      lastInboundAt: Nullable(Instant),
      lastMessageAt: Instant,
      answeredAt: Nullable(Instant),
      closedAt: Nullable(Instant),
      lastMessage: Nullable(
        Obj({
          id: Uuid,
          direction: OneOf(['outbound', 'inbound']),
          status: MessageStatus,
          /** Its beginning. */
          text: Nullable(Text(0, 500)),
          createdAt: Instant,
        }),
      ),
      ...stamps,
    },
    { title: 'Conversation' },
  ),
  read: readInFull,
  // An API key sees addresses masked: it answers in the conversation.
  show: (conversation, { role }) =>
    role === null && conversation.address !== null
      ? { ...conversation, address: maskAddress(conversation.address) }
      : conversation,
})

const list = conversations.list({
  summary: 'List conversations, unanswered first, with last message',
  description: '`assigneeId` is a user, `me` or `none`.',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Status),
    kind: Opt(Kind),
    assigneeId: Opt(AnyOf([Literal('me'), Literal('none'), Uuid])),
    guestId: Opt(Uuid),
    unanswered: Opt(Bool),
  },
  example: { status: 'open', unanswered: true },
  find: ({ trx, filter, caller, admission }) => {
    const { assigneeId, ...rest } = filter
    if (assigneeId === 'me' && caller.kind !== 'user')
      throw invalid([{ field: 'assigneeId', message: 'an API key is nobody: name a user' }])
    const who = assigneeId === 'me' && caller.kind === 'user' ? caller.userId : assigneeId
    return listConversations(
      trx,
      { ...rest, ...(who === undefined ? {} : { assigneeId: who }) },
      admission.isMasked('Conversation'),
    )
  },
})

const change = {
  ...conversations.change({
    summary: 'Change assignee, guest or reservation of a conversation',
    errors: ['reference_not_found', 'guest_erased'],
    body: Obj({ assigneeId: Opt(Nullable(Uuid)), guestId: Opt(Nullable(Uuid)), reservationId: Opt(Nullable(Uuid)) }),
    example: { assigneeId: null },
    command: ({ trx, id, body, expectedVersion }) => changeConversation(trx, id, body, expectedVersion),
  }),
  record: { ...conversations.lock, lockedBy: 'command' as const },
}

const reply = route({
  id: 'conversations.reply',
  method: 'POST',
  path: `${conversations.one}/reply`,
  summary: 'Answer in a conversation',
  description:
    'By its channel and to its address. WhatsApp takes a text within 24 hours of the guest’s last message; later, a template with approved content.',
  status: 201,
  access: can('send', 'Message'),
  record: conversations.lock,
  errors: [
    'invalid_transition',
    'window_closed',
    'recipient_missing',
    'recipient_suppressed',
    'no_channel',
    'country_not_allowed',
    'template_not_published',
    'context_mismatch',
  ],
  body: Obj({
    text: Opt(Words(1, 4_096)),
    subject: Opt(Matching('^[^\\u0000-\\u001f\\u007f]{1,200}$', 200)),
    templateId: Opt(Uuid),
  }),
  example: { text: 'Yes, we keep your luggage until the evening.' },
  returns: Message,
  handle: async ({ trx, params, body, admission }) => {
    const conversation = await readConversation(trx, params.conversationId)
    admission.check('send', 'Message', { propertyId: conversation.propertyId })
    if (body.text !== undefined && conversation.kind === 'sms' && body.text.length > 1_000)
      throw invalid([{ field: 'text', message: 'must have at most 1000 characters for sms' }])
    const messageId = await replyTo(trx, params.conversationId, body)
    return readMessage(trx, messageId, admission.can('read', 'Conversation'))
  },
})

const close = conversations.act('close', {
  summary: 'Mark a conversation as done',
  action: 'update',
  command: ({ trx, id }) => closeConversation(trx, id),
})

export const routes = [list, change, reply, close]
