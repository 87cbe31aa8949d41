import { channelDrivers, simulatorHost } from '../../config/channels.ts'
import { sampleId } from '../../config/samples.ts'
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
import { resource } from '../lib/resource.ts'
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

const connections = resource({
  name: 'channelConnections',
  subject: 'ChannelConnection',
  table: 'channel_connection',
  path: '/api/tenants/:tenantId/channel-connections',
  param: 'channelConnectionId',
  record: ChannelConnection,
  read: readConnection,
})

const list = connections.list({
  withoutFeature: true,
  summary: 'List channel connections with their lag',
  description: 'Ended ones are listed with `status=disconnected` alone.',
  query: { propertyId: Opt(Uuid), status: Opt(Status), driver: Opt(Driver) },
  of: ChannelConnectionSummary,
  example: { status: 'draft' },
  find: ({ trx, filter }) => listConnections(trx, filter),
})

const create = connections.create({
  summary: 'Create a channel connection',
  description: 'A draft: nothing is exchanged before it is activated. One live connection per account of the channel.',
  errors: ['duplicate_code', 'reference_not_found', 'invalid_transition', 'not_found'],
  body: Obj({ propertyId: Uuid, driver: Driver, ...identity, ...Sparse(Obj(limits)).properties, ...written }),
  example: {
    propertyId: sampleId('propertyId'),
    driver: 'simulator',
    name: 'The channel',
    endpointUrl: `https://${simulatorHost}/`,
    externalPropertyId: 'H-1001',
  },
  command: ({ trx, body }) => createConnection(trx, body),
})

const read = connections.read({
  withoutFeature: true,
  summary: 'Read a connection with its mappings',
})

const change = connections.change({
  summary: 'Change credentials, mappings, buffer or horizon of a connection',
  description:
    '`mappings` replaces them all. The channel is told that what is left out is closed, and what guests who booked by it still change is understood until the last of them has left.',
  errors: ['duplicate_code', 'reference_not_found', 'invalid_transition'],
  body: Obj({ ...Sparse(Obj({ ...identity, ...limits })).properties, ...written }),
  example: { buffer: 1, horizonDays: 365 },
  command: ({ trx, id, body }) => changeConnection(trx, id, body),
})

const activate = connections.act('activate', {
  summary: 'Test a connection and start exchanging',
  action: 'publish',
  errors: ['mapping_missing', 'credentials_missing', 'invalid_transition'],
  command: ({ trx, id }) => activateConnection(trx, id),
})

const pause = connections.act('pause', {
  withoutFeature: true,
  summary: 'Stop pushing and pulling for now',
  action: 'publish',
  errors: ['invalid_transition'],
  body: Reason,
  example: { reason: 'Prices are being reviewed' },
  command: ({ trx, id, body }) => pauseConnection(trx, id, body.reason),
})

const sync = connections.act('sync', {
  summary: 'Push everything and pull bookings now',
  action: 'update',
  errors: ['invalid_transition'],
  body: Obj({ rates: Opt(Bool), bookings: Opt(Bool) }),
  example: { bookings: false },
  command: ({ trx, id, body: { rates = true, bookings = true } }) => syncConnection(trx, id, { rates, bookings }),
})

const end = connections.act('disconnect', {
  withoutFeature: true,
  summary: 'Close the channel’s inventory and end the connection',
  description:
    'An active connection tells its channel that nothing is left before it ends, unless `closeOut` is false; the credentials are erased after that.',
  action: 'delete',
  errors: ['invalid_transition'],
  body: Obj({ closeOut: Opt(Bool) }),
  example: { closeOut: false },
  command: ({ trx, id, body }) => disconnect(trx, id, body.closeOut),
})

const pushes = paged({
  id: 'channelConnections.pushes',
  path: `${connections.one}/pushes`,
  summary: 'List pushes with their outcome',
  access: can('read', 'ChannelConnection', { withoutFeature: true }),
  query: {
    status: Opt(OneOf(['sending', 'accepted', 'partial', 'failed'])),
    kind: Opt(OneOf(['availability', 'rates'])),
  },
  of: ChannelPush,
  find: async ({ trx, params: { channelConnectionId }, query, admission }) => {
    admission.check('read', 'ChannelConnection', await readConnection(trx, channelConnectionId))
    return listPushes(trx, { ...query, channelConnectionId })
  },
})

export const routes = [list, create, read, change, activate, pause, sync, end, pushes]
