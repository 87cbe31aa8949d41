import { unprocessable } from '../../../config/errors.ts'
import { webhookEndpointChanged } from '../../../config/events/webhooks.ts'
import { openGate } from '../../jobs/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, fieldsOf } from '../../lib/records.ts'
import { WebhookEndpoint } from '../models.ts'
import { endpointGate } from '../gate.ts'
import { readEndpoint } from './read.ts'
import { tell } from './tell.ts'
import type { NewEndpoint } from './create.ts'

export const refuseUnknownProperties = async (trx: Trx, propertyIds: readonly string[]): Promise<void> => {
  if (propertyIds.length === 0) return
  const found = await sql(trx, `select id from property where id = any(?::uuid[])`, [propertyIds])
  if (found.length < new Set(propertyIds).size)
    throw unprocessable('reference_not_found', 'A property that the request names does not exist', [
      { field: 'propertyIds', message: 'names a property that does not exist' },
    ])
}

export type EndpointChange = { [Field in keyof NewEndpoint]?: NewEndpoint[Field] | undefined }

/** Changes an endpoint, whose row the caller holds. Deliveries that wait go to the new address. */
export const changeEndpoint = async (trx: Trx, id: string, change: EndpointChange): Promise<void> => {
  const before = await readEndpoint(trx, id)
  if (change.propertyIds) await refuseUnknownProperties(trx, change.propertyIds)
  if (fieldsOf(change).length === 0) return
  await changeRow(trx, WebhookEndpoint, id, change)
  // The failures were those of the former address.
  if (change.url !== undefined && change.url !== before.url) await openGate(trx, endpointGate(id))
  const { subjects: _, ...sent } = change
  await tell(trx, id, webhookEndpointChanged, sent, before)
}
