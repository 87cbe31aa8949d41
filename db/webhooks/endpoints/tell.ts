import type { webhookEndpointCreated } from '../../../config/events/webhooks.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { readEndpoint } from './read.ts'

export const tell = async (
  trx: Trx,
  id: string,
  event: typeof webhookEndpointCreated,
  sent: object = {},
  before: object = {},
) => {
  const { types, version } = await readEndpoint(trx, id)
  await emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { webhookEndpointId: id, types },
    changed: sentFields(sent, before),
  })
}

export const userOf = (trx: Trx): string | null => {
  const { actor } = contextOf(trx)
  return actor.type === 'user' ? actor.id : null
}
