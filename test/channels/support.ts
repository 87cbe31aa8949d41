import { randomUUID } from 'node:crypto'
import { simulatorHost } from '../../config/channels.ts'
import type { ChannelRevision, ChannelRoom } from '../../config/channels.ts'
import { addDays, daysIn } from '../../config/time.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { hasFeature } from '../../db/lib/features.ts'
import { createConnection } from '../../db/channels/connections.ts'
import type { NewConnection } from '../../db/channels/connections.ts'
import { activateConnection } from '../../db/channels/lifecycle.ts'
import { storeRevision } from '../../db/channels/revisions.ts'
import type { ChannelBookingRow, ChannelConnectionRow, ReservationRow } from '../../db/rows.ts'
import type { PoolNight } from '../../db/units/rules/availability.ts'
import type { Account, Simulator } from '../support/channel-simulator/peer.ts'
import { drain } from '../support/drain.ts'
import type { House } from '../support/factories.ts'

export type Connected = { id: string; account: Account }

/** No plan has the feature. */
const giveChannels = async (tenantId: string): Promise<void> => {
  if (!(await inTenant(tenantId, (trx) => hasFeature(trx, 'channels'))))
    await inPlatform((trx) => grantEntitlement(trx, { tenantId, key: 'channels', reason: 'a connection is made' }))
}

/** A connection with both types and both plans, as a draft. */
export const makeConnection = async (
  house: House,
  account: Pick<Account, 'name' | 'secret'>,
  options: Partial<NewConnection> = {},
): Promise<string> => {
  await giveChannels(house.tenantId)
  return house.inHouse((trx) =>
    createConnection(trx, {
      propertyId: house.propertyId,
      name: 'A channel',
      driver: 'simulator',
      endpointUrl: `https://${simulatorHost}`,
      externalPropertyId: account.name,
      credentials: { secret: account.secret },
      horizonDays: 40,
      mappings: mappingsOf(house),
      ...options,
    }),
  )
}

export const mappingsOf = (house: House) => [
  { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, externalUnitTypeId: 'DBL', externalRatePlanId: 'BAR' },
  { unitTypeId: house.unitTypeId, ratePlanId: house.saverPlanId, externalUnitTypeId: 'DBL', externalRatePlanId: 'NRF' },
  ...(house.suiteTypeId
    ? [
        {
          unitTypeId: house.suiteTypeId,
          ratePlanId: house.ratePlanId,
          externalUnitTypeId: 'STE',
          externalRatePlanId: 'BAR',
        },
      ]
    : []),
]

const kinds = ['channels.test', 'channels.push', 'channels.pull', 'channels.mark-dirty']

/** One that is at work, and has told its channel everything. */
export const connect = async (
  house: House,
  simulator: Simulator,
  options: Partial<NewConnection> = {},
): Promise<Connected> => {
  const account = await simulator.account(randomUUID())
  const id = await makeConnection(house, account, options)
  await house.inHouse((trx) => activateConnection(trx, id))
  await drain({ kinds })
  return { id, account }
}

/** Runs what channels have to do, as if the seconds that pushes wait were over. */
export const settle = (aheadMs = 10_000) =>
  drain({ kinds: ['channels.mark-dirty', 'channels.push', 'channels.apply-booking', 'channels.acknowledge'], aheadMs })

export const connectionRow = async (house: House, id: string): Promise<ChannelConnectionRow> => {
  const row = await house.inHouse((trx) =>
    sqlOne<ChannelConnectionRow>(trx, `select * from channel_connection where id = ?`, [id]),
  )
  if (!row) throw new Error('no such connection')
  return row
}

export const marksLeft = (house: House, id: string) =>
  house.inHouse((trx) => sql(trx, `select kind, during::text from channel_dirty where channel_connection_id = ?`, [id]))

let sold = 0
export const newExternalId = () => {
  sold += 1
  return `OTA-${sold}-${randomUUID().slice(0, 8)}`
}

type Given = Partial<Omit<ChannelRevision, 'rooms'>> & {
  from?: number
  nights?: number
  amount?: number
  rooms?: number | ChannelRoom[]
  unitType?: string
  ratePlan?: string
}

/** A revision of a stay of two nights, thirty days from now, at a price of the channel's own. */
export const revisionOf = (house: House, given: Given = {}): ChannelRevision => {
  const { from = 30, nights = 2, amount = 17_333, rooms = 1, unitType = 'DBL', ratePlan = 'BAR', ...fields } = given
  const arrival = house.day(from)
  const departure = addDays(arrival, nights)
  const list = Array.isArray(rooms)
    ? rooms
    : Array.from({ length: rooms }, () => ({
        externalUnitTypeId: unitType,
        externalRatePlanId: ratePlan,
        arrival,
        departure,
        adults: 2,
        childrenAges: [],
        nights: daysIn(arrival, departure).map((date) => ({ date, amount })),
      }))
  return {
    externalId: newExternalId(),
    revision: 1,
    kind: 'new',
    issuedAt: new Date().toISOString(),
    booker: { name: 'Ana Clara Souza', email: 'ana.clara@ota.example', countryCode: 'BR' },
    currency: 'BRL',
    total: list.flatMap((room) => room.nights).reduce((sum, night) => sum + night.amount, 0),
    collectedBy: 'channel',
    rooms: list,
    ...fields,
  }
}

/** Stores revisions as a delivery does, and applies them. Answers their rows as they are then. */
export const receive = async (house: House, connectionId: string, ...revisions: ChannelRevision[]) => {
  const ids: string[] = []
  for (const revision of revisions)
    ids.push(
      await house.inHouse(
        async (trx) =>
          (await storeRevision(trx, { id: connectionId, propertyId: house.propertyId }, revision, null)).row.id,
      ),
    )
  await drain({ kinds: ['channels.apply-booking'] })
  return Promise.all(ids.map((id) => bookingRow(house, id)))
}

export const bookingRow = async (house: House, id: string): Promise<ChannelBookingRow> => {
  const row = await house.inHouse((trx) =>
    sqlOne<ChannelBookingRow>(trx, `select * from channel_booking where id = ?`, [id]),
  )
  if (!row) throw new Error('no such revision')
  return row
}

export const staysOf = (house: House, bookingId: string | null): Promise<ReservationRow[]> =>
  house.inHouse((trx) =>
    sql<ReservationRow>(trx, `select * from reservation where booking_id = ? order by position`, [bookingId]),
  )

export const counters = (house: House, from: number, nights: number): Promise<PoolNight[]> =>
  house.inHouse((trx) =>
    sql<PoolNight>(trx, `select * from pool_night where pool_id = ? and night >= ? and night < ? order by night`, [
      house.poolId,
      house.day(from),
      house.day(from + nights),
    ]),
  )
