import { Int, Obj, Uuid } from '../config/schema.ts'
import { every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Numbers the events that were committed since, and writes their deliveries. */
export const sequenceEvents = job({
  name: 'webhooks.sequence-events',
  queue: 'webhooks',
  payload: Obj({}),
  retry: 'tick',
  class: 'urgent',
})

/**
 * Tells an endpoint what is due to it, one event after the other. Waits between attempts stand on the deliveries. It names no feature:
 * without one it drops what waits.
 */
export const deliverEvents = job({
  name: 'webhooks.deliver',
  queue: 'webhooks',
  payload: Obj({ tenantId: Uuid, webhookEndpointId: Uuid }),
  retry: 'internal',
})

/** Sends one ping to an endpoint. */
export const pingEndpoint = job({
  name: 'webhooks.ping',
  queue: 'webhooks',
  payload: Obj({ tenantId: Uuid, webhookEndpointId: Uuid, pingNo: Int(1, 2_147_483_647) }),
  retry: 'webhook',
  tries: 1,
  class: 'urgent',
  feature: 'webhooks',
})

/** Writes the deliveries of a span of past events. */
export const replayEvents = job({
  name: 'webhooks.replay',
  queue: 'webhooks',
  payload: Obj({ tenantId: Uuid, webhookReplayId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

export const webhooksJobs: Job[] = [sequenceEvents, deliverEvents, pingEndpoint, replayEvents]

export const webhooksSchedules: Schedule[] = [every(1, sequenceEvents)]
