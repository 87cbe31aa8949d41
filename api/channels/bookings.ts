import { ChannelRevision } from '../../config/channels.ts'
import { holdsSecurityCode } from '../../config/card-numbers.ts'
import { forbidden, invalid } from '../../config/errors.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
import { Day, Instant, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import {
  applyNow,
  deliverRevision,
  dismissRevision,
  listRevisions,
  readRevision,
  revealPayloads,
} from '../../db/channels/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import { Reason, stamps } from '../properties/schemas.ts'

const Status = OneOf(['received', 'applied', 'needs_mapping', 'failed', 'superseded', 'dismissed'])
const ChannelBooking = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    channelConnectionId: Uuid,
    externalId: Text(1, 100),
    revision: Int(0, 2_147_483_647),
    kind: OneOf(['new', 'modified', 'cancelled']),
    departure: Nullable(Day),
    status: Status,
    bookingId: Nullable(Uuid),
    reservationIds: List(Uuid, { max: 50 }),
    acknowledgedAt: Nullable(Instant),
    appliedAt: Nullable(Instant),
    error: Nullable(Text(0, 1_000)),
    dismissReason: Nullable(Text(0, 500)),
    /** With `include=payload`, for those who may reveal it; null once it is erased, or where it cannot be read as a booking. */
    payload: Opt(Nullable(ChannelRevision)),
    /** With `include=payload`: the revision as it was sent, if it cannot be read as a booking. */
    unreadable: Opt(Nullable(Text(0, 50_000))),
    ...stamps,
  },
  { title: 'ChannelBooking' },
)

const path = '/api/tenants/:tenantId/channel-bookings'
const withoutPayload = <R extends { payload: unknown }>({ payload: _sealed, ...row }: R) => row
const channelBookings = resource({
  name: 'channelBookings',
  subject: 'ChannelBooking',
  table: 'channel_booking',
  path,
  param: 'channelBookingId',
  record: ChannelBooking,
  read: readRevision,
  show: withoutPayload,
})

const list = channelBookings.list({
  summary: 'List booking revisions received from channels',
  description:
    '`include=payload` shows what the channel said of the guest; it needs the permission to reveal, and each look is in the trail.',
  query: {
    propertyId: Opt(Uuid),
    channelConnectionId: Opt(Uuid),
    status: Opt(Status),
    externalId: Opt(Text(1, 100, { cardNumber: 'exempt' })),
    include: Opt(OneOf(['payload'])),
  },
  of: ChannelBooking,
  example: { status: 'needs_mapping' },
  find: async ({ trx, filter: { include, ...filter }, admission }) => {
    if (include && !admission.can('reveal', 'ChannelBooking')) throw forbidden()
    const scope = include ? admission.scope('reveal', 'ChannelBooking') : filter.scope
    const { total, rows } = await listRevisions(trx, { ...filter, scope })
    if (!include) return { total, rows: rows.map(withoutPayload) }
    const revealed = await revealPayloads(trx, rows)
    return {
      total,
      rows: rows.map((row, index) => ({ ...withoutPayload(row), ...(revealed[index] ?? { payload: null }) })),
    }
  },
})

/** Refuses card security codes, which the pipeline's check of card numbers does not find. */
const refuseCodes = ({ notes, booker, rooms }: ChannelRevision) => {
  const texts = [
    ['notes', notes],
    ['booker.name', booker?.name],
    ...rooms.flatMap((room, index) => [
      ...(room.guestNames ?? []).map((name, place) => [`rooms.${index}.guestNames.${place}`, name]),
      ...(room.extras ?? []).map((extra, place) => [`rooms.${index}.extras.${place}.name`, extra.name]),
    ]),
  ]
  const errors = texts.flatMap(([field = '', text]) =>
    text !== undefined && holdsSecurityCode(text)
      ? [{ field, message: 'must not hold the security code of a card' }]
      : [],
  )
  if (errors.length > 0) throw invalid(errors, 'card_data_refused', 'Card data are entered at the gateway, never here')
}

const deliver = route({
  id: 'channelBookings.deliver',
  method: 'POST',
  path,
  summary: 'Deliver a booking revision from a channel',
  description:
    '201 says that it is stored, and is the acknowledgement; it is applied within moments. The same revision again answers 200 with the first. For keys of scope `channel:deliver`.',
  access: can('create', 'ChannelBooking'),
  status: 201,
  ok: 'The revision was stored before',
  errors: ['invalid_transition', 'not_found'],
  body: Obj({ channelConnectionId: Uuid, ...ChannelRevision.properties }),
  example: {
    channelConnectionId: sampleId('channelConnectionId'),
    externalId: 'OTA-20411',
    revision: 1,
    kind: 'new',
    issuedAt: '2026-11-20T12:00:00.000Z',
    booker: { name: 'Ana Souza', email: 'ana@guest.example', countryCode: 'BR' },
    rooms: [
      {
        externalUnitTypeId: 'DBL',
        externalRatePlanId: 'BAR',
        arrival: sampleDay(60),
        departure: sampleDay(61),
        adults: 2,
        childrenAges: [],
        nights: [{ date: sampleDay(60), amount: 42_000 }],
      },
    ],
    currency: 'BRL',
    total: 42_000,
    collectedBy: 'channel',
  },
  returns: ChannelBooking,
  handle: async ({ trx, body: { channelConnectionId, ...revision }, admission }) => {
    refuseCodes(revision)
    const scope = admission.scope('create', 'ChannelBooking')
    const { row, isNew } = await deliverRevision(trx, channelConnectionId, revision, scope)
    return new Reply(withoutPayload(row), { status: isNew ? 201 : 200 })
  },
})

const apply = channelBookings.act('apply', {
  summary: 'Apply a revision again after fixing its cause',
  action: 'update',
  errors: [
    'mapping_missing',
    'currency_mismatch',
    'invalid_transition',
    'beyond_horizon',
    'cancellation_not_allowed',
    'transition_blocked',
    'already_arrived',
    'unreadable',
    'payload_erased',
    'payment_in_progress',
    'business_day_changed',
    'property_not_selling',
    'occupancy_exceeded',
    'restriction_violated',
    'sold_out',
    'reference_not_found',
    'unit_conflict',
  ],
  command: ({ trx, id }) => applyNow(trx, id),
})

const dismiss = channelBookings.act('dismiss', {
  summary: 'Set a revision aside with a reason',
  action: 'override',
  errors: ['invalid_transition'],
  body: Reason,
  example: { reason: 'Booked by telephone already' },
  command: ({ trx, id, body }) => dismissRevision(trx, id, body.reason),
})

export const routes = [list, deliver, apply, dismiss]
