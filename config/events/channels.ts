import { Count, List, Nullable, Obj, OneOf, Text, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

/** The number that the channel gave. */
const ExternalId = Text(1, 100, { cardNumber: 'exempt' })

const channel = {
  entity: 'channel_connection',
  subject: 'ChannelConnection',
  data: Obj({ channelConnectionId: Uuid, driver: Code, cause: Nullable(Code) }),
} as const
export const channelConnected = event({ type: 'channel.connected', ...channel, listeners: ['issues ended'] })
export const channelPaused = event({ type: 'channel.paused', ...channel })
export const channelFailed = event({ type: 'channel.failed', ...channel, listeners: ['issues'] })
export const channelDisconnected = event({ type: 'channel.disconnected', ...channel })
export const channelAttentionNeeded = event({ type: 'channel.attention_needed', ...channel, listeners: ['issues'] })

const channelBooking = {
  entity: 'channel_booking',
  subject: 'ChannelBooking',
  data: Obj({
    channelConnectionId: Uuid,
    channelBookingId: Uuid,
    externalId: ExternalId,
    revision: Count,
    kind: OneOf(['new', 'modified', 'cancelled']),
    reservationIds: List(Uuid, { max: 100 }),
  }),
} as const
export const channelBookingReceived = event({ type: 'channel_booking.received', ...channelBooking })
export const channelBookingApplied = event({
  type: 'channel_booking.applied',
  ...channelBooking,
  listeners: ['issues ended'],
})
export const channelBookingMappingNeeded = event({
  type: 'channel_booking.mapping_needed',
  ...channelBooking,
  listeners: ['issues'],
})
export const channelBookingFailed = event({ type: 'channel_booking.failed', ...channelBooking, listeners: ['issues'] })
export const channelBookingDismissed = event({
  type: 'channel_booking.dismissed',
  ...channelBooking,
  listeners: ['issues ended'],
})

export const channelsEvents: Event[] = [
  channelConnected,
  channelPaused,
  channelFailed,
  channelDisconnected,
  channelAttentionNeeded,
  channelBookingReceived,
  channelBookingApplied,
  channelBookingMappingNeeded,
  channelBookingFailed,
  channelBookingDismissed,
]
