import { model } from '../lib/models.ts'

/** The answer to the newest ping of an endpoint. */
export type Ping = {
  status: 'pending' | 'delivered' | 'failed'
  at: string | null
  httpStatus: number | null
  durationMs: number | null
  error: string | null
  excerpt: string | null
}

export const WebhookEndpoint = model<'webhook_endpoint', { ping: Ping | null }>('webhook_endpoint')
export const WebhookHealth = model<'webhook_health'>('webhook_health')
