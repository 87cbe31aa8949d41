import { Nullable, Obj, OneOf, Uuid } from '../schema.ts'
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

export const suppressionAdded = event({
  type: 'suppression.added',
  entity: 'suppression',
  subject: 'Suppression',
  data: Obj({
    suppressionId: Uuid,
    kind: OneOf(['email', 'sms', 'whatsapp']),
    scope: OneOf(['marketing', 'all']),
    cause: Code,
  }),
})

export const ocpEvents: Event[] = [
  messageQueued,
  messageSent,
  messageDelivered,
  messageRead,
  messageFailed,
  messageSuppressed,
  messageExpired,
  messageCancelled,
  suppressionAdded,
]
