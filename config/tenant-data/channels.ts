import { inner, rows, sealed } from './table.ts'

export const channelsData = [
  ...rows('channel_connection', 'channel_mapping'),
  sealed('channel_booking', { payload: { purpose: 'payload' } }),
  ...inner('what a channel is still to be told', 'channel_dirty', 'channel_push'),
]
