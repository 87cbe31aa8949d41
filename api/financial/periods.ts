import { sampleId } from '../../config/samples.ts'
import {
  Anything,
  Bool,
  Count,
  Day,
  Instant,
  Int,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import {
  createFiscalYear,
  listBusinessDays,
  listFiscalYears,
  listPeriods,
  periodStatuses,
  readBusinessDay,
  readFiscalYear,
  readPeriod,
} from '../../db/financial/index.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from './schemas.ts'

const kind = OneOf(['regular', 'closing'])
const period = {
  id: Uuid,
  fiscalYearId: Uuid,
  number: Int(1, 13),
  kind,
  startsOn: Day,
  endsOn: Day,
  status: OneOf([...periodStatuses]),
}
const yearStatus = OneOf(['open', 'closing', 'closed'])
const year = {
  id: Uuid,
  bookId: Uuid,
  year: Int(1900, 9999),
  startsOn: Day,
  endsOn: Day,
  status: yearStatus,
  ...stamps,
}

const years = resource({
  name: 'fiscalYears',
  subject: 'FiscalYear',
  table: 'fiscal_year',
  path: '/api/tenants/:tenantId/financial/fiscal-years',
  param: 'fiscalYearId',
  record: Obj({ ...year, periods: List(Obj(period), { max: 13 }) }, { title: 'FiscalYear' }),
  read: readFiscalYear,
})

const listYears = years.list({
  summary: 'List fiscal years with their periods',
  query: { bookId: Opt(Uuid), status: Opt(yearStatus) },
  example: { status: 'open' },
  find: ({ trx, filter }) => listFiscalYears(trx, filter),
})

const createYear = years.create({
  summary: 'Create the next fiscal year with its periods',
  description:
    'The year after the last one; with `startsOn` the one before the first, while no period of that is closed.',
  errors: ['not_found', 'year_not_contiguous', 'period_closed'],
  body: Obj({ bookId: Opt(Uuid), startsOn: Opt(Day) }),
  example: { bookId: sampleId('bookId') },
  command: ({ trx, body }) => createFiscalYear(trx, body),
})

const head = {
  ...period,
  bookId: Uuid,
  closedBy: Nullable(Uuid),
  reopenedBy: Nullable(Uuid),
  selfApproved: Bool,
  sealedAt: Nullable(Instant),
  entries: Count,
  lines: Count,
  ...stamps,
}
const Item = Obj({
  code: Text(1, 60),
  blocking: Bool,
  passed: Bool,
  count: Count,
  sample: List(Uuid, { max: 10 }),
})

const periods = resource({
  name: 'periods',
  subject: 'FiscalPeriod',
  table: 'fiscal_period',
  path: '/api/tenants/:tenantId/financial/periods',
  param: 'periodId',
  record: Obj({ ...head, checklist: List(Item, { max: 50 }) }, { title: 'FiscalPeriod' }),
  read: readPeriod,
})

const list = periods.list({
  summary: 'List periods with status and entry counts',
  description: 'Those that have days between `from` and `to`.',
  query: {
    bookId: Opt(Uuid),
    fiscalYearId: Opt(Uuid),
    status: Opt(OneOf([...periodStatuses])),
    kind: Opt(kind),
    from: Opt(Day),
    to: Opt(Day),
  },
  of: Obj(head, { title: 'FiscalPeriodHead' }),
  example: { status: 'open' },
  find: ({ trx, filter }) => listPeriods(trx, filter),
})

const readOne = periods.read({
  summary: 'Show a period with its closing checklist',
  description: 'Each item of the checklist has a number and up to ten ids of what stands in the way.',
})

const day = {
  id: Uuid,
  propertyId: Uuid,
  date: Day,
  status: OneOf(['open', 'closed']),
  openedAt: Instant,
  closedAt: Nullable(Instant),
  closedBy: Nullable(Uuid),
}
const days = resource({
  name: 'businessDays',
  subject: 'BusinessDay',
  table: 'business_day',
  path: '/api/tenants/:tenantId/financial/business-days',
  param: 'businessDayId',
  record: Obj({ ...day, totals: Nullable(MapOf(Anything, { max: 500 })) }, { title: 'BusinessDay' }),
  read: readBusinessDay,
})

const listDays = days.list({
  summary: 'List the business days of a property',
  query: { propertyId: Opt(Uuid), status: Opt(OneOf(['open', 'closed'])), from: Opt(Day), to: Opt(Day) },
  of: Obj(day, { title: 'BusinessDayHead' }),
  example: { status: 'open' },
  find: ({ trx, filter }) => listBusinessDays(trx, filter),
})

const readDay = days.read({
  summary: 'Show a business day with its frozen totals',
  description: '`totals` are null while the day is open, and never change afterwards.',
})

export const routes = [listYears, createYear, list, readOne, listDays, readDay]
