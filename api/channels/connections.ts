import { channelDrivers } from '../../config/channels.ts'
import {
  Bool,
  Count,
  Day,
  Https,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  changeConnection,
  createConnection,
  listConnections,
  readConnection,
  activateConnection,
  disconnect,
  pauseConnection,
  syncConnection,
  listPushes,
} from '../../db/channels/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Reason, stamps } from '../properties/schemas.ts'

const Status = OneOf(['draft', 'connecting', 'active', 'paused', 'failed', 'disconnected'])
const Driver = OneOf([...channelDrivers])
const ExternalId = Text(1, 100, { cardNumber: 'exempt' })
const mappingFields = {
  unitTypeId: Uuid,
  /** Null maps availability alone. */
  ratePlanId: Nullable(Uuid),
  externalUnitTypeId: ExternalId,
  externalRatePlanId: Nullable(ExternalId),
}
const mappingOptions = {
  /** Signed basis points upon the plan's price. */
  modifierRate: Int(-10_000, 10_000),
  enabled: Bool,
}
const MappingSent = Obj({ ...mappingFields, ...Sparse(Obj(mappingOptions)).properties })
const identity = {
  name: Words(1, 120),
  endpointUrl: Https,
  externalPropertyId: ExternalId,
}
const limits = {
  /** Units kept back from the channel. */
  buffer: Int(0, 20),
  horizonDays: Int(1, 730),
}
/** Written, never read: `secret` signs every call. */
const Credentials = Obj({ secret: Text(16, 200, { cardNumber: 'exempt' }) })
const written = { credentials: Opt(Credentials), mappings: Opt(List(MappingSent, { max: 400 })) }
const fields = {
  id: Uuid,
  propertyId: Uuid,
  driver: Driver,
  status: Status,
  ...identity,
  ...limits,
  hasCredentials: Bool,
  lastPushAt: Nullable(Instant),
  lastPullAt: Nullable(Instant),
  /** Age of the oldest change that the channel was not told of yet. */
  lagSeconds: Count,
  lastError: Nullable(Text(0, 1_000)),
  pushLeaseUntil: Nullable(Instant),
  disconnectedAt: Nullable(Instant),
  ...stamps,
}
const ChannelConnectionSummary = Obj(fields, { title: 'ChannelConnectionSummary' })
const ChannelConnection = Obj(
  { ...fields, mappings: List(Obj({ ...mappingFields, ...mappingOptions }), { max: 2_000 }) },
  { title: 'ChannelConnection' },
)
const Range = Obj({
  unitType: ExternalId,
  ratePlan: Opt(ExternalId),
  from: Day,
  to: Day,
  available: Opt(Count),
})
const ChannelPush = Obj(
  {
    id: Uuid,
    channelConnectionId: Uuid,
    kind: OneOf(['availability', 'rates']),
    status: OneOf(['sending', 'accepted', 'partial', 'failed']),
    rangeCount: Count,
    messageCount: Count,
    attempts: Count,
    error: Nullable(Text(0, 1_000)),
    startedAt: Instant,
    finishedAt: Nullable(Instant),
    /** The first of them. */
    ranges: List(Range, { max: 50 }),
  },
  { title: 'ChannelPush' },
)

const path = '/api/tenants/:tenantId/channel-connections'
const one = `${path}/:channelConnectionId` as const
const record = { table: 'channel_connection', param: 'channelConnectionId' }

const list = paged({
  id: 'channelConnections.list',
  path,
  summary: 'List channel connections with their lag',
  description: 'Ended ones are listed with `status=disconnected` alone.',
  access: can('read', 'ChannelConnection'),
  query: { propertyId: Opt(Uuid), status: Opt(Status), driver: Opt(Driver) },
  of: ChannelConnectionSummary,
  find: ({ trx, query, admission }) =>
    listConnections(trx, { ...query, scope: admission.scope('read', 'ChannelConnection') }),
})

const create = route({
  id: 'channelConnections.create',
  method: 'POST',
  path,
  summary: 'Create a channel connection',
  description: 'A draft: nothing is exchanged before it is activated. One live connection per account of the channel.',
  access: can('create', 'ChannelConnection'),
  status: 201,
  errors: ['duplicate_code', 'reference_not_found', 'invalid_transition', 'not_found'],
  body: Obj({ propertyId: Uuid, driver: Driver, ...identity, ...Sparse(Obj(limits)).properties, ...written }),
  returns: ChannelConnection,
  handle: async ({ trx, body }) => readConnection(trx, await createConnection(trx, body)),
})

const read = route({
  id: 'channelConnections.read',
  method: 'GET',
  path: one,
  summary: 'Read a connection with its mappings',
  access: can('read', 'ChannelConnection'),
  returns: ChannelConnection,
  handle: ({ trx, params, admission }) =>
    readConnection(trx, params.channelConnectionId, admission.scope('read', 'ChannelConnection')),
})

const change = route({
  id: 'channelConnections.update',
  method: 'PATCH',
  path: one,
  summary: 'Change credentials, mappings, buffer or horizon of a connection',
  description:
    '`mappings` replaces them all. The channel is told that what is left out is closed, and what guests who booked by it still change is understood until the last of them has left.',
  access: can('update', 'ChannelConnection'),
  record,
  errors: ['duplicate_code', 'reference_not_found', 'invalid_transition'],
  body: Obj({ ...Sparse(Obj({ ...identity, ...limits })).properties, ...written }),
  returns: ChannelConnection,
  handle: async ({ trx, params, body }) => {
    await changeConnection(trx, params.channelConnectionId, body)
    return readConnection(trx, params.channelConnectionId)
  },
})

const activate = route({
  id: 'channelConnections.activate',
  method: 'POST',
  path: `${one}/activate`,
  summary: 'Test a connection and start exchanging',
  access: can('publish', 'ChannelConnection'),
  record,
  errors: ['mapping_missing', 'credentials_missing', 'invalid_transition'],
  returns: ChannelConnection,
  handle: async ({ trx, params }) => {
    await activateConnection(trx, params.channelConnectionId)
    return readConnection(trx, params.channelConnectionId)
  },
})

const pause = route({
  id: 'channelConnections.pause',
  method: 'POST',
  path: `${one}/pause`,
  summary: 'Stop pushing and pulling for now',
  access: can('publish', 'ChannelConnection'),
  record,
  errors: ['invalid_transition'],
  body: Reason,
  returns: ChannelConnection,
  handle: async ({ trx, params, body }) => {
    await pauseConnection(trx, params.channelConnectionId, body.reason)
    return readConnection(trx, params.channelConnectionId)
  },
})

const sync = route({
  id: 'channelConnections.sync',
  method: 'POST',
  path: `${one}/sync`,
  summary: 'Push everything and pull bookings now',
  access: can('update', 'ChannelConnection'),
  record,
  errors: ['invalid_transition'],
  body: Obj({ rates: Opt(Bool), bookings: Opt(Bool) }),
  returns: ChannelConnection,
  handle: async ({ trx, params, body: { rates = true, bookings = true } }) => {
    await syncConnection(trx, params.channelConnectionId, { rates, bookings })
    return readConnection(trx, params.channelConnectionId)
  },
})

const end = route({
  id: 'channelConnections.disconnect',
  method: 'POST',
  path: `${one}/disconnect`,
  summary: 'Close the channel’s inventory and end the connection',
  description:
    'An active connection tells its channel that nothing is left before it ends, unless `closeOut` is false; the credentials are erased after that.',
  access: can('delete', 'ChannelConnection'),
  record,
  errors: ['invalid_transition'],
  body: Obj({ closeOut: Opt(Bool) }),
  returns: ChannelConnection,
  handle: async ({ trx, params, body }) => {
    await disconnect(trx, params.channelConnectionId, body.closeOut)
    return readConnection(trx, params.channelConnectionId)
  },
})

const pushes = paged({
  id: 'channelConnections.pushes',
  path: `${one}/pushes`,
  summary: 'List pushes with their outcome',
  access: can('read', 'ChannelConnection'),
  query: {
    status: Opt(OneOf(['sending', 'accepted', 'partial', 'failed'])),
    kind: Opt(OneOf(['availability', 'rates'])),
  },
  of: ChannelPush,
  find: async ({ trx, params: { channelConnectionId }, query, admission }) => {
    await readConnection(trx, channelConnectionId, admission.scope('read', 'ChannelConnection'))
    return listPushes(trx, { ...query, channelConnectionId })
  },
})

export const routes = [list, create, read, change, activate, pause, sync, end, pushes]
