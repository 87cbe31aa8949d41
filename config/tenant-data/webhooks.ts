import { inner, rows } from './table.ts'

export const webhooksData = [
  ...rows('event', 'webhook_endpoint', 'webhook_delivery', 'webhook_attempt', 'webhook_replay'),
  ...inner('how far the sending has come', 'event_head', 'webhook_health', 'webhook_slot'),
  ...inner('a note that a mail was sent', 'webhook_warning'),
]
