import { forbidden, invalid } from '../../config/errors.ts'
import { Day, Instant, Matching, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { dateFields, listReservations, sortFields } from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { sortOf, SortQuery } from '../lib/sort.ts'
import { Flag, ReservationSummary, Source, statuses } from './schemas.ts'
import { withoutSums } from './views.ts'

const oneStatus = `(${statuses.join('|')})`

const list = paged({
  id: 'reservations.list',
  path: '/api/tenants/:tenantId/reservations',
  summary: 'List, filter and search reservations',
  description:
    '`startDate` and `endDate` are both included; by default they find the stays that spend a night within, `dateField` chooses otherwise. `balance` is what the folios of a stay owe together. Amounts are shown to roles that may read folios.',
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
    groupId: Opt(Uuid),
    companyId: Opt(Uuid),
    agencyId: Opt(Uuid),
    source: Opt(Source),
    flag: Opt(Flag),
    balance: Opt(OneOf(['due', 'credit', 'zero'])),
    updatedSince: Opt(Instant),
    q: Opt(Text(1, 120)),
  },
  sorts: sortFields,
  of: ReservationSummary,
  find: async ({ trx, query: { status, dateField = 'stay', sort, ...query }, admission }) => {
    // Which stays owe is an amount, too.
    if (query.balance !== undefined && !admission.can('read', 'Folio')) throw forbidden()
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
    return { total, rows: admission.can('read', 'Folio') ? rows : rows.map(withoutSums) }
  },
})

export const routes = [list]
