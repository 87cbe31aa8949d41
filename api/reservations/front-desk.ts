import { audiencesOf } from '../../db/guests/index.ts'
import { ChildrenAges } from '../../config/quote.ts'
import {
  Amount,
  Bool,
  Count,
  Currency,
  Day,
  Int,
  Language,
  List,
  Nullable,
  Obj,
  Opt,
  SignedAmount,
  Text,
  TimeOfDay,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { listDesk, readDeskSummary } from '../../db/reservations/index.ts'
import type { DeskFilter, DeskList } from '../../db/reservations/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { Admission } from '../lib/caller.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Condition, UnitName } from '../units/schemas.ts'
import { Adults, Flag, ReservationNumber, ReservationStatus } from './schemas.ts'

const path = '/api/tenants/:tenantId/front-desk'

/** A stay as a list of the day shows it. Amounts are shown to roles that may read folios. */
const DeskRow = Obj(
  {
    reservationId: Uuid,
    number: ReservationNumber,
    bookingId: Uuid,
    status: ReservationStatus,
    guest: Nullable(
      Obj({ guestId: Uuid, name: Text(0, 302), language: Nullable(Language), tags: List(Text(1, 32), { max: 20 }) }),
    ),
    party: Obj({ adults: Adults, childrenAges: ChildrenAges }),
    unitTypeId: Uuid,
    unitTypeName: Text(0, 5000),
    unit: Nullable(Obj({ unitId: Uuid, name: UnitName, condition: Condition, ready: Bool })),
    arrival: Day,
    departure: Day,
    arrivalTime: Nullable(TimeOfDay),
    departureTime: Nullable(TimeOfDay),
    group: Nullable(Obj({ groupId: Uuid, name: Text(1, 200) })),
    company: Nullable(Obj({ companyId: Uuid, name: Text(1, 200) })),
    flags: List(Flag, { max: 20 }),
    /** Notes that are to be told at this moment. */
    alerts: List(Obj({ id: Uuid, text: Words(1, 2_000) }), { max: 400 }),
    currency: Currency,
    balance: Opt(SignedAmount),
    depositDue: Opt(Amount),
    done: Bool,
    version: Int(1, 2_147_483_647),
  },
  { title: 'DeskRow' },
)

const query = { propertyId: Uuid, date: Opt(Day), flag: Opt(Flag), q: Opt(Text(1, 120)) }
type Asked = { trx: Trx; query: Omit<DeskFilter, 'audiences'>; admission: Admission }

const show = async (list: DeskList, { trx, query: asked, admission }: Asked) => {
  admission.check('read', 'Reservation', { propertyId: asked.propertyId })
  const { total, rows } = await listDesk(trx, list, {
    ...asked,
    audiences: audiencesOf(admission.role, admission.can('read', 'Guest')),
  })
  if (admission.can('read', 'Folio')) return { total, rows }
  return { total, rows: rows.map(({ balance: _b, depositDue: _d, ...row }) => row) }
}

const arrivals = paged({
  id: 'frontDesk.arrivals',
  path: `${path}/arrivals`,
  summary: 'List arrivals of a date with readiness',
  description:
    'Those still expected first, with overdue ones on the business date, which is the date if none is given; `done` ones have arrived.',
  access: can('read', 'Reservation'),
  errors: ['not_found'],
  query,
  of: DeskRow,
  find: (input) => show('arrivals', input),
})

const departures = paged({
  id: 'frontDesk.departures',
  path: `${path}/departures`,
  summary: 'List departures of a date with balances',
  description:
    'Those still in the house first, with overdue ones on the business date, which is the date if none is given; `done` ones have left.',
  access: can('read', 'Reservation'),
  errors: ['not_found'],
  query,
  of: DeskRow,
  find: (input) => show('departures', input),
})

const inHouse = paged({
  id: 'frontDesk.inHouse',
  path: `${path}/in-house`,
  summary: 'List guests in house',
  description:
    'Of the business date, unless a date is given: guests of a past date who slept in the house, and stays planned for a future one.',
  access: can('read', 'Reservation'),
  errors: ['not_found'],
  query,
  of: DeskRow,
  find: (input) => show('in-house', input),
})

const summary = route({
  id: 'frontDesk.summary',
  method: 'GET',
  path: `${path}/summary`,
  summary: 'Read the counts of the day',
  description:
    'Of the business date, unless a date is given. `occupancy.rate` is in basis points of the units that are not blocked. `balanceDue` is what stays in the house or over owe, for roles that may read folios.',
  access: can('read', 'Reservation'),
  errors: ['not_found'],
  query: Obj({ propertyId: Uuid, date: Opt(Day) }),
  returns: Obj(
    {
      businessDate: Day,
      date: Day,
      arrivals: Obj({ expected: Count, done: Count, overdue: Count, unassigned: Count, notReady: Count }),
      departures: Obj({ expected: Count, done: Count, overdue: Count }),
      inHouse: Obj({ reservations: Count, adults: Count, children: Count }),
      occupancy: Obj({ sold: Count, capacity: Count, blocked: Count, rate: Nullable(Count) }),
      /** Rooms that are held for the night and not confirmed. */
      held: Count,
      /** Nights from the business date on that are sold beyond what there is. */
      overbookedNights: Count,
      balanceDue: Opt(Amount),
      currency: Currency,
    },
    { title: 'DeskSummary' },
  ),
  handle: async ({ trx, query: { propertyId, date }, admission }) => {
    admission.check('read', 'Reservation', { propertyId })
    const { balanceDue, ...counts } = await readDeskSummary(trx, propertyId, date)
    return admission.can('read', 'Folio') ? { ...counts, balanceDue } : counts
  },
})

export const routes = [summary, arrivals, departures, inHouse]
