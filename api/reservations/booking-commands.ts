import { invalid, renamedFields } from '../../config/errors.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
import { Amount, Instant, LocaleTag, List, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import {
  addRoom,
  cancelReservations,
  cancelReasons,
  changeBooking,
  confirmHeld,
  createBooking,
  extendHold,
  readBooking,
  toldAtBooking,
} from '../../db/reservations/index.ts'
import { notFound } from '../../config/errors.ts'
import { can } from '../lib/access/kinds.ts'
import type { Caller } from '../lib/caller.ts'
import { grantOverride, mayOverride } from '../lib/override.ts'
import { route } from '../lib/route.ts'
import { personOf, quotedOf, roomOf } from './people.ts'
import { Hold, NamedPerson, Override, QuotedRoomWords, Room, roomFields } from './requests.ts'
import { bookings } from './resources.ts'
import { Reservation } from './schemas.ts'
import { audiencesFor, toldOfStay } from './views.ts'

/** Errors of every command that sells rooms. */
const sales = [
  'sold_out',
  'beyond_horizon',
  'unit_conflict',
  'price_changed',
  'duplicate_guest',
  'guest_erased',
  'override_not_permitted',
  'transition_blocked',
  'restriction_violated',
  'occupancy_exceeded',
  'extra_unavailable',
  'property_not_selling',
  'reference_not_found',
  'document_invalid',
  'too_many_nights',
  'too_many_rooms',
  'invalid_transition',
  'unit_not_in_property',
  'unit_type_mismatch',
  'folio_busy',
  'business_day_changed',
] as const

const bySource = ['phone', 'email', 'desk', 'walk_in'] as const

/** People say how a booking came; the source of a key is the interface, or a guest that stands at a kiosk. */
const sourceOf = (caller: Caller, asked: (typeof bySource)[number] | undefined, isWalkIn: boolean) => {
  if (caller.kind === 'api_key') return isWalkIn ? ('walk_in' as const) : ('api' as const)
  if (asked === undefined) throw invalid([{ field: 'source', message: 'is required' }])
  if (isWalkIn && asked !== 'walk_in')
    throw invalid([{ field: 'source', message: 'must be walk_in where the guest checks in at once' }])
  return asked
}

const room = {
  unitTypeId: sampleId('unitTypeId'),
  ratePlanId: sampleId('ratePlanId'),
  arrival: sampleDay(30),
  departure: sampleDay(32),
  adults: 2,
  childrenAges: [],
}

const create = bookings.create({
  summary: 'Hold, confirm or walk in one or more rooms',
  description:
    'All rooms or none. With `hold` the rooms are held: an option until an instant, or while a payment is awaited. With `checkIn` the guest of the only room moves in; if anything stands in the way of that, nothing is stored. Otherwise the rooms are confirmed, for which a deposit that is due at booking must be waived. `override` sets rules aside, by the permission of the caller.',
  errors: [
    ...sales,
    'not_found',
    'hold_too_long',
    'promo_code_invalid',
    'duplicate_reference',
    'quote_used',
    'quote_expired',
    'quote_invalid',
    'company_archived',
  ],
  body: Obj({
    propertyId: Uuid,
    booker: NamedPerson,
    /** Its rooms come first, at their price; `quoted` says more of them, in their order. */
    quoteId: Opt(Uuid),
    quoted: Opt(List(QuotedRoomWords, { max: 9 })),
    /** The request on the waitlist that the booking meets. */
    waitlistEntryId: Opt(Uuid),
    rooms: Opt(List(Room, { min: 1, max: 9 })),
    /** The firm that the booking is for, and the agency that makes it: the rate of its commission is kept. */
    companyId: Opt(Uuid),
    agencyId: Opt(Uuid),
    /** A confirmed group: its allotment and its prices while there are any, then free sale at its plan. */
    groupId: Opt(Uuid),
    promoCode: Opt(Text(1, 30)),
    language: Opt(LocaleTag),
    externalReference: Opt(Words(1, 60)),
    source: Opt(OneOf([...bySource])),
    hold: Opt(Hold),
    checkIn: Opt(Obj({ unitId: Opt(Uuid) })),
    override: Opt(Override),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    booker: { firstName: 'Ana', lastName: 'Souza', email: 'ana@example.com' },
    rooms: [room],
    hold: { kind: 'option' },
    source: 'phone',
  },
  command: async ({ trx, body: { booker, rooms = [], quoted, source, override, ...body }, caller, admission }) => {
    admission.check('create', 'Booking', { propertyId: body.propertyId })
    const bookingId = await createBooking(trx, {
      ...body,
      source: sourceOf(caller, source, body.checkIn !== undefined),
      booker: personOf(booker, 'booker'),
      rooms: rooms.map((one, index) => roomOf(one, `rooms.${index}.`)),
      quoted: quoted?.map((one, index) => quotedOf(one, `quoted.${index}.`)),
      override: grantOverride({ caller, admission }, override),
    })
    const told = await toldAtBooking(trx, { bookingId }, audiencesFor(admission))
    return { ...(await readBooking(trx, bookingId)), ...told }
  },
})

const change = bookings.change({
  summary: 'Change booker, language or reference',
  description:
    'Another booker ends what the one before could see of the booking, and is checked against the blocklist as at booking: the reply has the notes and warnings that the desk is told then.',
  errors: [
    'transition_blocked',
    'override_not_permitted',
    'reference_not_found',
    'guest_erased',
    'duplicate_reference',
    'business_day_changed',
  ],
  body: Obj({
    bookerGuestId: Opt(Uuid),
    language: Opt(LocaleTag),
    externalReference: Opt(Nullable(Words(1, 60))),
    override: Opt(Override),
  }),
  example: { language: 'es' },
  command: async ({ trx, id, body: { override, ...body }, expectedVersion, caller, admission }) => {
    await changeBooking(trx, id, body, {
      expectedVersion,
      override: grantOverride({ caller, admission }, override),
    })
    if (body.bookerGuestId === undefined) return
    const told = await toldAtBooking(trx, { bookingId: id }, audiencesFor(admission))
    return { ...(await readBooking(trx, id)), ...told }
  },
})

/** The request is one room, whose fields stand at its top. */
const ofOnlyRoom = (error: unknown): unknown =>
  renamedFields(error, (field) => (field === 'rooms.0' ? 'unitTypeId' : field.replace(/^rooms\.0\./, '')))

const add = route({
  id: 'bookings.addReservation',
  method: 'POST',
  path: `${bookings.one}/reservations`,
  status: 201,
  summary: 'Add a room to a booking',
  description: 'The room joins the live hold of the booking; without one it is confirmed.',
  access: can('create', 'Booking'),
  record: bookings.lock,
  errors: [...sales, 'channel_managed', 'hold_expired'],
  body: Obj({ ...roomFields, override: Opt(Override) }),
  example: room,
  returns: Reservation,
  handle: async ({ trx, params: { bookingId }, body: { override, ...given }, caller, expectedVersion, admission }) => {
    const id = await addRoom(trx, bookingId, roomOf(given, ''), {
      override: grantOverride({ caller, admission }, override),
      source: caller.kind === 'api_key' ? 'api' : 'staff',
      expectedVersion,
    }).catch((error: unknown) => {
      throw ofOnlyRoom(error)
    })
    return toldOfStay(trx, id, admission)
  },
})

const extend = bookings.act('extend-hold', {
  summary: 'Move the end of a hold or make it an option',
  action: 'update',
  errors: ['hold_expired', 'hold_too_long', 'transition_blocked', 'override_not_permitted', 'business_day_changed'],
  body: Obj({ until: Instant, kind: Opt(OneOf(['option'])) }),
  example: { until: `${sampleDay(40)}T15:00:00.000Z`, kind: 'option' },
  command: ({ trx, id, body: { until, kind }, caller, admission, expectedVersion }) =>
    extendHold(trx, id, {
      until,
      kind,
      mayTakeOver: mayOverride({ caller, admission }, 'availability'),
      expectedVersion,
    }),
})

const confirm = bookings.act('confirm', {
  summary: 'Confirm held rooms of a booking',
  description: 'All held rooms, or those that are named. Repeating it changes nothing.',
  errors: [
    'hold_expired',
    'invalid_transition',
    'transition_blocked',
    'override_not_permitted',
    'business_day_changed',
  ],
  body: Obj({ reservationIds: Opt(List(Uuid, { min: 1, max: 99 })), override: Opt(Override) }),
  example: {},
  command: ({ trx, id, body: { reservationIds, override }, caller, admission, expectedVersion }) =>
    confirmHeld(trx, id, {
      reservationIds,
      override: grantOverride({ caller, admission }, override),
      expectedVersion,
    }),
})

/** The body of a request to cancel a stay or a booking. */
export const Cancel = Obj({
  reason: OneOf([...cancelReasons]),
  note: Opt(Words(1, 500)),
  acceptedFee: Opt(Amount),
  fee: Opt(Amount),
  refund: Opt(
    OneOf(['automatic', 'later'], {
      description: 'Sends gateway money above the charges back at once, or leaves it to a refund of its own',
    }),
  ),
  override: Opt(Override),
})
export const cancelErrors = [
  'invalid_transition',
  'fee_changed',
  'transition_blocked',
  'override_not_permitted',
  'folio_busy',
  'business_day_changed',
] as const

export const refuseNoteless = ({ reason, note }: { reason: string; note?: string }) => {
  if (reason === 'other' && note === undefined)
    throw invalid([{ field: 'note', message: 'is required for this reason' }])
}

const cancel = bookings.act('cancel', {
  summary: 'Release or cancel every live room of a booking',
  description:
    '`acceptedFee` is the fee of all rooms together, and is required where that is above 0. So is a lower `fee`, of which each room takes its share. Nothing is cancelled while a guest of the booking is in the house.',
  errors: cancelErrors,
  body: Cancel,
  example: { reason: 'changed_plans' },
  command: async ({
    trx,
    id,
    body: { reason, acceptedFee, override, ...desk },
    caller,
    admission,
    expectedVersion,
  }) => {
    refuseNoteless({ reason, ...desk })
    admission.scope('cancel', 'Reservation')
    const done = await cancelReservations(trx, id, {
      reason,
      acceptedFee,
      desk: { ...desk, override: grantOverride({ caller, admission }, override), expectedVersion },
    })
    if (done === null) throw notFound()
  },
})

export const routes = [create, change, add, extend, confirm, { ...cancel, access: can('cancel', 'Reservation') }]
