import type { ChannelDriver } from '../../config/channels.ts'
import type { Trx } from '../lib/connection.ts'
import type { ChannelConnectionRow } from '../rows.ts'
import { seal, unseal } from '../lib/sealing/index.ts'

/** Credentials to call a channel; `secret` signs. Never logged, never in a payload. */
export type ChannelAccount = {
  connectionId: string
  driver: ChannelDriver
  endpointUrl: string
  externalPropertyId: string
  secret: string
}
export type Credentials = { secret: string }

const place = (connectionId: string) => ({ table: 'channel_connection', rowId: connectionId, purpose: 'credentials' })

export const sealCredentials = (trx: Trx, connectionId: string, credentials: Credentials) =>
  seal(trx, 'tenant', place(connectionId), credentials)

/** Null where the credentials are not set, or erased. */
export const accountOf = async (
  trx: Trx,
  connection: Pick<ChannelConnectionRow, 'id' | 'driver' | 'endpointUrl' | 'externalPropertyId' | 'credentials'>,
): Promise<ChannelAccount | null> => {
  const { id, driver, endpointUrl, externalPropertyId, credentials } = connection
  if (!credentials) return null
  const { secret } = await unseal<Credentials>(trx, 'tenant', place(id), credentials)
  return { connectionId: id, driver, endpointUrl, externalPropertyId, secret }
}
