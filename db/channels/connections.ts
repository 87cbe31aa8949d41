import { randomUUID } from 'node:crypto'
import type { channelConnected } from '../../config/events/channels.ts'
import { settings } from '../../config/env.ts'
import { channelDrivers, simulatorHost } from '../../config/channels.ts'
import type { ChannelDriver } from '../../config/channels.ts'
import { conflict, invalid, notFound } from '../../config/errors.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import type { ChannelConnectionRow } from '../rows.ts'
import { model } from '../lib/models.ts'
import { changeRow, fieldsOf, insertRow } from '../lib/records.ts'
import { lockForChange } from '../lib/locked-property.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { sealCredentials } from './account.ts'
import type { Credentials } from './account.ts'
import { readMappings, replaceMappings } from './mappings.ts'
import type { MappingEntry } from './mappings.ts'
import { markAll, requestPush } from './marks.ts'

export const connectionLifecycle = lifecycle<ChannelConnectionRow['status']>('A channel connection')({
  changed: { from: ['draft', 'connecting', 'active', 'paused', 'failed'] },
  activated: { from: ['draft', 'paused', 'failed'], to: 'connecting' },
  paused: { from: ['connecting', 'active'], to: 'paused' },
  synchronised: { from: ['active'] },
  'closed out': { from: ['active'] },
  disconnected: { from: ['draft', 'connecting', 'active', 'paused', 'failed'], to: 'disconnected' },
})

const ChannelConnection = model<'channel_connection'>('channel_connection')

const columns = `c.id, c.property_id, c.name, c.driver, c.status, c.endpoint_url, c.external_property_id, c.buffer, c.horizon_days,
  c.credentials is not null as has_credentials, c.last_push_at, c.last_pull_at, c.last_error, c.push_lease_until, c.disconnected_at,
  coalesce((select greatest(0, extract(epoch from clock_timestamp() - min(d.changed_at)))::int from channel_dirty d
    where d.tenant_id = c.tenant_id and d.channel_connection_id = c.id), 0) as lag_seconds, c.version, c.created_at, c.updated_at`

export type ConnectionRecord = Pick<
  ChannelConnectionRow,
  | 'id'
  | 'propertyId'
  | 'name'
  | 'driver'
  | 'status'
  | 'endpointUrl'
  | 'externalPropertyId'
  | 'buffer'
  | 'horizonDays'
  | 'lastPushAt'
  | 'lastPullAt'
  | 'lastError'
  | 'pushLeaseUntil'
  | 'disconnectedAt'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
> & {
  hasCredentials: boolean
  /** Age of the oldest change that the channel was not told of yet. */
  lagSeconds: number
}

type Filter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  driver?: string | undefined
  scope: Condition
}

export const listConnections = (trx: Trx, { propertyId, status, driver, scope, ...paging }: Filter) =>
  readPage<ConnectionRecord>(
    trx,
    {
      columns,
      from: 'channel_connection c',
      conditions: [
        ...inScope(scope, 'c.property_id'),
        ...where('c.property_id = ?', propertyId),
        ...(status === undefined
          ? [{ text: `c.status <> 'disconnected'`, values: [] }]
          : where('c.status = ?', status)),
        ...where('c.driver = ?', driver),
      ],
      order: 'c.created_at, c.id',
    },
    paging,
  )

/** A connection with its mappings. 404. */
export const readConnection = async (trx: Trx, id: string) => {
  const { rows } = await readPage<ConnectionRecord>(
    trx,
    {
      columns,
      from: 'channel_connection c',
      conditions: [{ text: 'c.id = ?', values: [id] }],
      order: 'c.id',
    },
    { page: 1, limit: 1 },
  )
  const [row] = rows
  if (!row) throw notFound()
  return { ...row, mappings: await readMappings(trx, id) }
}

/** Drivers that a tenant may choose here. */
const isOffered = (driver: ChannelDriver) =>
  channelDrivers.includes(driver) && (driver !== 'simulator' || !settings.production)

/** Refuses addresses with a query, which would swallow the path, or a password, which readers of the connection would see. */
const judgeEndpoint = (driver: ChannelDriver, endpointUrl: string) => {
  if (/[?#]/.test(endpointUrl) || new URL(endpointUrl).password !== '')
    throw invalid([{ field: 'endpointUrl', message: 'must hold no password, query or fragment' }])
  if (driver === 'simulator' && new URL(endpointUrl).hostname !== simulatorHost)
    throw invalid([{ field: 'endpointUrl', message: `must be on ${simulatorHost}` }])
}

const isTaken = () =>
  conflict('duplicate_code', 'The property is connected with this account already', [
    { field: 'externalPropertyId', message: 'is connected already' },
  ])

const refuseTaken = async (
  trx: Trx,
  {
    id,
    propertyId,
    driver,
    externalPropertyId,
  }: Pick<ConnectionRecord, 'id' | 'propertyId' | 'driver' | 'externalPropertyId'>,
) => {
  const other = await sqlOne(
    trx,
    `select 1 as one from channel_connection where property_id = ? and driver = ? and external_property_id = ? and status <> 'disconnected' and id <> ?`,
    [propertyId, driver, externalPropertyId, id],
  )
  if (other) throw isTaken()
}

export type NewConnection = {
  propertyId: string
  name: string
  driver: ChannelDriver
  endpointUrl: string
  externalPropertyId: string
  credentials?: Credentials | undefined
  buffer?: number | undefined
  horizonDays?: number | undefined
  mappings?: MappingEntry[] | undefined
}

export const createConnection = async (trx: Trx, given: NewConnection): Promise<string> => {
  if (!isOffered(given.driver)) throw invalid([{ field: 'driver', message: 'is not offered here' }])
  judgeEndpoint(given.driver, given.endpointUrl)
  // Bookings and prices do not wait for it; another connection, and an archive, do.
  await lockForChange(trx, given.propertyId)
  const id = randomUUID()
  const { propertyId, driver, externalPropertyId } = given
  await refuseTaken(trx, { id, propertyId, driver, externalPropertyId })
  await insertRow(trx, ChannelConnection, {
    id,
    propertyId,
    name: given.name,
    driver,
    endpointUrl: given.endpointUrl.replace(/\/+$/, ''),
    externalPropertyId,
    credentials: given.credentials ? await sealCredentials(trx, id, given.credentials) : null,
    buffer: given.buffer,
    horizonDays: given.horizonDays,
  })
  if (given.mappings) await replaceMappings(trx, { id, propertyId, lastPushAt: null }, given.mappings)
  return id
}

export type ConnectionChange = Partial<Omit<NewConnection, 'propertyId' | 'driver'>>

/** Changes a connection, whose row the caller holds. One at work tells its channel everything anew. */
export const changeConnection = async (trx: Trx, id: string, change: ConnectionChange): Promise<void> => {
  const before = await readConnection(trx, id)
  connectionLifecycle.allow('changed', before.status)
  if (change.endpointUrl !== undefined) judgeEndpoint(before.driver, change.endpointUrl)
  const { credentials, mappings, endpointUrl, ...fields } = change
  if (fields.externalPropertyId !== undefined && fields.externalPropertyId !== before.externalPropertyId) {
    if (before.lastPushAt !== null)
      throw conflict(
        'invalid_transition',
        'It has told its channel of this house; disconnect it, and connect the other one',
      )
    await refuseTaken(trx, { ...before, externalPropertyId: fields.externalPropertyId })
  }
  if (mappings) await replaceMappings(trx, before, mappings)
  if (credentials)
    await sql(trx, `update channel_connection set credentials = ? where id = ?`, [
      await sealCredentials(trx, id, credentials),
      id,
    ])
  if (fieldsOf(change).length === 0) return
  const endpoint = endpointUrl?.replace(/\/+$/, '') ?? before.endpointUrl
  const isElsewhere =
    endpoint !== before.endpointUrl ||
    (fields.externalPropertyId ?? before.externalPropertyId) !== before.externalPropertyId
  // Where to go on was said by another: nothing is kept twice, and what that one never handed out is asked for.
  if (isElsewhere) await sql(trx, `update channel_connection set pull_cursor = null where id = ?`, [id])
  // A change of mappings or credentials alone raises the version too.
  await changeRow(trx, ChannelConnection, id, {
    ...fields,
    name: fields.name ?? before.name,
    endpointUrl: endpoint,
  })
  const isToldAnew = mappings || isElsewhere || fields.buffer !== undefined || fields.horizonDays !== undefined
  if (before.status === 'active' && isToldAnew) {
    const { propertyId, horizonDays } = before
    const horizon = Math.max(horizonDays, fields.horizonDays ?? 0)
    await markAll(trx, { id, propertyId, horizonDays: horizon }, ['availability', 'rates'])
    await requestPush(trx, id, { soon: false })
  }
}

/** Emits an event about a connection. */
export const tellOfConnection = (
  trx: Trx,
  event: typeof channelConnected,
  { id, propertyId, driver, version }: Pick<ChannelConnectionRow, 'id' | 'propertyId' | 'driver' | 'version'>,
  cause: string | null = null,
) => emit(trx, event, { propertyId, id, version, data: { channelConnectionId: id, driver, cause } })
