import { invalid } from '../../config/errors.ts'
import { ChildrenAges } from '../../config/quote.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  TimeOfDay,
  Uuid,
} from '../../config/schema.ts'
import { dateFields, listReservations, sortFields } from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { sortOf, SortQuery } from '../lib/sort.ts'

const statuses = ['held', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'expired'] as const
const sources = ['phone', 'email', 'desk', 'walk_in', 'portal', 'api', 'channel', 'group'] as const
const oneStatus = `(${statuses.join('|')})`

const ReservationSummary = Obj(
  {
    id: Uuid,
    number: Text(10, 11),
    bookingId: Uuid,
    propertyId: Uuid,
    status: OneOf([...statuses]),
    source: OneOf([...sources]),
    arrival: Day,
    departure: Day,
    arrivalTime: Nullable(TimeOfDay),
    adults: Int(1, 40),
    childrenAges: ChildrenAges,
    primaryGuest: Nullable(Obj({ guestId: Uuid, name: Text(0, 302) })),
    unitTypeId: Uuid,
    unitTypeName: Text(0, 5000),
    ratePlanId: Uuid,
    ratePlanName: Text(0, 5000),
    unit: Nullable(Obj({ unitId: Uuid, name: Text(1, 40) })),
    guarantee: OneOf(['none', 'method', 'deposit', 'company', 'channel']),
    marketSegment: Text(1, 40),
    channelManaged: Bool,
    overbooked: Bool,
    holdExpiresAt: Nullable(Instant),
    currency: Currency,
    roomTotal: Opt(Amount),
    extrasTotal: Opt(Amount),
    taxTotal: Opt(Amount),
    total: Opt(Amount),
    feeAmount: Opt(Nullable(Amount)),
    balance: Opt(Nullable(SignedAmount)),
    version: Int(1, 2_147_483_647),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'ReservationSummary' },
)

const list = paged({
  id: 'reservations.list',
  path: '/api/tenants/:tenantId/reservations',
  summary: 'List, filter and search reservations',
  description:
    '`startDate` and `endDate` are both included; by default they find the stays that spend a night within, `dateField` chooses otherwise. Amounts are shown to roles that may read folios.',
  access: can('read', 'Reservation'),
  query: {
    ...SortQuery,
    status: Opt(Matching(`^${oneStatus}(,${oneStatus}){0,6}$`, 100)),
    startDate: Opt(Day),
    endDate: Opt(Day),
    dateField: Opt(OneOf([...dateFields], { default: 'stay' })),
    propertyId: Opt(Uuid),
    unitTypeId: Opt(Uuid),
    ratePlanId: Opt(Uuid),
    unitId: Opt(Uuid),
    guestId: Opt(Uuid),
    bookingId: Opt(Uuid),
    source: Opt(OneOf([...sources])),
    updatedSince: Opt(Instant),
    q: Opt(Text(1, 120)),
  },
  of: ReservationSummary,
  find: async ({ trx, query: { status, dateField = 'stay', sort, ...query }, admission }) => {
    const { startDate, endDate } = query
    if (startDate && endDate && startDate > endDate)
      throw invalid([{ field: 'endDate', message: 'must not be before startDate' }])
    const { total, rows } = await listReservations(trx, {
      ...query,
      status: status?.split(','),
      dateField,
      sort: sortOf(sort, sortFields, '-createdAt'),
      scope: admission.scope('read', 'Reservation'),
    })
    const withAmounts = admission.can('read', 'Folio')
    return {
      total,
      rows: withAmounts
        ? rows
        : rows.map(
            ({ roomTotal: _r, extrasTotal: _e, taxTotal: _t, total: _a, feeAmount: _f, balance: _b, ...row }) => row,
          ),
    }
  },
})

export const routes = [list]
