import fc from 'fast-check'
import { standIn } from '../../config/outgoing-address.ts'
import { createEndpoint, numberEvents, pauseEndpoint } from '../../db/webhooks/index.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'
import { grantWebhooks, raise } from '../webhooks/support.ts'
import type { Known } from './inputs.ts'

/** Endpoints in each state that a move starts from, and a delivery. No plan has webhooks: they are granted. */
export const ofWebhooks = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  await grantWebhooks(house.tenantId)
  // No server listens there, so every delivery fails.
  standIn({ host: 'hooks.example.com', port: 1 })
  const make = (path: string) =>
    house.inHouse(async (trx) => {
      const { id } = await createEndpoint(trx, {
        url: `https://hooks.example.com/${path}`,
        types: ['promo_code.*'],
        subjects: ['PromoCode'],
      })
      return id
    })
  const active = await make('active')
  const pausable = await make('pausable')
  const paused = await make('paused')
  const gone = await make('gone')
  await house.inHouse((trx) => pauseEndpoint(trx, paused))
  const delivery = await house.inHouse(async (trx) => {
    await raise(trx, house.propertyId)
    await numberEvents(trx)
    return sqlOne<{ id: string }>(trx, `select id from webhook_delivery where webhook_endpoint_id = ?`, [active])
  })
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    known: {
      webhookEndpointId: one(active),
      webhookDeliveryId: one(delivery?.id ?? ''),
      'webhookEndpoints.pause webhookEndpointId': one(pausable),
      'webhookEndpoints.resume webhookEndpointId': one(paused),
      'webhookEndpoints.delete webhookEndpointId': one(gone),
      types: one(['*'], ['promo_code.created', 'reservation.*'], ['promo_code.*'], ['nothing.*']),
      url: one('https://hooks.example.com/fuzz', 'https://hooks.example.com/again', 'https://10.0.0.1/'),
      propertyIds: one([], [house.propertyId]),
      after: one('0', '1', 'latest', '999999'),
    },
    examples: {
      'webhookEndpoints.replay': [{ from: '2026-01-01T00:00:00Z' }, { fromSequence: 1 }],
      'events.feed': [{}, { after: 'latest' }, { types: 'promo_code.*' }],
    },
  }
}
