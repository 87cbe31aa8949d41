import { Actor, Anything, Bool, Day, Instant, List, Nullable, Obj, Opt, Text, Uuid } from '../../config/schema.ts'
import { bookingSorts, listBookings, listHistory, propertyOfReservation } from '../../db/reservations/index.ts'
import { notFound } from '../../config/errors.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { bookings, reservations } from './resources.ts'
import { ReservationStatus, Source } from './schemas.ts'

const HistoryEntry = Obj(
  {
    id: Uuid,
    /** Id of the transition in the table of states, such as T13. */
    transition: Text(1, 10),
    command: Text(1, 40),
    from: Nullable(ReservationStatus),
    to: ReservationStatus,
    /** Personal values are not told. */
    changes: List(Obj({ field: Text(1, 100), before: Anything, after: Anything }), { max: 200 }),
    reason: Nullable(Text(0, 1_000)),
    override: Nullable(Obj({ rules: List(Text(1, 40), { max: 20 }), reason: Text(1, 500) })),
    actor: Actor,
    businessDate: Nullable(Day),
    at: Instant,
    requestId: Text(1, 100),
  },
  { title: 'ReservationEvent' },
)

const readOne = reservations.read({
  summary: 'Read a reservation with nights, guests, extras and folios',
  description:
    'No further request is needed to show a stay. Notes are those for the role of the caller; amounts are shown to roles that may read folios.',
})

const history = paged({
  id: 'reservations.history',
  path: '/api/tenants/:tenantId/reservations/:reservationId/history',
  summary: 'List who changed what and when',
  access: can('read', 'Reservation'),
  of: HistoryEntry,
  find: async ({ trx, params: { reservationId }, query, admission }) => {
    const propertyId = await propertyOfReservation(trx, reservationId)
    if (propertyId === null) throw notFound()
    admission.check('read', 'Reservation', { propertyId })
    return listHistory(trx, reservationId, query)
  },
})

const listed = bookings.list({
  summary: 'List bookings with their reservations',
  description:
    '`q` is the number of a booking or of one of its reservations, an external number, or words of the name of the booker or a main guest. `createdFrom` and `createdTo` are days in UTC, both included.',
  query: {
    propertyId: Opt(Uuid),
    q: Opt(Text(1, 120)),
    held: Opt(Bool),
    source: Opt(Source),
    groupId: Opt(Uuid),
    companyId: Opt(Uuid),
    agencyId: Opt(Uuid),
    externalReference: Opt(Text(1, 60)),
    createdFrom: Opt(Day),
    createdTo: Opt(Day),
  },
  sort: { by: Object.keys(bookingSorts) as (keyof typeof bookingSorts)[], usual: '-createdAt' },
  example: { held: true },
  find: ({ trx, filter }) => listBookings(trx, filter),
})

const readBookingRoute = bookings.read({ summary: 'Read a booking with hold, reservations and balance' })

export const routes = [readOne, history, listed, readBookingRoute]
