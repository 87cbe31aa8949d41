import { Bool, Int, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const message = {
  entity: 'message',
  subject: 'Message',
  data: Obj({
    messageId: Uuid,
    kind: Nullable(Code),
    purpose: OneOf(['service', 'marketing']),
    status: Code,
    cause: Nullable(Code),
    templateKey: Nullable(Code),
    automationId: Nullable(Uuid),
    campaignId: Nullable(Uuid),
    guestId: Nullable(Uuid),
    reservationId: Nullable(Uuid),
    conversationId: Nullable(Uuid),
  }),
} as const
export const messageQueued = event({ type: 'message.queued', ...message })
export const messageSent = event({ type: 'message.sent', ...message })
export const messageDelivered = event({ type: 'message.delivered', ...message })
export const messageRead = event({ type: 'message.read', ...message })
export const messageFailed = event({ type: 'message.failed', ...message })
export const messageSuppressed = event({ type: 'message.suppressed', ...message })
export const messageExpired = event({ type: 'message.expired', ...message })
export const messageCancelled = event({ type: 'message.cancelled', ...message })

export const messageReceived = event({ type: 'message.received', ...message })

const kinds = OneOf(['email', 'sms', 'whatsapp'])
const suppression = {
  entity: 'suppression',
  subject: 'Suppression',
  data: Obj({ suppressionId: Uuid, kind: kinds, scope: OneOf(['marketing', 'all']), cause: Code }),
} as const
export const suppressionAdded = event({ type: 'suppression.added', ...suppression })
export const suppressionLifted = event({ type: 'suppression.lifted', ...suppression })

export const templatePublished = event({
  type: 'template.published',
  entity: 'message_template',
  subject: 'MessageTemplate',
  data: Obj({ messageTemplateId: Uuid, key: Code, number: Int(1, 2_147_483_647) }),
})

const automation = {
  entity: 'automation',
  subject: 'Automation',
  data: Obj({ automationId: Uuid, enabled: Bool }),
} as const
export const automationCreated = event({ type: 'automation.created', ...automation })
export const automationChanged = event({ type: 'automation.changed', ...automation })
export const automationDeleted = event({ type: 'automation.deleted', ...automation })

const conversation = {
  entity: 'conversation',
  subject: 'Conversation',
  data: Obj({
    conversationId: Uuid,
    kind: kinds,
    guestId: Nullable(Uuid),
    reservationId: Nullable(Uuid),
  }),
} as const
export const conversationOpened = event({ type: 'conversation.opened', ...conversation })
export const conversationClosed = event({ type: 'conversation.closed', ...conversation })

const Count = Int(0, 1_000_000)
const campaign = {
  entity: 'campaign',
  subject: 'Campaign',
  data: Obj({
    campaignId: Uuid,
    counts: Obj({
      audience: Count,
      queued: Count,
      sent: Count,
      delivered: Count,
      read: Count,
      failed: Count,
      suppressed: Count,
      cancelled: Count,
    }),
  }),
} as const
export const campaignLaunched = event({ type: 'campaign.launched', ...campaign })
export const campaignCompleted = event({ type: 'campaign.completed', ...campaign })
export const campaignCancelled = event({ type: 'campaign.cancelled', ...campaign })

const channel = {
  entity: 'message_channel',
  subject: 'MessageChannel',
  data: Obj({ messageChannelId: Uuid, kind: kinds, code: Nullable(Code) }),
} as const
export const messageChannelVerified = event({
  type: 'message_channel.verified',
  ...channel,
  listeners: ['issues ended'],
})
export const messageChannelFailed = event({
  type: 'message_channel.failed',
  ...channel,
  listeners: ['issues'],
})
export const messageChannelCapReached = event({ type: 'message_channel.cap_reached', ...channel })

export const ocpEvents: Event[] = [
  messageQueued,
  messageSent,
  messageDelivered,
  messageRead,
  messageFailed,
  messageSuppressed,
  messageExpired,
  messageCancelled,
  messageReceived,
  suppressionAdded,
  suppressionLifted,
  templatePublished,
  automationCreated,
  automationChanged,
  automationDeleted,
  conversationOpened,
  conversationClosed,
  campaignLaunched,
  campaignCompleted,
  campaignCancelled,
  messageChannelVerified,
  messageChannelFailed,
  messageChannelCapReached,
]
