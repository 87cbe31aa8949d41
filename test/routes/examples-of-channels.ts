import fc from 'fast-check'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { storeRevision } from '../../db/channels/revisions.ts'
import { makeConnection, mappingsOf, revisionOf } from '../channels/support.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Connections in each state that a move starts from, and a revision that waits. No plan has channels: they are granted. */
export const ofChannels = async (
  house: House,
): Promise<{ known: Known; examples: Record<string, unknown[]>; channelConnectionId: string }> => {
  await inPlatform((trx) =>
    grantEntitlement(trx, { tenantId: house.tenantId, key: 'channels', reason: 'no plan has it' }),
  )
  const make = async (name: string, status: string) => {
    const id = await makeConnection(house, { name, secret: 'x'.repeat(20) })
    await house.inHouse((trx) => sql(trx, `update channel_connection set status = ? where id = ?`, [status, id]))
    return id
  }
  const draft = await make('fuzz-draft', 'draft')
  const active = await make('fuzz-active', 'active')
  const pausable = await make('fuzz-pausable', 'active')
  const gone = await make('fuzz-gone', 'paused')
  const taking = await make('fuzz-taking', 'paused')
  const revision = revisionOf(house, { from: 40 })
  const [applicable, dismissible] = await house.inHouse(async (trx) => {
    const at = { id: taking, propertyId: house.propertyId }
    const first = await storeRevision(trx, at, revision, null)
    const second = await storeRevision(trx, at, revisionOf(house, { from: 42 }), null)
    await sql(trx, `update channel_booking set status = 'failed' where id = ?`, [second.row.id])
    return [first.row.id, second.row.id]
  })
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    channelConnectionId: taking,
    known: {
      channelConnectionId: one(active),
      channelBookingId: one(applicable),
      'channelConnections.update channelConnectionId': one(draft),
      'channelConnections.activate channelConnectionId': one(draft),
      'channelConnections.pause channelConnectionId': one(pausable),
      'channelConnections.disconnect channelConnectionId': one(gone),
      'channelBookings.dismiss channelBookingId': one(dismissible),
    },
    examples: {
      'channelConnections.create': [
        {
          propertyId: house.propertyId,
          name: 'Channel manager',
          driver: 'open',
          endpointUrl: 'https://channel.example/v1',
          externalPropertyId: 'fuzz-open',
          credentials: { secret: 'a secret of thirty-two characters' },
          mappings: mappingsOf(house),
        },
      ],
      'channelConnections.update': [{ buffer: 1 }, { mappings: mappingsOf(house) }],
      'channelConnections.disconnect': [{ closeOut: false }],
      'channelConnections.sync': [{ rates: true, bookings: false }],
      'channelBookings.list': [{}, { include: 'payload' }],
      'channelBookings.deliver': [{ channelConnectionId: taking, ...revisionOf(house, { from: 44 }) }],
    },
  }
}
